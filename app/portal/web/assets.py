"""URLs of the built assets: each file has a name that contains its content's hash."""

import json
from functools import cached_property
from pathlib import Path

from flask import Flask

from app.config import ROOT

DIST = ROOT / "static" / "dist"
MANIFEST = "manifest.json"


class AssetsNotBuilt(RuntimeError):
    """The assets, or the requested one, are not in the manifest."""


class AssetManifest:
    """The manifest of a build, read once when the first URL is needed."""

    def __init__(self, dist: Path, prefix: str) -> None:
        self._dist = dist
        self._prefix = prefix

    def url(self, name: str) -> str:
        """Return ``/static/dist/css/app.1a2b3c4d5e.css`` for ``css/app.css``. Raises AssetsNotBuilt
        if it is missing."""
        try:
            return f"{self._prefix}/{self._manifest[name]}"
        except KeyError:
            message = f"{name} is not among the built assets. Run: npm run build"
            raise AssetsNotBuilt(message) from None

    @cached_property
    def _manifest(self) -> dict[str, str]:
        try:
            names: dict[str, str] = json.loads((self._dist / MANIFEST).read_bytes())
        except FileNotFoundError:
            message = "The front-end assets are not built. Run: npm ci && npm run build"
            raise AssetsNotBuilt(message) from None
        return names


def register(app: Flask) -> None:
    """Add ``asset_url(name)`` to templates."""
    assets = AssetManifest(DIST, f"{app.static_url_path}/dist")
    app.jinja_env.globals["asset_url"] = assets.url
