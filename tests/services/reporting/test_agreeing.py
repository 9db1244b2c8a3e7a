"""Report, usage and screens give the same figures, to the unit."""

import json
from datetime import date, timedelta
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.errors import NotFound, ValidationFailed
from app.models import ConversationDay, new_id, utcnow
from app.schemas.figures import SubscriptionQuery, UsageQuery
from app.schemas.parsing import read
from app.services import organizations, reporting, users
from app.services.organizations.updating import change
from app.services.reporting import ReportFilter, ReportRow
from tests.fixtures.tenants import Tenant, converse, make_tenant

TODAY = date(2026, 5, 4)


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    other_tenant = make_tenant(session, "Southbank")
    tenant.plus.user_limit = 0
    users.invite(
        session,
        tenant.caller(Role.ADMIN),
        email="petra@northwind.example",
        user_type=Role.STANDARD,
        organization_id=tenant.plus.id,
    )
    for days, count in ((0, 3), (1, 2), (40, 5), (365, 1)):
        converse(session, tenant.plus, TODAY - timedelta(days=days), count)
    converse(session, other_tenant.organization, TODAY, 7)
    return tenant


def usage_query(organization_id: UUID, start: date = TODAY, end: date = TODAY) -> UsageQuery:
    wanted = {"organizationId": organization_id, "startDate": start, "endDate": end}
    return read(UsageQuery, {name: str(value) for name, value in wanted.items()})


def usage(session: Session, tenant: Tenant, start: date, end: date) -> int:
    caller = tenant.caller(Role.ADMIN)
    query = usage_query(tenant.plus.id, start, end)
    return reporting.usage(session, caller, query).usage.conversations


def test_each_user_has_the_conversations_of_the_organization(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    report = reporting.report(session, caller, tenant.partner.id)
    [rows] = report.batches()
    assert [(row["email"], row["businessName"], row["conversations"]) for row in rows] == [
        ("olga@northwind.example", ["Northwind Bakery"], 0),
        ("paul@northwind.example", ["Northwind Dental"], 11),
        ("petra@northwind.example", ["Northwind Dental"], 11),
    ]
    assert (report.user_count, report.user_count_by_tier) == (
        3,
        {tier.value: 0 for tier in Tier} | {Tier.FREE.value: 1, Tier.PLUS.value: 2},
    )


def test_every_sum_counts_each_organization_once(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    year = (TODAY - timedelta(days=365), TODAY)
    days = reporting.daily(session, caller, *year)
    assert reporting.summary(session, caller, tenant.partner.id).conversations == 11
    assert usage(session, tenant, *year) == 11
    assert (len(days), sum(day.conversations for day in days)) == (366, 11)
    assert (sum(day.by_human for day in days), sum(day.by_voicemail for day in days)) == (7, 4)
    assert sum(day.seconds for day in days) == 11 * 60


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [(0, 0, 3), (1, 1, 2), (1, 0, 5), (2, 2, 0), (40, 2, 5), (40, 0, 10), (39, 1, 2)],
)
def test_both_ends_of_a_range_count(
    session: Session, tenant: Tenant, first: int, last: int, count: int
) -> None:
    start, end = TODAY - timedelta(days=first), TODAY - timedelta(days=last)
    assert usage(session, tenant, start, end) == count


def test_a_screen_of_the_report_shows_the_rows_of_the_json(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    found: list[ReportRow] = []
    cursor = None
    while True:
        page = reporting.search(session, caller, tenant.partner.id, cursor=cursor, limit=2)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    shown = [(str(r.user.id), r.organization.name, r.conversations) for r in found]
    [rows] = reporting.report(session, caller, tenant.partner.id).batches()
    assert shown == [(str(r["id"]), r["businessName"][0], r["conversations"]) for r in rows]
    by_tier = reporting.search(
        session, caller, tenant.partner.id, ReportFilter(tier=Tier.FREE)
    ).items
    by_name = reporting.search(
        session, caller, tenant.partner.id, ReportFilter(query="bakery")
    ).items
    assert [[r.user.id for r in rows] for rows in (by_tier, by_name)] == [[tenant.user.id]] * 2


def test_usage_holds_every_figure_of_the_organization(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.ADMIN)
    sent = {
        "userEmail": "PAUL@northwind.example",
        "organizationId": str(tenant.plus.id),
        "startDate": "2026-05-03",
        "endDate": "2026-05-04",
    }
    day = session.get_one(ConversationDay, (tenant.plus.id, TODAY))
    day.updated_at = utcnow().replace(year=2026, month=1, day=2, hour=3, minute=4, second=5)
    yesterday = session.get_one(ConversationDay, (tenant.plus.id, TODAY - timedelta(days=1)))
    yesterday.updated_at = day.updated_at - timedelta(days=1)
    session.flush()
    answer = reporting.usage(session, caller, read(UsageQuery, sent))
    shown = json.loads(answer.model_dump_json(by_alias=True))
    changed = shown["usage"].pop("lastUpdatedDate")
    assert changed.startswith("2026-01-02T03:04:05")
    assert shown == {
        "userId": str(tenant.plus_user.id),
        "userEmail": "paul@northwind.example",
        "organizationId": str(tenant.plus.id),
        "totalAgentsCreated": 1,
        "totalUsersCreated": 2,
        "usage": {
            "conversations": 5,
            "requestedDateRange": {
                "start": "2026-05-03T00:00:00.000Z",
                "end": "2026-05-04T23:59:59.999Z",
            },
        },
    }


def test_without_data_there_is_no_last_change(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.ADMIN)
    answer = reporting.usage(session, caller, usage_query(tenant.organization.id))
    assert (answer.usage.conversations, answer.usage.last_updated_date) == (0, None)


def test_a_customer_sees_their_own_usage_only(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.STANDARD)
    answer = reporting.usage(session, caller, usage_query(tenant.organization.id))
    assert answer.organization_id == tenant.organization.id
    days = reporting.daily(session, caller, TODAY, TODAY)
    assert [day.conversations for day in days] == [0]
    for unseen in (tenant.plus.id, new_id()):
        with pytest.raises(NotFound) as refused:
            reporting.usage(session, caller, usage_query(unseen))
        assert refused.value.code == "organization_not_found"


def test_an_organization_without_a_plan_is_on_the_default_one(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    change(session, caller, tenant.plus, {"payment_tier": None})
    report = reporting.report(session, caller, tenant.partner.id)
    tiers = {row["paymentTier"] for batch in report.batches() for row in batch}
    summary = reporting.summary(session, caller, tenant.partner.id)
    query = read(SubscriptionQuery, {"organizationId": str(tenant.plus.id)})
    plan = reporting.subscription(session, caller, query).subscription_plan
    assert tiers == {Tier.FREE.value}
    assert summary.user_count_by_tier == report.user_count_by_tier
    assert summary.user_count_by_tier[Tier.FREE.value] == 3
    assert plan.name == "Free"


def test_an_operator_has_no_chart_of_a_partner(session: Session, tenant: Tenant) -> None:
    operator = tenant.caller(Role.OPERATOR)
    with pytest.raises(ValidationFailed) as refused:
        reporting.daily(session, operator, TODAY, TODAY)
    assert refused.value.code == "operator_without_partner"


def test_the_report_counts_organizations_that_are_suspended_too(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    organizations.suspend(session, caller, tenant.plus.id)
    assert reporting.summary(session, caller, tenant.partner.id).conversations == 11
