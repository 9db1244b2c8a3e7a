"""The built assets, served for ever under their hashed names and compressed ahead."""

from typing import Any
from wsgiref.headers import Headers

from flask import Flask
from whitenoise import WhiteNoise

from app.config import ROOT

DIST = ROOT / "static" / "dist"
PREFIX = "static/dist/"


def serve_built_assets(app: Flask) -> None:
    """Answers for ``/static/dist/`` before the application does: each file that is there now.

    A name holds its content's hash (`scripts/build_assets.mjs`), so what is served never changes.
    """
    app.wsgi_app = WhiteNoise(  # type: ignore[method-assign]  # how middleware is put around Flask
        app.wsgi_app,
        root=str(DIST),
        prefix=PREFIX,
        immutable_file_test=lambda _path, url: not url.endswith(".json"),
        allow_all_origins=False,
        add_headers_function=_protect,
    )


def _protect(headers: Headers, _path: str, _url: str) -> Any:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Robots-Tag"] = "noindex"
