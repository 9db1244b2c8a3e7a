"""The numbers on the page of an organization, read together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Select, select, true
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of, previous_month
from app.enums import Tier
from app.models import DispatchPause, Organization, Partner, Statement, Subscription, utcnow
from app.services import pauses, reporting
from app.services.calls import limits
from app.services.organizations import status
from app.services.organizations import usage as organization_usage
from app.services.pricing import subscriptions
from app.services.storage import usage


@dataclass(frozen=True, slots=True)
class OrganizationHead:
    """What every tab of an organization shows: its partner, its contents, and its own pause of
    calling."""

    partner: Partner
    contents: organization_usage.OrganizationContents
    pause: DispatchPause | None


@dataclass(frozen=True, slots=True)
class OrganizationNumbers:
    """The figures of an organization: what its head shows, the items that stopping it ends, the
    bytes that it stores, its current calls and those of today, its conversations of this month
    until today (UTC) and of the same days of the previous month, its subscription, the plan of one
    that ended in this month, and the statement of this month if it is closed."""

    head: OrganizationHead
    reach: status.ActiveItems
    stored: int
    under_way: int
    made: int
    month: reporting.DailyFigures
    month_before: reporting.DailyFigures
    subscription: Subscription | None
    ended_tier: Tier | None
    statement: Statement | None


def head_of(session: Session, organization: Organization) -> OrganizationHead:
    """Read the head in one query; the organization must come from its loader."""
    counts = (query.scalar_subquery() for query in organization_usage.contents_counts())
    head_query = (
        select(Partner, DispatchPause, *counts)
        .select_from(Organization)
        .join(Partner, Partner.id == Organization.partner_id)
        .outerjoin(DispatchPause, pauses.is_of_organization(organization))
        .where(Organization.id == organization.id)
    )
    partner, pause, *contents = session.execute(head_query).one()
    return OrganizationHead(partner, organization_usage.contents_from(contents), pause)


def numbers_of(session: Session, organization: Organization) -> OrganizationNumbers:
    """Count them in one query; the organization must come from its loader."""
    sections: tuple[Sequence[Select[Any]], ...] = (
        organization_usage.contents_counts(),
        status.reach_counts(organization.id),
        usage.sums_of_organization(organization),
        limits.use_counts(organization, utcnow()),
    )
    counts = (query.scalar_subquery() for section in sections for query in section)
    month = reporting.this_month(utcnow().date())
    spans = month, month.before()
    conversations = reporting.totals_query(organization, spans).subquery()
    of_month = Statement.month == month_of(utcnow().date())
    ended_tier = _ended_tier(organization, utcnow()).scalar_subquery()
    numbers_query = (
        select(Partner, DispatchPause, Subscription, ended_tier, Statement)
        .add_columns(*counts, *conversations.c)
        .select_from(Organization)
        .join(Partner, Partner.id == Organization.partner_id)
        .join(conversations, true())
        .outerjoin(DispatchPause, pauses.is_of_organization(organization))
        .outerjoin(Subscription, subscriptions.is_lasting(organization.id))
        .outerjoin(Statement, of_month & (Statement.organization_id == Organization.id))
        .where(Organization.id == organization.id)
    )
    partner, pause, subscription, ended, statement, *numbers = session.execute(numbers_query).one()
    values: Iterator[Any] = iter(numbers)
    contents, reach, stored, (under_way, made_today) = (
        tuple(islice(values, len(section))) for section in sections
    )
    now, before = reporting.totals_from(tuple(values), spans)
    return OrganizationNumbers(
        OrganizationHead(partner, organization_usage.contents_from(contents), pause),
        status.ActiveItems(*reach),
        sum(int(each or 0) for each in stored),
        under_way,
        made_today,
        now,
        before,
        subscription,
        ended,
        statement,
    )


def _ended_tier(organization: Organization, now: datetime) -> Select[Tier]:
    """Return the query of the plan of the organization's last subscription that ended in this
    month."""
    start = end_of(previous_month(month_of(now.date())))
    ended = select(Subscription.tier).where(
        Subscription.organization_id == organization.id,
        subscriptions.has_ended_between(start, now),
    )
    return ended.order_by(Subscription.id.desc()).limit(1)
