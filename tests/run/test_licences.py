"""Each package that an installation contains has its licence listed, and an allowed one."""

import json

import pytest

from app.config import ROOT
from scripts import build_tools, licences, sbom
from scripts.licences import EXCEPTIONS, Licensed


def test_the_page_lists_every_pinned_package() -> None:
    assert licences.PAGE.read_text() == licences.page()


def test_every_licence_is_allowed_or_named_with_a_reason() -> None:
    packages = [*licences.python_packages(), *licences.npm_packages()]
    assert [each for each in packages if not each.is_allowed] == []
    assert set(EXCEPTIONS) == {each.name for each in packages if "LGPL" in each.licence}


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("(MPL-2.0 OR Apache-2.0)", True),
        ("GPL-3.0-only", False),
        ("MIT AND AGPL-3.0", False),
        ("", False),
    ],
)
def test_other_licences_are_refused(licence: str, allowed: bool) -> None:
    assert Licensed("pypi", "something", "1.0", licence).is_allowed is allowed


@pytest.mark.alternating
def test_the_sbom_names_the_same_packages() -> None:
    build_tools.install()
    described = sbom.describe()
    named = {(each["name"].lower(), each["version"]) for each in described["components"]}
    packages = [*licences.python_packages(), *licences.npm_packages()]
    assert named == {(each.name, each.version) for each in packages}
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert ("htmx.org", lock["node_modules/htmx.org"]["version"]) in named
