"""The built assets, served forever under their hashed names and compressed at build time.

Each web process copies its own into a folder that all processes of an installation share, and
serves from there what it doesn't have itself: pages of two versions find their assets whichever
process a proxy chooses.
"""

import logging
import os
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from secrets import token_hex
from typing import Any
from wsgiref.headers import Headers

from flask import Flask
from whitenoise import WhiteNoise
from whitenoise.responders import StaticFile

from app.config import ROOT
from app.http.security_headers import STRICT_TRANSPORT

DIST = ROOT / "static" / "dist"
PREFIX = "static/dist/"
RETENTION_SECONDS = 180 * 24 * 3600
"""Seconds after which shared assets that no process has published again are deleted."""
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""Headers for a picture or script that a browser opens as a page."""
_HASHED = re.compile(r"(?:\w+/)+[\w-]+(?:\.[\w-]+)*\.[0-9a-f]{10}\.\w+", re.ASCII)

log = logging.getLogger(__name__)


class BuiltAssets(WhiteNoise):
    """The assets of this version, and those that other versions have shared in ``folder``.

    The application answers for a file that is deleted while this process serves it.
    """

    def __init__(self, application: Any, folder: Path, **options: Any):
        super().__init__(application, **options)
        self._folder = folder

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        url = environ.get("PATH_INFO", "")
        name = url.removeprefix(f"/{PREFIX}")
        is_missing = name != url and url not in self.files and _HASHED.fullmatch(name)
        if is_missing and (self._folder / name).is_file():
            self.add_file_to_dictionary(url, str(self._folder / name))  # type: ignore[no-untyped-call]  # WhiteNoise has no types
        answer: Iterable[bytes] = super().__call__(environ, start_response)  # type: ignore[no-untyped-call]  # as above
        return answer

    def serve(  # type: ignore[override]  # WhiteNoise's is static, and called on the instance
        self, static_file: StaticFile, environ: dict[str, Any], start_response: Any
    ) -> Iterable[bytes]:
        try:
            answer: Iterable[bytes] = super().serve(static_file, environ, start_response)  # type: ignore[no-untyped-call]  # as above
        except FileNotFoundError:
            self.files.pop(environ["PATH_INFO"], None)
            return self(environ, start_response)
        return answer


def serve_built_assets(app: Flask, folder: Path, *, over_https: bool) -> None:
    """Serve ``/static/dist/`` ahead of the application, for each file that exists at the start.

    A name holds its content's hash (`scripts/build_assets.mjs`), so the file behind it never
    changes. ``folder`` is that of `publish_assets`. ``over_https``: browsers reach this
    installation over https only.
    """

    def protect(headers: Headers, _path: str, _url: str) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["X-Robots-Tag"] = "noindex"
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        if over_https:
            headers["Strict-Transport-Security"] = STRICT_TRANSPORT

    app.wsgi_app = BuiltAssets(  # type: ignore[method-assign]  # how middleware is put around Flask
        app.wsgi_app,
        folder,
        root=str(DIST),
        prefix=PREFIX,
        immutable_file_test=lambda _path, url: not url.endswith(".json"),
        allow_all_origins=False,
        add_headers_function=protect,
    )


def publish_assets(folder: Path) -> None:
    """Copy the assets of this version to where processes of other versions find them, before the
    first page names them; delete old ones. This version also serves without the folder."""
    try:
        for path in DIST.rglob("*"):
            name = path.relative_to(DIST)
            if _HASHED.fullmatch(str(name).removesuffix(".gz").removesuffix(".br")):
                _copy_to_shared(path, folder / name)
        oldest = time.time() - RETENTION_SECONDS
        for path in folder.rglob("*"):
            if path.is_file() and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("other versions get no assets of this one: %s", error)


def _copy_to_shared(path: Path, shared: Path) -> None:
    if not shared.exists():
        shared.parent.mkdir(parents=True, exist_ok=True)
        half = shared.with_name(f"{shared.name}.{token_hex(8)}")
        shutil.copyfile(path, half)
        half.rename(shared)  # no process ever reads a partial file
    os.utime(shared)
