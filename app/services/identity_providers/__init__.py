"""Sign-in with a company account, by OpenID Connect: the providers of a partner, requests to them,
the tokens they send, and the users they know."""
