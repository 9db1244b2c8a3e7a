"""The lock files pin what pyproject.toml asks for, with hashes; `make lock` writes them."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))
PIN = re.compile(r"^([a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==([^ \n]+)", re.MULTILINE)
ENTRY = re.compile(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==[^ ]+( ; [^\\]+)?( --hash=sha256:[0-9a-f]{64})+")
BESIDE = ("pdf", "sentry", "stripe", "tracing", "twilio")


def pins(name: str) -> dict[str, str]:
    """Version by package."""
    return dict(PIN.findall((ROOT / name).read_text()))


def required_versions(*extras: str, product: bool = True) -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"]] if product else []
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    names = "\n".join(asked).replace("_", "-").lower()
    return dict(PIN.findall(names))


def test_there_is_a_lock_for_each_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {f"requirements-{extra}.lock" for extra in project["optional-dependencies"]}
    assert set(LOCKS) == {"requirements.lock", *extras}


def test_the_locks_pin_every_dependency() -> None:
    assert required_versions().items() <= pins("requirements.lock").items()
    assert required_versions("test").items() <= pins("requirements-test.lock").items()


@pytest.mark.parametrize("extra", [*BESIDE, "build", "security"])
def test_the_lock_of_an_extra_pins_it_alone(extra: str) -> None:
    pinned = pins(f"requirements-{extra}.lock")
    assert required_versions(extra, product=False).items() <= pinned.items()
    assert "flask" not in pinned


@pytest.mark.parametrize("lock", [*(f"requirements-{extra}.lock" for extra in BESIDE)])
def test_the_locks_of_the_product_have_the_same_versions(lock: str) -> None:
    tests = pins("requirements-test.lock").items()
    assert pins("requirements.lock").items() <= tests
    assert pins(lock).items() <= tests


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_is_exact_and_has_hashes_and_no_registry_is_named(lock: str) -> None:
    text = (ROOT / lock).read_text().replace(" \\\n   ", "")
    head, *entries = text.splitlines()
    assert head == "# Made from pyproject.toml by `make lock`."
    assert [entry[:60] for entry in entries if not ENTRY.fullmatch(entry)] == []
