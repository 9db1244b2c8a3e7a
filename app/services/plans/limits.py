"""The limits that a partner's plans set for every organization on them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.errors import Problem, check_version, raise_problems
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Partner, PlanLimit, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, pricing
from app.services.partners.loading import get
from app.services.postponed_calls import request_rescheduling

MAX_CONCURRENT_CALLS = 1000
MAX_PER_DAY = 1_000_000


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """The limits of a plan for each organization on it; None means no limit."""

    calls_at_once: int | None = None
    calls_a_day: int | None = None

    def audit_values(self) -> dict[str, int | None]:
        return {"maxCallsAtOnce": self.calls_at_once, "maxCallsADay": self.calls_a_day}


def allowances(session: Session, caller: Caller, partner_id: UUID) -> dict[Tier, PlanLimits]:
    """Return every plan with its limits. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.PRICING_READ)
    partner = get(session, caller, partner_id)
    stored = _stored_limits(session, partner)
    return {tier: _to_plan_limits(stored.get(tier)) for tier in Tier}


def set_allowances(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    new_limits: Mapping[Tier, PlanLimits],
    *,
    expected_version: int | None = None,
) -> list[Tier]:
    """Set both limits of the named plans, from the next call on; return the plans that this
    changes.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``, at fields such as
    ``customerFreePlan.callsADay``) and `Conflict` (``changed_meanwhile``).
    """
    caller.require(Permission.PARTNER_WRITE)
    partner = get(session, caller, partner_id, for_change=True)
    check(new_limits)
    stored = _stored_limits(session, partner)
    names = pricing.names(session, partner.id)
    changed = [tier for tier in new_limits if _to_plan_limits(stored.get(tier)) != new_limits[tier]]
    if changed:
        check_version(expected_version, partner.version, "partner")
    for tier in changed:
        before, allowance = _to_plan_limits(stored.get(tier)), new_limits[tier]
        limit = stored.get(tier)
        if limit is None:
            limit = PlanLimit(partner_id=partner.id, tier=tier)
            session.add(limit)
        limit.max_calls_at_once = allowance.calls_at_once
        limit.max_calls_a_day = allowance.calls_a_day
        audit.record_change(
            session,
            caller,
            "partner.plan_limited",
            partner,
            target=names[tier],
            before=before.audit_values(),
            after={"paymentTier": tier, **allowance.audit_values()},
        )
    if changed:
        partner.version += 1
        partner.updated_at = utcnow()
    session.flush()
    if changed:
        request_rescheduling(session, partner.id)
    return changed


def check(new_limits: Mapping[Tier, PlanLimits]) -> None:
    """Raise `ValidationFailed` with all limits that are out of range."""
    raise_problems(_problems(new_limits))


def _stored_limits(session: Session, partner: Partner) -> dict[Tier, PlanLimit]:
    query = select(PlanLimit).where(PlanLimit.partner_id == partner.id)
    return {limit.tier: limit for limit in session.scalars(query)}


def _to_plan_limits(limit: PlanLimit | None) -> PlanLimits:
    return PlanLimits(limit.max_calls_at_once, limit.max_calls_a_day) if limit else PlanLimits()


def _problems(new_limits: Mapping[Tier, PlanLimits]) -> Iterator[Problem]:
    for tier, allowance in new_limits.items():
        for name, value, maximum in (
            ("callsAtOnce", allowance.calls_at_once, MAX_CONCURRENT_CALLS),
            ("callsADay", allowance.calls_a_day, MAX_PER_DAY),
        ):
            if value is not None and not 1 <= value <= maximum:
                message = gettext(
                    "A limit is a whole number from 1 to %(most)s.", most=localize_number(maximum)
                )
                yield Problem(f"{tier.value}.{name}", "out_of_range", message)
