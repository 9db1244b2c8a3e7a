"""The partner portal and the JSON API beneath it. `factory.create_app` puts them together."""
