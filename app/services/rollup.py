"""The totals of partners, updated in the transaction of everything that they count."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Executable, func, inspect, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, OrganizationStatus, Role, Tier
from app.models import (
    NO_CAMPAIGN,
    Base,
    BillingDay,
    CallDay,
    ConversationDay,
    CostDay,
    Organization,
    PartnerCostDay,
    PartnerDay,
    PartnerTier,
    User,
    utcnow,
)

ENDED_BY_CARRIER = frozenset(
    {CallStatus.COMPLETED, CallStatus.BUSY, CallStatus.NO_ANSWER, CallStatus.FAILED}
)
"""The outcomes of calls that reached the carrier: the answer rate counts them."""


def add_conversations(
    session: Session,
    *,
    partner_id: UUID,
    organization_id: UUID,
    day: date,
    seconds: Mapping[AnsweredBy, Sequence[int]],
) -> None:
    """Add conversations that began on the day to the organization and its partner: the length of
    each in ``seconds``, by what answered."""
    lengths = [length for each in seconds.values() for length in each]
    amounts = {
        "conversations": len(lengths),
        "by_human": len(seconds.get(AnsweredBy.HUMAN, ())),
        "by_voicemail": len(seconds.get(AnsweredBy.VOICEMAIL, ())),
        "seconds": sum(lengths),
    }
    now = {"updated_at": utcnow()}
    key = {"organization_id": organization_id, "day": day}
    add(session, ConversationDay, key, amounts, {"partner_id": partner_id, **now})
    add(session, PartnerDay, {"partner_id": partner_id, "day": day}, amounts, now)


def add_ended_calls(
    session: Session,
    *,
    partner_id: UUID,
    organization_id: UUID,
    day: date,
    ends: Mapping[CallStatus, int],
) -> None:
    """Add calls that ended on the day, by which of `ENDED_BY_CARRIER` they ended with."""
    amounts = {
        "ended": sum(ends.values()),
        "answered": ends.get(CallStatus.COMPLETED, 0),
        "failed": ends.get(CallStatus.FAILED, 0),
    }
    key = {"organization_id": organization_id, "day": day}
    add(session, CallDay, key, amounts, {"partner_id": partner_id})


def add_cost(
    session: Session,
    *,
    partner_id: UUID,
    organization_id: UUID,
    campaign_id: UUID | None,
    day: date,
    cost: Decimal,
    currency: str,
) -> None:
    """Add the cost of one more attempt of the day, to the organization, its campaign and its
    partner."""
    micros = round(cost * 1_000_000)
    amounts = {"attempts": 1, "micros": micros}
    when = {"day": day, "currency": currency}
    key = {"organization_id": organization_id, **when}
    add(session, CostDay, key, amounts, {"partner_id": partner_id})
    add(session, PartnerCostDay, {"partner_id": partner_id, **when}, amounts, {})
    add_billing(
        session,
        partner_id=partner_id,
        organization_id=organization_id,
        campaign_id=campaign_id,
        day=day,
        currency=currency,
        reported_micros=micros,
    )


def add_billing(
    session: Session,
    *,
    partner_id: UUID,
    organization_id: UUID,
    campaign_id: UUID | None,
    day: date,
    currency: str,
    **amounts: int,
) -> None:
    """Add billable usage or costs to the day of a campaign."""
    key = {
        "organization_id": organization_id,
        "day": day,
        "campaign_id": campaign_id or NO_CAMPAIGN,
        "currency": currency,
    }
    zeros = dict.fromkeys(("calls", "minutes", "reported_micros", "estimated_micros"), 0)
    add(session, BillingDay, key, zeros | amounts, {"partner_id": partner_id})


def add_organization(session: Session, partner_id: UUID, tier: Tier | None) -> None:
    """Add an organization to the plan; without one, to the contract's default."""
    _add_to_tier(session, partner_id, tier, organizations=1)


def add_user(
    session: Session, partner_id: UUID, organization_id: UUID, created_at: datetime
) -> None:
    """Add a standard user of an organization that is locked or new."""
    tier = session.scalar(
        select(Organization.payment_tier).where(Organization.id == organization_id)
    )
    _add_to_tier(session, partner_id, tier, users=1)
    key = {"partner_id": partner_id, "day": created_at.astimezone(UTC).date()}
    add(session, PartnerDay, key, {"sign_ups": 1}, {})


def move_organization(
    session: Session, organization: Organization, before: Tier | None, after: Tier | None
) -> None:
    """Move a locked organization from one plan to another, with its users."""
    users = session.scalar(
        select(func.count()).where(
            User.organization_id == organization.id, User.user_type == Role.STANDARD
        )
    )
    archived = int(organization.status is OrganizationStatus.ARCHIVED)
    moves = [(before or Tier.FREE, -1), (after or Tier.FREE, 1)]
    for tier, sign in sorted(moves):  # a fixed order: concurrent moves don't deadlock
        _add_to_tier(
            session,
            organization.partner_id,
            tier,
            organizations=sign,
            archived=sign * archived,
            users=sign * (users or 0),
        )


def archive_organization(session: Session, organization: Organization, *, back: bool) -> None:
    """Count a locked organization as archived, or as active again with ``back``."""
    tier = organization.payment_tier
    _add_to_tier(session, organization.partner_id, tier, archived=-1 if back else 1)


def _add_to_tier(session: Session, partner_id: UUID, tier: Tier | None, **amounts: int) -> None:
    add(session, PartnerTier, {"partner_id": partner_id, "tier": tier or Tier.FREE}, amounts, {})


def add(
    session: Session,
    table: type[Base],
    key: Mapping[str, Any],
    amounts: Mapping[str, int],
    values: Mapping[str, Any],
) -> None:
    """Add to a row, or create it; ``values`` overwrite its columns."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    statement = _addition(table, tuple(key), tuple(amounts), tuple(values), is_sqlite=is_sqlite)
    session.execute(statement, {**key, **amounts, **values})


@cache
def _addition(
    table: type[Base],
    key: Sequence[str],
    amounts: Sequence[str],
    values: Sequence[str],
    *,
    is_sqlite: bool,
) -> Executable:
    """Return the statement of `add`, cached: building it takes several times as long as running
    it."""
    statement = (sqlite.insert if is_sqlite else postgresql.insert)(table)
    new, columns = statement.excluded, inspect(table).columns
    return statement.on_conflict_do_update(
        index_elements=key,
        set_={
            **{columns[name].name: columns[name] + new[columns[name].name] for name in amounts},
            **{name: new[name] for name in values},
        },
    )
