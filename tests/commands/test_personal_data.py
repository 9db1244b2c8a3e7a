"""``flask personal-data …``."""

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, Erasure
from app.services import campaigns
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from tests.fixtures.tenants import Tenant, make_tenant
from tests.portal.test_calls import answered, make_call

PHONE = "+12025550143"


def run(app: Flask, *words: object) -> Result:
    return app.test_cli_runner().invoke(args=["personal-data", *map(str, words)])


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, admin, tenant.organization.id, name="Recall")
    single_contact.add(session, admin, campaign.id, ContactFields("Greta", "Vale", PHONE))
    make_call(session, tenant.organization, PHONE, **answered())
    session.commit()
    return tenant


def test_a_contact_is_counted_and_then_erased(app: Flask, session: Session, tenant: Tenant) -> None:
    whose = ("--organization", tenant.organization.id, "--phone", "+1 202 555 0143", "--json")
    counted = json.loads(run(app, "erase", *whose).output)
    assert counted == {
        "erasure": None,
        "rows": {
            "contacts": {"rows": 1, "fate": "deleted"},
            "calls": {"rows": 1, "fate": "pseudonymized"},
            "audit_entries": {"rows": 1, "fate": "redacted"},
        },
        "mentions": [],
    }
    assert session.scalar(select(Erasure)) is None
    begun = json.loads(run(app, "erase", *whose, "--yes").output)
    erasure = session.scalars(select(Erasure)).one()
    assert begun["erasure"] == str(erasure.id)
    state = {"state": "waiting", "pseudonym": erasure.pseudonym, "rows": {}}
    assert json.loads(run(app, "status", erasure.id, "--json").output) == state


def test_a_user_is_exported(app: Flask, tenant: Tenant, tmp_path: Path) -> None:
    file = tmp_path / "data.zip"
    assert run(app, "export", "--user", tenant.user.id, file).exit_code == 0
    with zipfile.ZipFile(file) as archive:
        (user,) = json.loads(archive.read("users.json"))
    assert user["email"] == tenant.user.email
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_export_to_an_existing_file_is_refused_and_not_recorded(
    app: Flask, session: Session, tenant: Tenant, tmp_path: Path
) -> None:
    file = tmp_path / "data.zip"
    file.write_text("other data")
    result = run(app, "export", "--user", tenant.user.id, file)
    assert (result.exit_code, result.output) == (
        1,
        f"Error: {file} can't be written: File exists.\n",
    )
    assert file.read_text() == "other data"
    assert "user.exported" not in session.scalars(select(AuditEntry.action)).all()


def test_a_command_needs_a_contact_or_a_user(app: Flask, tenant: Tenant) -> None:
    for words in ((), ("--organization", tenant.organization.id), ("--phone", PHONE)):
        assert run(app, "erase", *words).exit_code == 2
