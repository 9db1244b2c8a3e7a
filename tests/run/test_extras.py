"""Without an extra everything else works, and what needs it says so."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app import start_checks
from app.config import ROOT, read_settings
from app.database import Database
from app.errors import NotFound, ValidationFailed
from app.gateways.carriers.account_check import NO_TWILIO, check_credentials, listed_numbers
from app.gateways.carriers.partner_accounts import (
    AccountCredentials,
    AccountTestResult,
    ListedNumbers,
)
from app.models import new_id
from app.policy.caller import system_caller
from app.services import carrier_accounts, pdf
from app.services.carrier_accounts import AccountFields
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.tenants import Tenant, make_tenant

EXTRAS = ("aiohttp", "opentelemetry", "requests", "sentry_sdk", "stripe", "twilio", "typst")
SID = f"AC{'0' * 32}"
Hide = Callable[[str], None]


@pytest.fixture
def hide_package(monkeypatch: pytest.MonkeyPatch) -> Hide:
    """Hide a package, as if it weren't installed."""
    real = importlib.util.find_spec

    def hidden(name: str) -> None:
        def find_spec(wanted: str, package: str | None = None) -> ModuleSpec | None:
            return None if wanted == name else real(wanted, package)

        for module in ("config.carriers", "gateways.carriers.twilio.account", "services.pdf"):
            monkeypatch.setattr(f"app.{module}.find_spec", find_spec)

    return hidden


def set_up(session: Session, tenant: Tenant) -> None:
    caller = system_caller("test", tenant.partner.id)
    wanted = AccountFields("2a" * 16, sid=SID)
    carrier_accounts.save(session, caller, (SECRET_KEY,), wanted, organization=None)


def test_web_and_worker_start_without_any_extra(tmp_path: Path) -> None:
    absent = "".join(f"sys.modules[{name!r}] = None; " for name in EXTRAS)
    program = f"import sys; {absent}import wsgi, app.jobs.worker"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PORTAL_INSTANCE_DIR": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_settings_for_twilio_are_refused(
    hide_package: Hide, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_package("twilio")
    for name, value in {
        "PORTAL_CARRIER": "twilio",
        "TWILIO_ACCOUNT_SID": SID,
        "TWILIO_AUTH_TOKEN": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as refusal:
        read_settings()
    assert str(refusal.value) == (
        "Calls over Twilio need the extra twilio, which is not installed: install the packages of "
        "requirements-twilio.lock, or remove TWILIO_ACCOUNT_SID."
    )


def test_a_partner_cannot_set_up_a_twilio_account(database: Database, hide_package: Hide) -> None:
    hide_package("twilio")
    with database.transaction() as session:
        tenant = make_tenant(session)
        with pytest.raises(ValidationFailed) as refusal:
            set_up(session, tenant)
    (problem,) = refusal.value.problems
    assert (problem.field, problem.code) == ("sid", "not_installed")


def test_a_stored_account_is_not_tested(tmp_path: Path, hide_package: Hide) -> None:
    hide_package("twilio")
    settings = settings_for("sqlite://", tmp_path)
    stored = AccountCredentials(new_id(), 1, "token", sid=SID)
    assert check_credentials(settings, stored, []) == AccountTestResult(False, NO_TWILIO)
    assert listed_numbers(settings, stored) == ListedNumbers(False, message=NO_TWILIO)


def test_production_does_not_start_with_accounts_that_it_cannot_use(
    fresh_database: Database, tmp_path: Path, hide_package: Hide
) -> None:
    settings = settings_for(
        url_of(fresh_database),
        tmp_path / "absent",
        env="production",
        public_url="https://portal.example",
    )
    with fresh_database.transaction() as session:
        set_up(session, make_tenant(session))
    for path in Path(str(fresh_database.engine.url.database)).parent.glob("*.db*"):
        path.chmod(0o600)
    hide_package("twilio")
    with pytest.raises(SystemExit, match="Partners call over Twilio"):
        start_checks.check(settings)


def test_pdf_files_are_not_found(hide_package: Hide) -> None:
    hide_package("typst")
    assert pdf.is_installed() is False
    with pytest.raises(NotFound, match="PDF support isn’t installed here"):
        pdf.render("statement", {})
