"""The effects of publishing other prices on the statements of this month."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.models import PLAN, Organization
from app.policy import Permission
from app.policy.caller import Caller
from app.services.billing import statements
from app.services.billing.rating import in_micros
from app.services.plans.effects import on_plans
from app.services.pricing.plans import EditedPlan
from app.services.tenancy import visible_organizations

MAX_RATED = 500
"""Maximum organizations on the changed plans for which effects are computed: each of them is rated
twice."""


@dataclass(frozen=True, slots=True)
class PriceChange:
    """The change of the price of an organization's month so far, in millionths of the currency."""

    id: UUID
    name: str
    micros: int


@dataclass(frozen=True, slots=True)
class PriceEffects:
    """The organizations whose price of this month so far changes, largest changes first."""

    changes: Sequence[PriceChange]
    currency: str

    @property
    def more(self) -> Sequence[PriceChange]:
        return [change for change in self.changes if change.micros > 0]

    @property
    def less(self) -> Sequence[PriceChange]:
        return [change for change in self.changes if change.micros < 0]


def price_effects(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    plans: Sequence[EditedPlan],
    changed: set[Tier],
) -> PriceEffects | None:
    """Return the effect of the plans on organizations on the ``changed`` ones; None if there are
    more than `MAX_RATED`, or if prices are in several currencies.

    Raises `Forbidden`, `NotFound`.
    """
    caller.require(Permission.PARTNER_WRITE)
    counts = on_plans(session, caller, partner_id)
    concerned = sum(counts[tier] for tier in changed)
    if concerned > MAX_RATED:
        return None
    if not concerned:
        return PriceEffects([], "")
    query = visible_organizations(caller).where(
        Organization.partner_id == partner_id,
        Organization.status != OrganizationStatus.ARCHIVED,
        PLAN.in_(changed),
    )
    organizations = session.scalars(query).all()
    before = statements.as_if(session, organizations)
    after = statements.as_if(session, organizations, plans=plans)
    currencies = {bill.currency for bills in (before, after) for bill in bills.values()}
    if len(currencies) > 1:
        return None
    currency = next(iter(currencies), "")
    changes = [
        PriceChange(each.id, each.name, in_micros(difference, currency))
        for each in organizations
        if (difference := after[each.id].total - before[each.id].total)
    ]
    return PriceEffects(sorted(changes, key=lambda change: -abs(change.micros)), currency)
