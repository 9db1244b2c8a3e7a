"""Pages read by an index, however many calls, users and changes there are.

Looked up on SQLite only: the plan of PostgreSQL depends on the number of rows.
"""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from app.enums import Role
from app.services import (
    calls,
    campaigns,
    contacts,
    do_not_call,
    organizations,
    overview,
    users,
    webhooks,
)
from app.services.calls.searching import CallSearch
from app.services.imports import uploads
from app.services.number_search import numbers_in_regions
from app.services.personal_data import exporting, subjects
from app.services.personal_data.subjects import DataSubject, SubjectKind
from app.services.users.loading import UserFilter
from tests.fixtures.tenants import Tenant, make_tenant

Read = Callable[[Session, Tenant], Any]


def data_of_a_contact(session: Session, tenant: Tenant) -> None:
    phones, contacts = ("+12025550143",), (tenant.user.id,)
    subject = DataSubject(
        SubjectKind.CONTACT,
        tenant.user.id,
        tenant.partner.id,
        tenant.organization.id,
        phones,
        (),
        (),
        contacts,
    )
    _run_counts(session, subject)


def data_of_a_user(session: Session, tenant: Tenant) -> None:
    subject = DataSubject(SubjectKind.USER, tenant.user.id, tenant.partner.id, None)
    _run_counts(session, subject)


def _run_counts(session: Session, subject: DataSubject) -> None:
    for query in exporting.row_counts(subject).values():
        session.execute(query)


def contacts_of_a_person(session: Session, tenant: Tenant) -> None:
    subjects.contact_called(
        *(session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id),
        phone="+12025550143",
        email="ada@example.com",
        subject_id=tenant.user.id,
    )


def calls_of_today(session: Session, tenant: Tenant) -> None:
    overview.numbers_of(session, tenant.organization)


def regions(session: Session, tenant: Tenant) -> None:
    numbers_in_regions(session, tenant.caller(Role.PARTNER_ADMIN), "202 555 0143")


def staff(session: Session, tenant: Tenant) -> None:
    chosen = UserFilter(user_type=Role.PARTNER_EDITOR)
    users.count(session, tenant.caller(Role.PARTNER_ADMIN), chosen)


def newest_calls(session: Session, tenant: Tenant) -> None:
    calls.search(session, tenant.caller(Role.PARTNER_ADMIN), CallSearch())


def one_user(session: Session, tenant: Tenant) -> None:
    users.get(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id)


def campaigns_to_upload_to(session: Session, tenant: Tenant) -> None:
    wanted = campaigns.CampaignFilter(takes_contacts=True)
    campaigns.search(session, tenant.caller(Role.PARTNER_ADMIN), wanted)


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize(
    ("read", "table", "used"),
    [
        (data_of_a_contact, "call_attempts", "(organization_id=? AND phone_number=?)"),
        (data_of_a_contact, "call_attempts", "ix_calls_contact"),
        (data_of_a_user, "audit_entries", "ix_audit_entries_actor"),
        (contacts_of_a_person, "contacts", "(campaign_id=? AND phone=?)"),
        (contacts_of_a_person, "contacts", "(campaign_id=? AND email_key=?)"),
        (calls_of_today, "call_attempts", "(organization_id=? AND started_at>?)"),
        (regions, "organizations", "(partner_id=? AND default_region>?)"),
        (staff, "users", "(partner_id=? AND organization_id=?)"),
        (one_user, "users", "(partner_id=? AND idp_uid=?)"),
        (newest_calls, "calls", "ix_calls_partner"),
        (campaigns_to_upload_to, "campaigns", "sqlite_autoindex_organizations_1 (id=?)"),
    ],
)
def test_a_query_uses_its_index(session: Session, read: Read, table: str, used: str) -> None:
    plan = plan_of(session, read, table)
    assert used in plan
    assert "TEMP B-TREE FOR LAST TERM" not in plan
    assert "MULTI-INDEX OR" not in plan, "with many rows SQLite reads all of them instead"


def plan_of(session: Session, read: Read, table: str) -> str:
    tenant = make_tenant(session)
    session.flush()
    connection, sent = session.connection(), list[tuple[str, Any]]()

    def note(*args: Any) -> None:
        sent.append(args[2:4])

    event.listen(connection, "before_cursor_execute", note)
    read(session, tenant)
    event.remove(connection, "before_cursor_execute", note)
    ordered = [each for each in sent if f"FROM {table}" in each[0]]
    statement, values = next((e for e in ordered if "ORDER BY" in e[0]), ordered[0])
    return str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all())


def sorted_calls(session: Session, tenant: Tenant) -> None:
    calls.search(session, tenant.caller(Role.PARTNER_ADMIN), CallSearch(), sort="outcome")


def sorted_calls_of_a_member(session: Session, tenant: Tenant) -> None:
    calls.search(session, tenant.caller(Role.STANDARD), CallSearch(), sort="-outcome")


def organizations_by_plan(session: Session, tenant: Tenant) -> None:
    organizations.search(session, tenant.caller(Role.PARTNER_ADMIN), sort="plan")


def users_by_role(session: Session, tenant: Tenant) -> None:
    users.search(session, tenant.caller(Role.PARTNER_ADMIN), UserFilter(), sort="role")


def contacts_by_phone(session: Session, tenant: Tenant) -> None:
    staff = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, staff, tenant.organization.id, name="Autumn")
    session.flush()
    contacts.search(session, campaign, sort="phone")


def uploads_by_author(session: Session, tenant: Tenant) -> None:
    uploads.search(session, tenant.caller(Role.PARTNER_ADMIN), sort="-author")


def numbers_by_source(session: Session, tenant: Tenant) -> None:
    do_not_call.listing(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, sort="source"
    )


def webhooks_by_address(session: Session, tenant: Tenant) -> None:
    webhooks.search(session, tenant.caller(Role.PARTNER_ADMIN), sort="address")


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize(
    ("read", "table", "used"),
    [
        (sorted_calls, "calls", "ix_calls_partner_ended_reason"),
        (sorted_calls_of_a_member, "calls", "ix_calls_organization_ended_reason"),
        (organizations_by_plan, "organizations", "ix_organizations_partner_plan"),
        (users_by_role, "users", "ix_users_partner_role"),
        (contacts_by_phone, "contacts", "(campaign_id=? AND phone>?)"),
        (uploads_by_author, "contact_imports", "ix_contact_imports_partner_author"),
        (numbers_by_source, "do_not_call", "ix_do_not_call_source"),
        (webhooks_by_address, "webhook_endpoints", "ix_webhook_endpoints_partner_url"),
    ],
)
def test_an_index_has_the_order_of_its_list(
    session: Session, read: Read, table: str, used: str
) -> None:
    plan = plan_of(session, read, table)
    assert used in plan
    assert "TEMP B-TREE FOR ORDER BY" not in plan
