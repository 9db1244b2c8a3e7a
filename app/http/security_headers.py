"""Headers of every response. No page has inline script or style, so none is allowed."""

from flask import Flask, Response, g, request

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'self'; frame-ancestors {ancestors}{styles}"
)
STRICT_TRANSPORT = "max-age=31536000"
VIEWER_STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    " 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='"
)
"""Hashes of an empty style element and of the one style sheet that is part of Redoc 2.5.4."""


def allow_framing_by_ourselves() -> None:
    """Let our own pages show this response in a frame (previews only)."""
    g.framing = "'self'"


def allow_viewer_styles() -> None:
    """Let this response show Redoc, the viewer of the API documentation.

    Redoc adds its rules one by one to an empty style element, and one fixed style sheet. Both are
    allowed by their hashes; any other inline style and every inline script stay forbidden.
    """
    g.styles = f"; style-src 'self' {VIEWER_STYLES}"


def send_security_headers(app: Flask) -> None:
    @app.after_request
    def add(response: Response) -> Response:
        ancestors = g.get("framing", "'none'")
        headers = response.headers
        headers.setdefault(
            "Content-Security-Policy",
            CONTENT_SECURITY_POLICY.format(ancestors=ancestors, styles=g.get("styles", "")),
        )
        headers["X-Content-Type-Options"] = "nosniff"
        headers.setdefault("Referrer-Policy", "same-origin")
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
        headers["X-Robots-Tag"] = "noindex"
        if request.is_secure:
            headers["Strict-Transport-Security"] = STRICT_TRANSPORT
        return response
