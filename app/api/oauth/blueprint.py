"""The authorization server's blueprint: public, because clients authenticate in the form."""

from app.api.operation import AreaBlueprint, AreaDescription

blueprint = AreaBlueprint("oauth", __name__)
blueprint.description = AreaDescription(
    tag="Tokens",
    text="The authorization server: access tokens of the Partner API and the Legacy API by client "
    "credentials.",
    scheme_name="clientCredentials",
    scheme=lambda _token_url: {
        "type": "http",
        "scheme": "basic",
        "description": "Client id and secret, here or in the form.",
    },
    contract=frozenset({400}),
)
