"""Where the browser of a request is, for passkeys: each works at one host name."""

from flask import request

from app.services.factors.passkeys import Site


def site() -> Site:
    """Return the host and origin of the request's page."""
    return Site(request.host, f"{request.scheme}://{request.host}")
