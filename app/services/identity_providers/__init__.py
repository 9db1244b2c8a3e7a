"""Sign-in with a company account, by OpenID Connect: the providers of a partner, requests to them,
their tokens, and their users."""
