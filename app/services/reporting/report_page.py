"""The report as a screen: its totals, sign-ups over time, and its users page by page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight
from app.database import read_once
from app.enums import OrganizationStatus, Role, Tier, UserStatus
from app.models import PLAN, ConversationDay, Organization, Partner, PartnerDay, PartnerTier, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search, partners
from app.services.paging import Page, both_ways, count_up_to, keyset_page
from app.services.tenancy import in_groups, visible_organizations
from app.validation.texts import trim

SORTS = both_ways(created=User.created_at, email=User.email_key, status=User.status)
"""The sort orders of `search`."""


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """The report's sums; every organization counts once in ``conversations``."""

    user_count: int
    user_count_by_tier: dict[str, int]
    organization_count: int
    conversations: int


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A line of the report for a screen."""

    user: User
    organization: Organization
    conversations: int


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """The filters of the report's users; days of sign-up are UTC, both ends included."""

    query: str | None = None
    """Searched in emails and names of organizations."""
    tier: Tier | None = None
    status: UserStatus | None = None
    since: date | None = None
    until: date | None = None
    ids: Collection[UUID] | None = None

    def conditions(self, session: Session, partner_id: UUID) -> list[ColumnElement[bool]]:
        """On users joined with their organizations."""
        conditions: list[ColumnElement[bool]] = []
        query = trim(self.query)
        if query:
            in_address = User.email_key.contains(query.lower(), autoescape=True)
            conditions.append(or_(in_address, Organization.named(query)))
            condition = name_search.users_by_name(session, partner_id, query)
            conditions += [] if condition is None else [condition]
        if self.tier is not None:
            conditions.append(PLAN.in_([self.tier]))
        if self.status is not None:
            conditions.append(User.status == self.status)
        if self.since is not None:
            conditions.append(User.created_at >= midnight(self.since))
        if self.until is not None:
            conditions.append(User.created_at <= datetime.combine(self.until, time.max, UTC))
        if self.ids is not None:
            conditions.append(User.id.in_(self.ids))
        return conditions


EVERY_USER = ReportFilter()


def summary(session: Session, caller: Caller, partner_id: UUID) -> ReportSummary:
    """Return the totals of the whole report: one query, whatever the size. Raises as `report`."""
    _authorise(session, caller, partner_id)
    if caller.is_limited:
        return _summary_of_groups(session, caller, partner_id)
    return read_once(session, ("report", partner_id), lambda: _stored_summary(session, partner_id))


def _stored_summary(session: Session, partner_id: UUID) -> ReportSummary:
    conversations = select(func.coalesce(func.sum(PartnerDay.conversations), 0)).where(
        PartnerDay.partner_id == partner_id
    )
    plans = session.execute(
        select(
            PartnerTier.tier,
            func.coalesce(PartnerTier.users, 0).label("users"),
            func.coalesce(PartnerTier.organizations - PartnerTier.archived, 0).label(
                "organizations"
            ),
            conversations.scalar_subquery().label("conversations"),
        )
        .select_from(Partner)
        .outerjoin(PartnerTier, PartnerTier.partner_id == Partner.id)
        .where(Partner.id == partner_id)
    ).all()
    users = {plan.tier: plan.users for plan in plans}
    by_tier = {tier.value: users.get(tier, 0) for tier in Tier}
    return ReportSummary(
        user_count=sum(by_tier.values()),
        user_count_by_tier=by_tier,
        organization_count=sum(plan.organizations for plan in plans),
        conversations=int(plans[0].conversations) if plans else 0,
    )


def _summary_of_groups(session: Session, caller: Caller, partner_id: UUID) -> ReportSummary:
    tier = func.coalesce(Organization.payment_tier, Tier.FREE)
    rows = _query_users(session, caller, partner_id, EVERY_USER)
    count_query = rows.with_only_columns(tier, func.count(), maintain_column_froms=True).group_by(
        tier
    )
    by_tier = dict.fromkeys((tier.value for tier in Tier), 0)
    by_tier |= {row[0].value: row[1] for row in session.execute(count_query)}
    present = visible_organizations(caller).where(
        Organization.status != OrganizationStatus.ARCHIVED
    )
    organization_count = present.with_only_columns(func.count(Organization.id))
    conversations = select(func.coalesce(func.sum(ConversationDay.conversations), 0)).where(
        ConversationDay.partner_id == partner_id,
        in_groups(caller, ConversationDay.organization_id),
    )
    return ReportSummary(
        user_count=sum(by_tier.values()),
        user_count_by_tier=by_tier,
        organization_count=session.scalar(organization_count) or 0,
        conversations=int(session.scalar(conversations) or 0),
    )


def count(
    session: Session, caller: Caller, partner_id: UUID, filters: ReportFilter, limit: int
) -> int:
    """Return how many users match, as `paging.count_up_to`: all of them from the stored totals.
    Raises as `report`."""
    _authorise(session, caller, partner_id)
    if filters == EVERY_USER and not caller.is_limited:
        return min(summary(session, caller, partner_id).user_count, limit + 1)
    users = _query_users(session, caller, partner_id, filters)
    return count_up_to(session, users.with_only_columns(User.id), limit)


def search(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    filters: ReportFilter = EVERY_USER,
    *,
    sort: str = "created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[ReportRow]:
    """Return a page of the report's users. Raises as `report`, and `ValidationFailed`
    (``invalid_cursor``)."""
    _authorise(session, caller, partner_id)
    page = keyset_page(
        session,
        _query_users(session, caller, partner_id, filters),
        SORTS[sort],
        cursor=cursor,
        limit=limit,
    )
    return Page(_with_figures(session, page.items), page.next_cursor)


def _authorise(session: Session, caller: Caller, partner_id: UUID) -> None:
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)


def _query_users(
    session: Session, caller: Caller, partner_id: UUID, filters: ReportFilter
) -> Select[User]:
    return (
        select(User)
        .join(Organization, Organization.id == User.organization_id)
        .where(User.partner_id == partner_id, User.user_type == Role.STANDARD)
        .where(in_groups(caller, Organization.id))
        .where(*filters.conditions(session, partner_id))
    )


def _with_figures(session: Session, users: Sequence[User]) -> list[ReportRow]:
    ids = {user.organization_id for user in users}
    rows = session.execute(
        select(Organization, func.coalesce(func.sum(ConversationDay.conversations), 0))
        .outerjoin(ConversationDay, ConversationDay.organization_id == Organization.id)
        .where(Organization.id.in_(ids))
        .group_by(Organization.id)
    )
    figures = {organization.id: (organization, int(total)) for organization, total in rows}
    return [
        ReportRow(user, *figures[user.organization_id])
        for user in users
        if user.organization_id is not None
    ]
