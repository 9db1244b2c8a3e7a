"""Every screen at 100,000 users compared with the same screen at 1,000, on both databases.

``python -m benchmarks.pages [USERS] [--calls CALLS] [--only PART] [--over]``. A partner has this
many organizations with a user each, as many contacts in one campaign, calls with an attempt each
and changes in its history. For each screen, for lists in each order, and for lists and Find by
words that find much, little and nothing: the statements it sends (for many no more than for few),
the median time of both, taken in turns, and what is transferred. Goal: at most 1.3 x, and 40 kB a
page. ``--only`` measures URLs that contain its text, ``--over`` prints only those beyond the goal.
``--calls`` adds this many calls within a year to the larger one, by one statement, on PostgreSQL
only.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from flask import url_for
from flask.testing import FlaskClient
from sqlalchemy import event, insert, select, text
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from app.database import Database, make_engine
from app.enums import CallSource, CallStatus, CarrierKind, EndedReason, Role
from app.factory import create_app
from app.models import (
    Assistant,
    AuditEntry,
    Base,
    Call,
    CallAttempt,
    Campaign,
    Contact,
    User,
    new_id,
    utcnow,
)
from app.models.base import id_at
from app.portal.record_lists.registry import LISTS
from app.services import campaigns, organizations
from app.services.auth import sessions
from benchmarks.report_and_usage import BATCH_SIZE, analyze, fill
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import make_tenant

FEW, MANY, ROUNDS = 1_000, 100_000, 9
GOAL = 1.3
HEAVIEST = 40.0
SPREAD = timedelta(minutes=3)
AS_A_BROWSER = {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin"}
FURTHER = """
    INSERT INTO calls (id, created_at, ended_at, updated_at, phone_number, {columns})
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000a'
        || lpad(to_hex(n), 15, '0'))::uuid, at, at, at, '+1303' || lpad(n::text, 7, '0'), {columns}
    FROM calls c, generate_series(1, :count) n,
        LATERAL (SELECT now() - interval '1 year' * n / :count AS at) moment
    WHERE c.id = :like
"""
GIVEN = {"id", "created_at", "ended_at", "updated_at", "phone_number"}
"""The columns with a different value for each of the added calls."""
WORDS = ("org", "dental", "nobody")
"""Words found everywhere, in one name, and nowhere."""
SEARCHED = (
    "/search?q={}",
    "/organizations?q={}",
    "/users?q={}",
    "/campaigns?q={}",
    "/assistants?q={}",
    "/do-not-call?q={}",
    "/campaigns/new?q={}",
    "/report?q={}",
    "/usage?q={}",
    "/calls?organization={}",
    "/audit?organization={}",
)


class Portal(NamedTuple):
    """The product over one database, as a partner's administrator sees it."""

    client: FlaskClient
    database: Database
    ids: dict[str, UUID]


class Cost(NamedTuple):
    milliseconds: float
    statements: int
    kilobytes: float
    """Kilobytes of the page itself, as transferred: everything else is in the browser's cache."""


def populated(session: Session, count: int, partner_id: UUID, customer: UUID) -> dict[str, UUID]:
    """Create contacts, calls and history of one customer; return the ids for URLs."""
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == customer)
    ).first()
    campaign = session.scalars(select(Campaign).where(Campaign.organization_id == customer)).one()
    assert assistant is not None
    owner_ids = {"partner_id": partner_id, "organization_id": customer}
    now = utcnow()
    calls: list[dict[str, Any]] = []
    contacts: list[dict[str, Any]] = []
    for number in range(count):
        created_at = now - SPREAD * number
        phone = f"+1202{number:07}"
        contacts.append(
            {
                "id": new_id(),
                "organization_id": customer,
                "campaign_id": campaign.id,
                "phone": phone,
                "first_name": "Ada",
                "last_name": f"Person {number}",
                "created_at": created_at,
                "updated_at": created_at,
            }
        )
        calls.append(
            {
                **owner_ids,
                "id": id_at(created_at),
                "assistant_id": assistant.id,
                "source": CallSource.API,
                "live": True,
                "carrier": CarrierKind.SIMULATOR,
                "requested_by": "benchmark",
                "phone_number": phone,
                "contact": {"phoneNumber": phone},
                "status": CallStatus.NO_ANSWER,
                "ended_reason": EndedReason.NO_ANSWER,
                "created_at": created_at,
                "updated_at": created_at,
                "expires_at": now,
                "ended_at": created_at,
                "seconds": number % 600 if number % 2 else None,
                "cost_micros": number if number % 2 else None,
            }
        )
    history = [
        {
            **owner_ids,
            "id": id_at(now - SPREAD * number),
            "at": now - SPREAD * number,
            "actor_kind": "user",
            "actor": "colleague",
            "action": "organization.updated",
            "target_type": "organization",
            "target_id": str(customer),
        }
        for number in range(count)
    ]
    attempts = [
        {
            "id": new_id(),
            "organization_id": customer,
            "call_id": call["id"],
            "number": 1,
            "carrier": CarrierKind.SIMULATOR,
            "status": CallStatus.NO_ANSWER,
            "started_at": call["created_at"],
        }
        for call in calls
    ]
    for start in range(0, count, BATCH_SIZE):
        session.execute(insert(Contact), contacts[start : start + BATCH_SIZE])
        session.execute(insert(Call), calls[start : start + BATCH_SIZE])
        session.execute(insert(CallAttempt), attempts[start : start + BATCH_SIZE])
        session.execute(insert(AuditEntry), history[start : start + BATCH_SIZE])
    campaign.contact_count = count
    return {
        "organization_id": customer,
        "assistant_id": assistant.id,
        "campaign_id": campaign.id,
        "contact_id": contacts[0]["id"],
        "call_id": calls[0]["id"],
    }


def portal_of(url: str, folder: Path, count: int) -> Portal:
    database = Database(make_engine(url))
    with database.transaction() as session:
        tenant = make_tenant(session)
        admin = tenant.caller(Role.PARTNER_ADMIN)
        customer = organizations.get(session, admin, tenant.plus.id)
        campaigns.create(session, admin, customer.id, name="Everybody")
    fill(database, tenant.partner.id, count)
    settings = settings_for(url, folder, rate_burst=10_000)
    with database.transaction() as session:
        ids = populated(session, count, tenant.partner.id, tenant.plus.id)
        ids["user_id"] = tenant.plus_user.id
        ids["partner_id"] = tenant.partner.id
        user = session.get_one(User, tenant.staff[Role.PARTNER_ADMIN].id)
        token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
    analyze(database)
    client = create_app(settings, database).test_client()
    give_session(client, token)
    return Portal(client, database, ids)


def add_calls(portal: Portal, count: int) -> None:
    """Add this many calls of the organization, like the first one."""
    columns = ", ".join(c.name for c in Base.metadata.tables["calls"].c if c.name not in GIVEN)
    with portal.database.transaction() as session:
        statement = text(FURTHER.format(columns=columns))
        session.execute(statement, {"count": count, "like": portal.ids["call_id"]})
    analyze(portal.database)


def address(portal: Portal, rule: Rule) -> str | None:
    """Return the page's URL; None if it needs data that these databases don't have."""
    if not rule.arguments <= portal.ids.keys():
        return None
    values = {name: portal.ids[name] for name in rule.arguments}
    built = rule.build(values, append_unknown=False)
    return built[1] if built else None


@contextmanager
def counted(database: Database) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield statements
    event.remove(database.engine, "before_cursor_execute", note)


def is_page(portal: Portal, path: str) -> bool:
    answer = portal.client.get(path)
    return answer.status_code == 200 and answer.mimetype == "text/html"


def cost(portal: Portal, path: str) -> Cost:
    with counted(portal.database) as statements:
        began = time.perf_counter()
        answer = portal.client.get(path, headers=AS_A_BROWSER)
        seconds = time.perf_counter() - began
    assert answer.status_code == 200, path
    return Cost(seconds * 1000, len(statements), len(answer.data) / 1000)


def sorted_lists(portal: Portal) -> list[str]:
    """Return each list of all records in each of its orders."""
    with portal.client.application.test_request_context():
        return [
            url_for(each.endpoint, sort=sort)
            for each in LISTS.values()
            if not each.path
            for sort in each.sorts
        ]


def addresses(few: Portal, many: Portal) -> Iterator[tuple[str, str, str]]:
    """Return the measured URLs with their names: each screen, and the lists in each order and by
    some words."""
    for rule in few.client.application.url_map.iter_rules():
        if not rule.endpoint.startswith("portal.") or "GET" not in (rule.methods or ()):
            continue
        few_path, many_path = address(few, rule), address(many, rule)
        if few_path is not None and many_path is not None:
            yield rule.rule, few_path, many_path
    for path in sorted_lists(few):
        yield path, path, path
    for query in WORDS:
        for path in SEARCHED:
            yield path.format(query), path.format(query), path.format(query)
    for query in ("person 1", "nobody"):
        path = "/campaigns/{campaign_id}?q=" + query
        yield path, path.format(**few.ids), path.format(**many.ids)


def compare(backend: str, few: Portal, many: Portal, only: str) -> Sequence[tuple[bool, str]]:
    """Return a line for each screen and whether it meets the goal, largest growth first."""
    lines = []
    for name, few_path, many_path in addresses(few, many):
        if only not in name or not is_page(few, few_path) or not is_page(many, many_path):
            continue
        costs = [(cost(few, few_path), cost(many, many_path)) for _ in range(ROUNDS)]
        small = statistics.median(few_cost.milliseconds for few_cost, _ in costs)
        large = statistics.median(many_cost.milliseconds for _, many_cost in costs)
        counts = costs[-1][0].statements, costs[-1][1].statements
        weight = costs[-1][1].kilobytes
        good = large / small <= GOAL and counts[1] <= counts[0] and weight <= HEAVIEST
        line = (
            f"{backend:10} {name[:58]:58} {counts[0]:3} and {counts[1]:3} statements  "
            f"{small:6.1f} ms  {large:6.1f} ms  ratio {large / small:5.2f}  {weight:5.1f} kB"
            f"{'' if good else '  OVER'}"
        )
        lines.append((large / small, good, line))
    return [(good, line) for _ratio, good, line in sorted(lines, reverse=True)]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.pages")
    parser.add_argument("users", nargs="?", type=int, default=MANY)
    parser.add_argument("--calls", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--over", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        for backend in ["postgresql"] if options.calls else BACKENDS:
            urls = [databases.create(backend) for _ in range(2)]
            portals = [
                portal_of(url, folder, count)
                for url, count in zip(urls, (FEW, options.users), strict=True)
            ]
            if options.calls:
                add_calls(portals[1], options.calls)
            lines = list(compare(backend, portals[0], portals[1], options.only))
            for good, line in lines:
                if not (good and options.over):
                    print(line)
            print(f"{backend}: {len(lines)} pages, {sum(not good for good, _ in lines)} over")
            for portal, url in zip(portals, urls, strict=True):
                portal.database.dispose()
                databases.drop(url)
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(sys.argv[1:])
