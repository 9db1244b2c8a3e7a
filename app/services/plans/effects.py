"""The effects of other plan limits, in sentences, before they are saved."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight
from app.enums import CallStatus, Tier
from app.languages import gettext, ngettext
from app.languages.numbers import localize_number
from app.models import PLAN, Call, CallAttempt, Organization, PartnerTier, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import pricing
from app.services.calls.limits import PLAN_USED_UP
from app.services.calls.states import takes_slot
from app.services.organizations.effects import (
    ChangeEffect,
    EffectWeight,
    calls_allowed,
    takes_calls,
)
from app.services.partners.loading import get
from app.services.plans.limits import PlanLimits, allowances


def on_plans(session: Session, caller: Caller, partner_id: UUID) -> dict[Tier, int]:
    """Return how many organizations each plan has, without archived ones."""
    caller.require(Permission.PRICING_READ)
    partner = get(session, caller, partner_id)
    plans = session.scalars(select(PartnerTier).where(PartnerTier.partner_id == partner.id))
    counts = {plan.tier: plan.organizations - plan.archived for plan in plans}
    return {tier: counts.get(tier, 0) for tier in Tier}


def effects(
    session: Session, caller: Caller, partner_id: UUID, new_limits: Mapping[Tier, PlanLimits]
) -> list[ChangeEffect]:
    """Return what `set_allowances` would change, empty if the limits are the same; writes
    nothing."""
    caller.require(Permission.PARTNER_WRITE)
    partner = get(session, caller, partner_id)
    now, counts = allowances(session, caller, partner.id), on_plans(session, caller, partner.id)
    names = pricing.localized_names(session, partner.id)
    all_effects: list[ChangeEffect] = []
    for tier, allowance in new_limits.items():
        name, count = names[tier], counts[tier]
        old, new = now[tier].calls_at_once, allowance.calls_at_once
        if new != old:
            more = (
                _busy_message(session, partner.id, tier, new)
                if takes_calls(old, new) and new
                else ""
            )
            all_effects.append(_effect(name, "at once", old, new, count, more))
        old, new = now[tier].calls_a_day, allowance.calls_a_day
        if new != old:
            more = (
                _used_up_message(session, partner.id, tier, new)
                if takes_calls(old, new) and new
                else _waiting_message(session, partner.id, tier)
            )
            all_effects.append(_effect(name, "a day", old, new, count, more))
    return all_effects


def _effect(
    name: str, kind: str, old: int | None, new: int | None, organizations: int, more: str
) -> ChangeEffect:
    change = calls_allowed(name, kind, old, new)
    organizations_message = _organizations_message(organizations)
    weight = EffectWeight.GIVES
    if not organizations:
        weight = EffectWeight.TO_KNOW
    elif takes_calls(old, new):
        weight = EffectWeight.TAKES
    return ChangeEffect(" ".join(filter(None, (change, organizations_message, more))), weight)


def _organizations_message(organizations: int) -> str:
    if not organizations:
        return gettext("No organization is on it.")
    return ngettext(
        "%(num)s organization is on it.", "%(num)s organizations are on it.", organizations
    )


def _busy_message(session: Session, partner_id: UUID, tier: Tier, limit: int) -> str:
    """Return organizations with more active calls than would be allowed."""
    under_way = (
        select(Call.organization_id)
        .where(takes_slot(), Call.organization_id.in_(_on_plan(partner_id, tier)))
        .group_by(Call.organization_id)
        .having(func.count() > limit)
    )
    count = _count_organizations(session, under_way)
    if not count:
        return ""
    return ngettext(
        "%(num)s of them has more in progress now. Those continue, and more calls wait.",
        "%(num)s of them have more in progress now. Those continue, and more calls wait.",
        count,
    )


def _used_up_message(session: Session, partner_id: UUID, tier: Tier, limit: int) -> str:
    """Return organizations that have made as many calls today as would be allowed, or more."""
    today = (
        select(CallAttempt.organization_id)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            CallAttempt.started_at >= midnight(utcnow().date()),
            CallAttempt.organization_id.in_(_on_plan(partner_id, tier)),
            Call.live.is_(True),
        )
        .group_by(CallAttempt.organization_id)
        .having(func.count() >= limit)
    )
    count = _count_organizations(session, today)
    if not count:
        return ""
    return ngettext(
        "%(num)s of them has made %(most)s or more today: more calls wait until midnight UTC.",
        "%(num)s of them have made %(most)s or more today: more calls wait until midnight UTC.",
        count,
        most=localize_number(limit),
    )


def _waiting_message(session: Session, partner_id: UUID, tier: Tier) -> str:
    """Return how many calls the current limit has postponed, which a higher one would move to an
    earlier time."""
    waiting = session.scalar(
        select(func.count()).where(
            Call.organization_id.in_(_on_plan(partner_id, tier)),
            Call.status == CallStatus.SCHEDULED,
            Call.status_detail == PLAN_USED_UP,
        )
    )
    if not waiting:
        return ""
    return ngettext(
        "%(num)s call waits for tomorrow. As many as the new limit allows are placed today.",
        "%(num)s calls wait for tomorrow. As many as the new limit allows are placed today.",
        waiting,
    )


def _on_plan(partner_id: UUID, tier: Tier) -> Select[UUID]:
    return select(Organization.id).where(Organization.partner_id == partner_id, PLAN.in_([tier]))


def _count_organizations(session: Session, organizations: Select[UUID]) -> int:
    return session.scalar(select(func.count()).select_from(organizations.subquery())) or 0
