"""What pages read is found by an index, however many calls, users and changes there are.

Looked up on SQLite only: the plan of PostgreSQL depends on the number of rows.
"""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from app.enums import Role
from app.services import calls, campaigns, users
from app.services.calls.searching import CallSearch
from app.services.personal_data import exporting
from app.services.personal_data.subjects import Subject, SubjectKind
from app.services.users.loading import Filter
from tests.fixtures.cast import Tenant, make_tenant

Read = Callable[[Session, Tenant], Any]


def data_of_a_contact(session: Session, own: Tenant) -> None:
    phones, contacts = ("+12025550143",), (own.user.id,)
    subject = Subject(
        SubjectKind.CONTACT,
        own.user.id,
        own.partner.id,
        own.organization.id,
        phones,
        (),
        (),
        contacts,
    )
    exporting.counts(session, subject)


def data_of_a_user(session: Session, own: Tenant) -> None:
    subject = Subject(SubjectKind.USER, own.user.id, own.partner.id, None)
    exporting.counts(session, subject)


def staff(session: Session, own: Tenant) -> None:
    chosen = Filter(user_type=Role.PARTNER_EDITOR)
    users.count(session, own.caller(Role.PARTNER_ADMIN), chosen)


def newest_calls(session: Session, own: Tenant) -> None:
    calls.search(session, own.caller(Role.PARTNER_ADMIN), CallSearch())


def one_user(session: Session, own: Tenant) -> None:
    users.get(session, own.caller(Role.PARTNER_ADMIN), own.user.id)


def campaigns_to_upload_to(session: Session, own: Tenant) -> None:
    campaigns.search(session, own.caller(Role.PARTNER_ADMIN), takes_contacts=True)


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize(
    ("read", "table", "used"),
    [
        (data_of_a_contact, "call_attempts", "(organization_id=? AND phone_number=?)"),
        (data_of_a_contact, "call_attempts", "ix_calls_contact"),
        (data_of_a_user, "audit_entries", "ix_audit_entries_actor"),
        (staff, "users", "(partner_id=? AND organization_id=?)"),
        (one_user, "users", "(partner_id=? AND idp_uid=?)"),
        (newest_calls, "calls", "ix_calls_partner"),
        (campaigns_to_upload_to, "campaigns", "sqlite_autoindex_organizations_1 (id=?)"),
    ],
)
def test_an_index_serves(session: Session, read: Read, table: str, used: str) -> None:
    own = make_tenant(session)
    session.flush()
    connection, sent = session.connection(), list[tuple[str, Any]]()

    def note(*args: Any) -> None:
        sent.append(args[2:4])

    event.listen(connection, "before_cursor_execute", note)
    read(session, own)
    event.remove(connection, "before_cursor_execute", note)
    statement, values = next(each for each in sent if f"FROM {table}" in each[0])
    plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
    assert used in str(plan)
    assert "TEMP B-TREE FOR LAST TERM" not in str(plan)
    assert "MULTI-INDEX OR" not in str(plan), "with many rows SQLite reads all of them instead"
