"""The built assets, served for ever under their hashed names and compressed ahead."""

from wsgiref.headers import Headers

from flask import Flask
from whitenoise import WhiteNoise

from app.config import ROOT
from app.http.security_headers import STRICT_TRANSPORT

DIST = ROOT / "static" / "dist"
PREFIX = "static/dist/"
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""For a picture or a script that a browser opens as a page."""


def serve_built_assets(app: Flask, *, over_https: bool) -> None:
    """Answers for ``/static/dist/`` before the application does: each file that is there now.

    A name holds its content's hash (`scripts/build_assets.mjs`), so what is served never changes.
    ``over_https``: browsers reach this installation over https alone.
    """

    def protect(headers: Headers, _path: str, _url: str) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["X-Robots-Tag"] = "noindex"
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        if over_https:
            headers["Strict-Transport-Security"] = STRICT_TRANSPORT

    app.wsgi_app = WhiteNoise(  # type: ignore[method-assign]  # how middleware is put around Flask
        app.wsgi_app,
        root=str(DIST),
        prefix=PREFIX,
        immutable_file_test=lambda _path, url: not url.endswith(".json"),
        allow_all_origins=False,
        add_headers_function=protect,
    )
