"""A mail as a separate page, for a frame."""

from flask import Response, make_response

from app.http.security_headers import allow_framing_by_ourselves

_DARK_ONLY = "(prefers-color-scheme: dark)"


def mail_preview(html: str, theme: str | None = None) -> Response:
    """Return a mail as a mail program with that theme, by default the browser's, would show it: its
    styles are inline, and nothing else is allowed in it."""
    allow_framing_by_ourselves()
    if theme:
        html = html.replace(_DARK_ONLY, "all" if theme == "dark" else "not all")
    response = make_response(html)
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:;"
        " form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )
    response.headers["Cache-Control"] = "no-store"
    return response
