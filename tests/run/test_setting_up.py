"""Setting up for the tests asks for what it can't install, by name."""

import os

import pytest

from scripts import setup


@pytest.fixture
def without_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with Chromium and without PostgreSQL."""
    packages = {"chromium": ("bin/sh",), "postgresql": ("absent/*/postgres", "absent/postgres")}
    monkeypatch.setattr(setup, "DEBIAN_PACKAGES", packages)


@pytest.mark.usefixtures("without_postgresql")
@pytest.mark.parametrize(("user", "path"), [(1000, os.environ["PATH"]), (0, "/absent")])
def test_a_missing_package_is_named_where_it_cannot_be_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], user: int, path: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(SystemExit) as ended:
        setup.install_debian_packages()
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        "The tests need packages that are not installed: postgresql. Install them, on Debian or "
        "Ubuntu with: sudo apt-get install postgresql\n"
    )


def test_nothing_is_asked_for_where_everything_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup, "DEBIAN_PACKAGES", {"chromium": ("absent", "bin/sh")})
    setup.install_debian_packages()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("purpose", "needed"), [("run", False), ("test", True), ("test-quick", False)]
)
def test_only_the_whole_test_run_needs_debian_packages(purpose: str, needed: bool) -> None:
    assert (setup.install_debian_packages in setup.steps_of(purpose)) is needed
