"""Headers that every answer carries. No page has inline script or style, so none is allowed."""

from flask import Flask, Response, g, request

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'self'; frame-ancestors {ancestors}"
)


def allow_framing_by_ourselves() -> None:
    """Lets the present answer be shown in a frame of our own pages (previews only)."""
    g.framing = "'self'"


def send_security_headers(app: Flask) -> None:
    @app.after_request
    def add(response: Response) -> Response:
        ancestors = g.get("framing", "'none'")
        headers = response.headers
        headers.setdefault(
            "Content-Security-Policy", CONTENT_SECURITY_POLICY.format(ancestors=ancestors)
        )
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
        headers["X-Robots-Tag"] = "noindex"
        if request.is_secure:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        return response
