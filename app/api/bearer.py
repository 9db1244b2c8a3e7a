"""The bearer token of a request (RFC 6750, section 2.1)."""

from flask import Request


def bearer_token(request: Request) -> str | None:
    """What follows ``Authorization: Bearer``; None where there is no such header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
