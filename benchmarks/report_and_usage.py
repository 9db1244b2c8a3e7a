"""Admin report and usage compared with the same SQL over the daily roll-up, on both databases.

``python -m benchmarks.report_and_usage [USERS]``. The floor of the report is the bare statement
through the database's own driver, written by orjson; that of usage is the statement as text on a
pooled connection. Ours is the whole answer: the report over HTTP with its token, usage from the
service to its bytes. Goals: the report within 1.5 x at 100,000 users and 5,000,000 conversations,
usage within 2 x and the same however many conversations there are.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import insert, text, update
from sqlalchemy.orm import Session

from app.database import READ_ONLY, Database, make_engine
from app.enums import Role
from app.factory import create_app
from app.models import ConversationDay, Organization, User, index_names, new_id, utcnow
from app.schemas.figures import UsageQuery
from app.services import reporting
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.recount import recount
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import Tenant, bearer, make_tenant

USERS, DAYS, PER_DAY = 100_000, 10, 5
BATCH_SIZE = 2000
FIRST = date(2026, 1, 1)
YEAR = 366
LAST = FIRST + timedelta(days=YEAR - 1)
REPORT = """
SELECT u.id, u.email, u.created_at, o.name, o.payment_tier, coalesce(c.n, 0)
FROM users u JOIN organizations o ON o.id = u.organization_id
LEFT JOIN (
    SELECT organization_id, sum(conversations) AS n FROM conversation_days
    WHERE partner_id = :partner GROUP BY organization_id
) c ON c.organization_id = o.id
WHERE u.partner_id = :partner AND u.user_type = 'standard' ORDER BY u.created_at, u.id
"""
USAGE = text("""
SELECT o.id, coalesce(sum(d.conversations), 0), max(d.updated_at),
    (SELECT count(*) FROM agents WHERE organization_id = :organization),
    (SELECT count(*) FROM users WHERE organization_id = :organization)
FROM organizations o LEFT JOIN conversation_days d
    ON d.organization_id = o.id AND d.day BETWEEN :first AND :last
WHERE o.id = :organization GROUP BY o.id
""")
NAMES = ("id", "email", "signUpDate", "businessName", "paymentTier", "conversations")


def fill(database: Database, partner_id: UUID, count: int) -> UUID:
    """Create this many organizations of one user each, with conversations on some days; the last
    one has them on every day of a year."""
    ids = [new_id() for _ in range(count)]
    for start in range(0, count, BATCH_SIZE):
        batch = ids[start : start + BATCH_SIZE]
        with database.transaction() as session:
            add_customers(session, partner_id, batch)
        analyze(database)  # otherwise PostgreSQL checks foreign keys as in empty tables
        with database.transaction() as session:
            session.execute(insert(ConversationDay), days_of(partner_id, batch, DAYS))
    with database.transaction() as session:
        further = days_of(partner_id, ids[-1:], YEAR)[DAYS:]
        session.execute(insert(ConversationDay), further)
        recount(session, partner_id)
        index_names(session.connection())
    analyze(database)
    return ids[-1]


def add_customers(session: Session, partner_id: UUID, ids: list[UUID]) -> None:
    now = utcnow()
    shared = {"partner_id": partner_id, "created_at": now, "updated_at": now}
    session.execute(insert(Organization), [{**shared, "id": id_, "name": "Org"} for id_ in ids])
    people = []
    for id_ in ids:
        email = f"user-{id_.hex}@customers.example"
        user = {"id": new_id(), "organization_id": id_, "email": email, "email_key": email}
        people.append({**shared, **user, "user_type": Role.STANDARD})
    session.execute(insert(User), people)


def days_of(partner_id: UUID, ids: list[UUID], days: int) -> list[dict[str, Any]]:
    now = utcnow()
    return [
        {
            "organization_id": id_,
            "day": FIRST + timedelta(days=day),
            "partner_id": partner_id,
            "conversations": PER_DAY,
            "updated_at": now,
        }
        for id_ in ids
        for day in range(days)
    ]


def analyze(database: Database) -> None:
    """Analyze the tables, as the worker's housekeeping and PostgreSQL's own do."""
    database.gather_statistics()
    if not database.is_sqlite:
        with database.engine.begin() as connection:
            connection.exec_driver_sql("ANALYZE")


class Floor:
    """The statements alone, on a connection of the driver."""

    def __init__(self, database: Database):
        self.connection: Any = database.engine.raw_connection()
        self.is_sqlite = database.is_sqlite
        if not self.is_sqlite:  # the policies decide which rows it sees
            self.connection.cursor().execute(
                "SELECT set_config('app.scope', 'installation', false)"
            )

    def rows(self, statement: str, **values: Any) -> list[Any]:
        cursor = self.connection.cursor()
        if self.is_sqlite:
            plain = {k: v.hex if isinstance(v, UUID) else str(v) for k, v in values.items()}
            cursor.execute(statement, plain)
        else:
            for name in values:
                statement = statement.replace(f":{name}", f"%({name})s")
            cursor.execute(statement, values)
        fetched: list[Any] = cursor.fetchall()
        self.connection.rollback()
        return fetched

    def report(self, partner_id: UUID) -> bytes:
        rows = self.rows(REPORT, partner=partner_id)
        return orjson.dumps({"users": [dict(zip(NAMES, row, strict=True)) for row in rows]})


def bare_usage(database: Database, organization_id: UUID) -> bytes:
    """Run the statement as text on a connection of the same pool: no service, no loading, no
    class."""
    stored_id: Any = organization_id.hex if database.is_sqlite else organization_id
    with database.engine.connect().execution_options(**{READ_ONLY: True}) as connection:
        params = {"organization": stored_id, "first": str(FIRST), "last": str(LAST)}
        return orjson.dumps(tuple(connection.execute(USAGE, params).one()))


def compare(floor: Callable[[], Any], ours: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Return the median seconds of both, taken in turns; the first round only warms up."""
    times: list[tuple[float, float]] = []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        floor()
        between = time.perf_counter()
        ours()
        times.append((between - begun, time.perf_counter() - between))
    return statistics.median(t[0] for t in times[1:]), statistics.median(t[1] for t in times[1:])


def show(backend: str, label: str, times: tuple[float, float], goal: str) -> None:
    floor, ours = times
    print(
        f"{backend:10} {label:32} floor {floor * 1000:9.3f} ms  ours {ours * 1000:9.3f} ms  "
        f"ratio {ours / floor:5.2f}  (goal {goal})"
    )


def measure(backend: str, database: Database, folder: Path, count: int) -> None:
    settings = settings_for(
        database.engine.url.render_as_string(hide_password=False), folder, rate_burst=10_000
    )
    with database.transaction() as session:
        tenant: Tenant = make_tenant(session)
        partner_id = tenant.partner.id
        headers = bearer(session, settings, Role.PARTNER_ADMIN, partner_id)
    last = fill(database, partner_id, count)
    client = create_app(settings, database).test_client()
    caller = tenant.caller(Role.PARTNER_ADMIN)
    floor = Floor(database)

    query = UsageQuery.model_construct(
        organization_id=last, user_email=None, start_date=FIRST, end_date=LAST
    )

    def report() -> None:
        answer = client.get(f"/api/partners/{partner_id}/admin-report", headers=headers)
        assert answer.status_code == 200
        assert len(answer.data) > 100 * count

    def usage() -> None:
        with database.transaction(read_only=True) as session:
            result = reporting.usage(session, caller, query)
            result.model_dump_json(by_alias=True)

    times = compare(lambda: floor.report(partner_id), report, 5)
    show(backend, f"report, {count:,} users", times, "1.5")
    for conversations in (27, 13_661):  # per day: 10,000 and 5,000,000 in a year
        with database.transaction() as session:
            days = update(ConversationDay).where(ConversationDay.organization_id == last)
            session.execute(days.values(conversations=conversations))
        times = compare(lambda: bare_usage(database, last), usage, 300)
        show(backend, f"usage, {conversations * YEAR:,} conversations", times, "2")
    floor.connection.close()


def main(arguments: list[str]) -> None:
    count = int(arguments[0]) if arguments else USERS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        for backend in BACKENDS:
            url = databases.create(backend)
            database = Database(make_engine(url))
            measure(backend, database, folder, count)
            database.dispose()
            databases.drop(url)
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(sys.argv[1:])
