"""A carrier account's list confirms numbers for the account's owner, and ends confirmations."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import NumberSource, Role
from app.jobs.read_carrier_numbers import read_numbers
from app.models import (
    AuditEntry,
    CarrierAccount,
    CarrierNumberList,
    Mail,
    Organization,
    PhoneNumber,
    utcnow,
)
from app.phone import format_international
from app.services import assistants, carrier_accounts, phone_numbers
from app.services.carrier_accounts import AccountFields
from tests.fixtures.carrier_accounts import put_in_use
from tests.fixtures.faulty_carrier import FaultyCarrier, faulty_carrier
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, Tenant

ONE, TWO, THREE = "+12025550123", "+12025550124", "+12025550125"
LISTED = NumberSource.CARRIER_LIST
SIDS = {"Northwind": "AC" + "1a" * 16, "Southwind": "AC" + "2b" * 16}
KEYS = settings_for("sqlite://", Path()).secret_keys
Read = Callable[[Tenant, CarrierAccount], str]


@pytest.fixture
def carrier() -> Iterator[FaultyCarrier]:
    with faulty_carrier() as running:
        running.accounts |= dict.fromkeys(SIDS.values(), "2a" * 16)
        yield running


def bring(
    session: Session, tenant: Tenant, organization: Organization | None = None
) -> CarrierAccount:
    particulars = AccountFields("2a" * 16, sid=SIDS[tenant.partner.name])
    admin = tenant.caller(Role.PARTNER_ADMIN)
    return put_in_use(session, admin, KEYS, particulars, organization=organization)


@pytest.fixture
def read_number_list(
    session: Session, database: Database, tmp_path: Path, carrier: FaultyCarrier
) -> Read:
    """Ask for the account's list, do what the worker does, and return what it says."""
    more = {"TWILIO_API_URL": carrier.url, "carrier_request_seconds": 2.0}
    settings = settings_for(url_of(database), tmp_path, **more)

    def work(tenant: Tenant, account: CarrierAccount) -> str:
        phone_numbers.request_reading(session, tenant.caller(Role.PARTNER_ADMIN), account.id)
        session.commit()
        read_numbers(database, settings, account.id)
        session.expire_all()
        return session.get_one(CarrierNumberList, account.id).message

    return work


def stored(session: Session) -> dict[str, tuple[object, ...]]:
    rows = session.scalars(select(PhoneNumber))
    return {
        row.number: (row.partner_id, row.organization_id, row.source, row.confirmed_at is not None)
        for row in rows
    }


def test_own_numbers_and_verified_caller_ids_are_confirmed_page_by_page(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    carrier.owned, carrier.verified, carrier.page_size = {ONE, TWO}, {THREE}, 1
    assert read_number_list(tenant, bring(session, tenant)) == "3 numbers are confirmed."
    found = (tenant.partner.id, None, LISTED, True)
    assert stored(session) == dict.fromkeys((ONE, TWO, THREE), found)


def test_the_list_of_an_organizations_account_is_for_that_organization(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    carrier.owned = {ONE}
    account = bring(session, tenant, tenant.plus)
    assert read_number_list(tenant, account) == "1 number is confirmed."
    assert stored(session) == {ONE: (tenant.partner.id, tenant.plus.id, LISTED, True)}
    assert session.get_one(PhoneNumber, ONE).account_id == account.id


def test_the_list_of_the_partners_account_leaves_numbers_to_the_organizations_own(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    carrier.owned = {ONE}
    nearer, wider = bring(session, tenant, tenant.plus), bring(session, tenant)
    for account in (nearer, wider):
        assert read_number_list(tenant, account) == "1 number is confirmed."
    assert session.get_one(PhoneNumber, ONE).account_id == nearer.id
    carrier_accounts.remove(session, tenant.caller(Role.PARTNER_ADMIN), nearer.id)
    read_number_list(tenant, wider)
    found = session.get_one(PhoneNumber, ONE)
    assert (found.account_id, found.organization_id) == (wider.id, tenant.plus.id)


def test_numbers_lose_their_confirmation_while_they_are_not_listed(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    account = bring(session, tenant)
    carrier.owned = {ONE, TWO}
    read_number_list(tenant, account)
    phone_numbers.move(session, OPERATOR, ONE, tenant.plus.id)
    carrier.owned = {TWO}
    read_number_list(tenant, account)
    assert stored(session)[ONE] == (tenant.partner.id, tenant.plus.id, LISTED, False)
    assert stored(session)[TWO] == (tenant.partner.id, None, LISTED, True)
    carrier.owned = {ONE, TWO}
    read_number_list(tenant, account)
    assert stored(session)[ONE] == (tenant.partner.id, tenant.plus.id, LISTED, True)
    actions = session.scalars(
        select(AuditEntry.action).where(AuditEntry.target_id == ONE).order_by(AuditEntry.id)
    )
    assert actions.all() == [
        "phone_number.confirmed",
        "phone_number.assigned",
        "phone_number.confirmation_ended",
        "phone_number.confirmed",
    ]


def test_partner_admins_get_one_mail_about_numbers_that_are_listed_no_more(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    account = bring(session, tenant, tenant.plus)
    for carrier.owned in ({ONE, TWO}, set(), set()):
        read_number_list(tenant, account)
    query = select(Mail.user_id, Mail.kind, Mail.details)
    mails = session.execute(query.where(Mail.kind != "credential_created")).all()
    details = {
        "account": account.name,
        "numbers": [format_international(number) for number in sorted((ONE, TWO))],
        "count": 2,
    }
    admin = tenant.staff[Role.PARTNER_ADMIN].id
    assert [tuple(mail) for mail in mails] == [(admin, "numbers_unconfirmed", details)]


def test_a_list_takes_only_numbers_that_are_not_confirmed_for_others(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    carrier: FaultyCarrier,
    read_number_list: Read,
) -> None:
    phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, [ONE])
    [assistant] = assistants.of_organization(session, OPERATOR, other_tenant.organization.id)
    assistants.configure_assistant(session, OPERATOR, assistant, phone_number=TWO)
    carrier.owned = {ONE, TWO}
    words = "1 number is confirmed. 1 number is not available here. Ask the platform operator."
    assert read_number_list(tenant, bring(session, tenant)) == words
    assert stored(session) == {
        ONE: (other_tenant.partner.id, other_tenant.plus.id, NumberSource.ASSIGNED, True),
        TWO: (tenant.partner.id, None, LISTED, True),
    }


def test_an_assigned_number_stays_assigned(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [ONE])
    account = bring(session, tenant)
    carrier.owned = {ONE}
    read_number_list(tenant, account)
    carrier.owned = set()
    read_number_list(tenant, account)
    assert stored(session) == {
        ONE: (tenant.partner.id, tenant.plus.id, NumberSource.ASSIGNED, True)
    }


def test_a_list_that_cannot_be_read_changes_nothing(
    session: Session, tenant: Tenant, carrier: FaultyCarrier, read_number_list: Read
) -> None:
    account = bring(session, tenant)
    carrier.owned = {ONE}
    read_number_list(tenant, account)
    before = stored(session)
    carrier.accounts[SIDS["Northwind"]] = "renewed"
    assert "does not accept this token" in read_number_list(tenant, account)
    carrier.stop()
    assert "could not be reached" in read_number_list(tenant, account)
    assert stored(session) == before


def test_lists_are_read_daily_and_those_of_removed_accounts_end(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    carrier: FaultyCarrier,
    read_number_list: Read,
) -> None:
    first, second = bring(session, tenant), bring(session, other_tenant)
    carrier.owned = {ONE}
    read_number_list(tenant, first)
    assert phone_numbers.refresh_due(session) == 1  # the second
    assert phone_numbers.refresh_due(session) == 0
    for account in (first, second):
        session.get_one(CarrierNumberList, account.id).requested_at = utcnow() - timedelta(hours=25)
    session.flush()
    assert phone_numbers.refresh_due(session) == 2
    carrier_accounts.remove(session, tenant.caller(Role.PARTNER_ADMIN), first.id)
    phone_numbers.refresh_due(session)
    assert stored(session) == {ONE: (tenant.partner.id, None, LISTED, False)}
    assert read_number_list(other_tenant, second) == "1 number is confirmed."
    assert stored(session) == {ONE: (other_tenant.partner.id, None, LISTED, True)}
