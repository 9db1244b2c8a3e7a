"""The SIP trunk of a partner or an organization: set, tested, its password never shown again."""

from collections.abc import Callable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CarrierKind, Role
from app.factory import install_extensions
from app.models import AuditEntry, CarrierAccountTest, User, utcnow
from app.services import carrier_accounts
from tests.fixtures.carrier_accounts import stored_accounts
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.sip_trunk import Trunk, sip_trunk
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

pytestmark = pytest.mark.debian

SignIn = Callable[[User], Browser]
FORM, LIST, TWILIO = "/carriers/accounts/trunk", "/carriers/accounts", "/carriers/accounts/account"
PASSWORD = "a-password-that-nobody-sees"
ADDRESS = "9.9.9.9:5080"
"""A public one, which is looked up without asking anybody."""
TYPED: Mapping[str, str] = {
    "address": ADDRESS,
    "user": "portal",
    "password": PASSWORD,
    "transport": "tcp",
    "registers": "y",
    "caller": "user",
    "domain": "example.com",
    "proxy": "",
}
KEYS = settings_for("sqlite://", Path()).secret_keys


@pytest.fixture
def change_settings(app: Flask, database: Database, tmp_path: Path) -> Callable[..., None]:
    """Give the application other settings."""

    def refurnish(**changes: Any) -> None:
        install_extensions(app, settings_for(url_of(database), tmp_path, **changes), database)

    return refurnish


@pytest.fixture
def trunk(change_settings: Callable[..., None]) -> Iterator[Trunk]:
    with sip_trunk() as running:
        change_settings(sip_allow_private=True)
        running.password = PASSWORD
        yield running


def test_a_trunk_is_set_and_its_password_is_never_shown_again(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    organization = f"{FORM}?organization={tenant.organization.id}"
    answer = admin.post(organization, TYPED, page=organization)
    assert (answer.status_code, answer.location) == (303, LIST)
    shown = [admin.get(path).text for path in (LIST, organization, "/audit")]
    assert (
        f"{ADDRESS} is saved and tested now. Live calls use it once the test has passed."
        in shown[0]
    )
    assert tenant.organization.name in shown[0]
    assert all(f'value="{value}"' in shown[1] for value in (ADDRESS, "portal", "example.com"))
    assert not any(PASSWORD in page for page in shown)
    [account] = stored_accounts(session)
    assert (account.organization_id, account.is_pending) == (tenant.organization.id, True)
    assert account.carrier is CarrierKind.SIP
    assert PASSWORD not in account.secret
    opened = carrier_accounts.credentials(session, KEYS, account.id)
    assert opened is not None
    assert opened.secret == PASSWORD
    reported = session.scalars(
        select(AuditEntry).where(AuditEntry.target == f"portal@{ADDRESS}")
    ).one()
    assert reported.after == {
        "address": ADDRESS,
        "user": "portal",
        "domain": "example.com",
        "proxy": "",
        "transport": "tcp",
        "registers": True,
        "shows_number": False,
        "password": "changed",
    }


def test_the_form_of_a_trunk_does_not_show_the_test_of_a_twilio_account(
    session: Session, admin: Browser
) -> None:
    admin.post(TWILIO, {"sid": "AC" + "1a" * 16, "token": "7e" * 16}, page=TWILIO)
    [account] = stored_accounts(session)
    test = session.get_one(CarrierAccountTest, account.id)
    test.checked_at, test.works = utcnow(), False
    session.commit()
    assert "the test failed" in admin.get(TWILIO).text
    assert "the test failed" not in admin.get(FORM).text


def test_the_same_trunk_keeps_its_password_and_another_one_replaces_it(
    session: Session, admin: Browser
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    kept = {**TYPED, "password": "", "transport": "udp", "caller": "number"}
    del kept["registers"]
    admin.post(FORM, kept, page=FORM)
    [account] = stored_accounts(session)
    opened = carrier_accounts.credentials(session, KEYS, account.id)
    assert opened is not None
    assert (opened.secret, opened.version) == (PASSWORD, 2)
    assert opened.trunk is not None
    assert (opened.trunk.transport, opened.trunk.registers) == ("udp", False)
    for elsewhere in ({"user": "another"}, {"proxy": "9.9.9.8"}, {"address": "9.9.9.8"}):
        refused = admin.post(FORM, {**kept, **elsewhere}, page=FORM)
        assert refused.status_code == 422
        assert "Enter the user’s password." in refused.text
    admin.post(FORM, {**TYPED, "user": "another"}, page=FORM)
    before, now = stored_accounts(session)
    assert before.removed_at is not None
    assert (now.removed_at, now.version) == (None, 3)
    twilio = {"sid": "AC" + "1a" * 16, "token": "2a" * 16}
    assert f"It replaces the SIP trunk {ADDRESS}." in admin.get(TWILIO).text
    admin.post(TWILIO, twilio, page=TWILIO)
    *_, gone, last = stored_accounts(session)
    assert gone.removed_at is not None
    assert last.carrier == CarrierKind.TWILIO
    assert "It replaces the Twilio account AC1a1a…1a1a." in admin.get(FORM).text


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_every_problem_is_shown_at_its_field(session: Session, admin: Browser) -> None:
    wrong = {"address": "sip:<9.9.9.9>", "user": "a;b", "password": 'so"secret', "proxy": "a b"}
    answer = admin.post(FORM, {**TYPED, **wrong}, page=FORM)
    shown = unescape(answer.text)
    assert answer.status_code == 422
    assert shown.count('class="field-error"') == 4
    assert 'value="sip:<9.9.9.9>"' in shown
    assert 'so"secret' not in shown
    inside = admin.post(FORM, {**TYPED, "address": "127.0.0.1"}, page=FORM)
    assert inside.status_code == 422
    assert "This host’s address is not public." in inside.text
    assert stored_accounts(session) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_connection_is_tested_with_a_sentence_about_what_is_wrong(
    session: Session, admin: Browser, trunk: Trunk, run_account_test: Callable[[UUID], str]
) -> None:
    own = {**TYPED, "address": trunk.address, "transport": "udp", "caller": "number"}
    admin.post(FORM, own | {"password": "wrong"}, page=FORM)
    [account] = stored_accounts(session)

    assert "The trunk does not accept this user and password." in run_account_test(account.id)

    def tested() -> str:
        admin.post(f"{LIST}/{account.id}/test", page=LIST)
        return run_account_test(account.id)

    assert "The trunk does not accept this user and password." in tested()
    admin.post(FORM, own, page=FORM)
    works = f"The connection to {trunk.address} works. The trunk answers and accepts the password."
    assert f"{works} No call was placed." in tested()
    assert (trunk.invites, trunk.registered) == ([], [""])


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_where_the_programs_are_missing_a_trunk_can_not_be_set(
    session: Session,
    admin: Browser,
    change_settings: Callable[..., None],
    run_account_test: Callable[[UUID], str],
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    change_settings(sip_baresip="/absent/baresip")
    for answer in (admin.get(FORM), admin.post(FORM, {**TYPED, "user": "other"}, page=LIST)):
        assert "SIP trunks can’t be used here yet" in answer.text
        assert "Test and save" not in answer.text
    admin.post(f"{LIST}/{account.id}/test", page=LIST)
    assert "SIP trunks can’t be used here yet" in run_account_test(account.id)
    assert stored_accounts(session) == [account]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_trunks_of_others_are_answered_like_missing_ones(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, signed_in: SignIn
) -> None:
    foreign = f"{FORM}?organization={other_tenant.organization.id}"
    assert admin.get(foreign).status_code == 404
    assert admin.post(foreign, TYPED, page=FORM).status_code == 404
    for role in (Role.PARTNER_EDITOR, Role.ADMIN):
        staff = signed_in(tenant.staff[role])
        assert staff.get(FORM).status_code == 404
        assert staff.post(FORM, TYPED, page="/").status_code == 404
    assert stored_accounts(session) == []
