"""Monthly partitions of PostgreSQL: made ahead, protected like their table, and dropped whole."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from app.calendar_months import month_after
from app.database import Database, partitions
from app.database.partitions import KEYS, PartitionState
from app.database.scope import of_tenant
from app.enums import CallStatus
from app.models import Mail, new_id, utcnow
from app.models.base import id_at
from app.services import retention
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import make_tenant
from tests.fixtures.worker import create_calling_organization

KEPT = timedelta(days=30)

postgresql_only = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
sqlite_only = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def now() -> datetime:
    """By the real clock, as the ids of rows go by it."""
    return datetime.now(UTC)


def migrated(session: Session) -> datetime:
    """Return the month of the migration, which made the first partition for it and the next one.
    The present month may be later: the database is older than the test."""
    end = partitions.of_table(session.connection(), "mails")[0].end
    assert end is not None
    assert end in (month_after(now(), 1), month_after(now(), 2))
    return month_after(end, -2)


def mail_of(moment: datetime, partner_id: UUID | None = None) -> Mail:
    return Mail(
        id=UUID(int=id_at(moment).int + new_id().int % 2**64), kind="x", partner_id=partner_id
    )


def names(session: Session, table: str) -> list[str]:
    return [each.name for each in partitions.of_table(session.connection(), table)]


def stored(session: Session, name: str) -> int:
    return session.scalar(text(f"SELECT count(*) FROM {name}")) or 0


@postgresql_only
def test_each_table_has_partitions_for_the_past_the_coming_months_and_the_rest(
    session: Session,
) -> None:
    month = migrated(session)
    for table in KEYS:
        ahead = [f"{table}_{month_after(month, months):%Y_%m}" for months in (2, 3)]
        assert names(session, table) == [f"{table}_first", *ahead, f"{table}_rest"]
    assert partitions.state(session.connection(), now()) == PartitionState([], [])


@postgresql_only
def test_partitions_have_the_policies_of_their_table_new_ones_too(session: Session) -> None:
    def policies(name: str) -> set[tuple[Any, ...]]:
        query = text(
            "SELECT policyname, cmd, qual, with_check FROM pg_policies WHERE tablename = :n"
        )
        found = session.execute(query, {"n": name}).all()
        return {tuple(re.sub(rf"\b{name}\.", "", str(part)) for part in row) for row in found}

    forced = text("SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE relname = :n")
    later = month_after(migrated(session), 2)
    for table in KEYS:
        made = partitions.make_ahead(session.connection(), table, later)
        assert len(made) == 2
        assert policies(table) != set()
        for name in names(session, table):
            assert policies(name) == policies(table)
            assert session.scalar(forced, {"n": name})


@postgresql_only
def test_a_partner_sees_and_writes_no_rows_of_others_in_a_partition(
    fresh_database: Database,
) -> None:
    with fresh_database.transaction() as session:
        tenant, other_tenant = (
            make_tenant(session, name).partner.id for name in ("Northwind", "Acme")
        )
        session.add_all(
            [mail_of(now(), tenant), mail_of(now(), other_tenant), mail_of(now(), other_tenant)]
        )
    with fresh_database.within(of_tenant(tenant, None)).transaction() as session:
        assert [stored(session, name) for name in ("mails", "mails_first")] == [1, 1]
        query = 'INSERT INTO mails_first SELECT gen_random_uuid(), :other, user_id, kind, "to"'
        columns = "details, attempts, created_at, sent_at, failed_at, failure FROM mails"
        with pytest.raises(DBAPIError, match="row-level security"):
            session.execute(text(f"{query}, {columns}"), {"other": other_tenant})


@postgresql_only
def test_a_new_month_takes_its_rows_from_the_rest(session: Session) -> None:
    month = migrated(session)
    later = month_after(month, 5) + timedelta(days=3)
    session.add(mail_of(later))
    session.flush()
    assert partitions.state(session.connection(), month) == PartitionState(["mails"], [])
    partitions.make_ahead(session.connection(), "mails", month_after(month, 3))
    assert stored(session, f"mails_{later:%Y_%m}") == 1
    assert partitions.state(session.connection(), month) == PartitionState([], [])
    missing = partitions.state(session.connection(), month_after(month, 5)).missing
    assert missing == [table for table in KEYS if table != "mails"]


@postgresql_only
def test_whole_months_past_retention_are_dropped(session: Session, clock: SetClock) -> None:
    first, second = (month_after(migrated(session), months) for months in (2, 3))
    session.add_all(mail_of(moment) for moment in (now(), first, second, second))
    session.flush()
    clock.set(f"{second + KEPT - timedelta(seconds=1):%Y-%m-%dT%H:%M:%S}")
    assert retention.rotate_partitions(session, "mails", KEPT.days) == ["mails_first"]
    clock.set(f"{second + KEPT:%Y-%m-%dT%H:%M:%S}")
    assert retention.rotate_partitions(session, "mails", KEPT.days) == [f"mails_{first:%Y_%m}"]
    assert session.scalar(select(func.count()).select_from(Mail)) == 2
    assert names(session, "mails")[0] == f"mails_{second:%Y_%m}"
    assert partitions.state(session.connection(), utcnow()).missing == [
        "call_events",
        "webhook_deliveries",
    ]


@postgresql_only
def test_timelines_are_dropped_if_asked_for_and_no_call_is_under_way(
    fresh_database: Database, clock: SetClock
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        call = calling_organization.accept(session)
        session.flush()
        assert stored(session, "call_events") > 0
        month = migrated(session)
        clock.set(f"{month_after(month, 4):%Y-%m-%dT%H:%M:%S}")
        assert retention.rotate_partitions(session, "call_events", 0) == []
        assert retention.rotate_partitions(session, "call_events", 1) == []
        call.status = CallStatus.CANCELED
        session.flush()
        dropped = ["call_events_first", f"call_events_{month_after(month, 2):%Y_%m}"]
        assert retention.rotate_partitions(session, "call_events", 1) == dropped
        assert stored(session, "call_events") == 0


@postgresql_only
def test_a_locked_table_is_skipped(fresh_database: Database, clock: SetClock) -> None:
    clock.set(f"{month_after(now(), 4):%Y-%m-%dT%H:%M:%S}")
    with fresh_database.transaction() as reading:
        reading.execute(text("LOCK TABLE mails IN ACCESS SHARE MODE"))
        with (
            pytest.raises(OperationalError, match="lock timeout"),
            fresh_database.transaction() as session,
        ):
            retention.rotate_partitions(session, "mails", KEPT.days)
    with fresh_database.transaction() as session:
        assert retention.rotate_partitions(session, "mails", KEPT.days)[0] == "mails_first"


@sqlite_only
def test_on_sqlite_expired_timelines_are_deleted_and_no_table_has_months(
    fresh_database: Database, clock: SetClock
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        calling_organization.accept(session).status = CallStatus.CANCELED
        session.flush()
        assert retention.rotate_partitions(session, "call_events", 1) == []
        assert stored(session, "call_events") > 0
        clock.set(f"{now() + timedelta(days=2):%Y-%m-%dT%H:%M:%S}")
        assert retention.rotate_partitions(session, "call_events", 1) == []
        assert stored(session, "call_events") == 0
        assert partitions.state(session.connection(), utcnow()).is_well
