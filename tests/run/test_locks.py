"""The lock files pin what pyproject.toml asks for; `make lock` writes them."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pins(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {line for line in lines if not line.startswith("#")}


def wanted(*extras: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"]]
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    return {line.replace("[binary]", "").replace("_", "-").lower() for line in asked}


def scanners() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return set(project["optional-dependencies"]["security"])


@pytest.mark.parametrize(
    ("lock", "extras"), [("requirements.lock", ()), ("requirements-test.lock", ("test",))]
)
def test_a_lock_pins_every_dependency(lock: str, extras: tuple[str, ...]) -> None:
    assert wanted(*extras) - pins(lock) == set()


def test_the_lock_of_the_scanners_pins_them_alone() -> None:
    assert scanners() - pins("requirements-security.lock") == set()
    assert "flask" not in {pin.partition("==")[0] for pin in pins("requirements-security.lock")}


def test_every_pin_is_exact() -> None:
    every = {pin for lock in ROOT.glob("requirements*.lock") for pin in pins(lock.name)}
    assert [pin for pin in every if pin.count("==") != 1] == []
