"""Pages name built files by their content's hash, and the build keeps its promises."""

import gzip
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from app.config import ROOT
from app.portal.web.assets import DIST, MANIFEST, AssetManifest, AssetsNotBuilt

MANIFEST_NAMES: dict[str, str] = json.loads((DIST / MANIFEST).read_bytes())
FIRST_PAGE = (
    *("css/base.css", "css/app.css", "vendor/htmx.js", "vendor/icons.svg"),
    *("vendor/inter-latin-wght-normal.woff2", "vendor/inter-latin-ext-wght-normal.woff2"),
    *(name for name in MANIFEST_NAMES if name.startswith("js/")),
)
BUDGET = 350_000
"""Octets that the first page may transfer (figures, Speed)."""


def transferred(name: str) -> int:
    """The size as served: compressed ahead where the kind of file allows."""
    path = DIST / MANIFEST_NAMES[name]
    compressed = path.with_name(f"{path.name}.br")
    return (compressed if compressed.exists() else path).stat().st_size


def test_an_asset_is_named_by_its_manifest(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"css/app.css": "css/app.0123456789.css"}')
    assert AssetManifest(tmp_path, "/static/dist").url("css/app.css") == (
        "/static/dist/css/app.0123456789.css"
    )


def test_without_a_build_the_error_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(AssetsNotBuilt, match=r"Run: npm ci && npm run build"):
        AssetManifest(tmp_path, "/static/dist").url("css/app.css")


def test_an_asset_that_is_not_built_is_named_with_the_command(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    with pytest.raises(AssetsNotBuilt, match=r"css/new\.css .* Run: npm run build"):
        AssetManifest(tmp_path, "/static/dist").url("css/new.css")


def test_every_asset_that_a_template_asks_for_is_built() -> None:
    asked = {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r"asset_url\(['\"]([^'\"]+)['\"]\)", path.read_text())
    }
    assert asked - MANIFEST_NAMES.keys() == set()


def test_every_colour_that_the_api_documentation_asks_for_is_in_a_style_sheet() -> None:
    asked = re.findall(r'\bcolor\("([^"]+)"\)', (ROOT / "static/js/docs.js").read_text())
    sheets = "".join(path.read_text() for path in (ROOT / "static/css").glob("*.css"))
    assert asked
    assert {name for name in asked if f"--{name}:" not in sheets} == set()


def test_names_hold_the_hash_of_what_they_name() -> None:
    wrong = {
        hashed
        for hashed in MANIFEST_NAMES.values()
        if sha256((DIST / hashed).read_bytes()).hexdigest()[:10] != Path(hashed).suffixes[-2][1:]
    }
    assert wrong == set()


def test_compressed_files_hold_the_same_as_the_original_ones() -> None:
    differing = {
        path.name
        for path in DIST.rglob("*.gz")
        if gzip.decompress(path.read_bytes()) != path.with_suffix("").read_bytes()
    }
    assert differing == set()


def test_references_between_built_files_lead_to_built_files() -> None:
    missing = []
    for path in [*DIST.rglob("*.css"), *(DIST / "js").rglob("*.js")]:
        text = path.read_text()
        named = re.findall(r"url\(\"(?!data:|#)([^\"]+)\"\)|[\"'](\.{1,2}/[^\"']+\.js)[\"']", text)
        missing += [a or b for a, b in named if not (path.parent / (a or b)).resolve().exists()]
    assert missing == []


def test_the_first_page_stays_within_its_budget() -> None:
    assert sum(transferred(name) for name in FIRST_PAGE) < BUDGET


def test_every_icon_that_a_template_names_is_in_the_sprite() -> None:
    drawn = set(
        re.findall(r'<symbol id="([^"]+)"', (DIST / MANIFEST_NAMES["vendor/icons.svg"]).read_text())
    )
    named = {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r"\bicon\([\"']([^\"']+)[\"']", path.read_text())
    }
    assert named - drawn == set()
