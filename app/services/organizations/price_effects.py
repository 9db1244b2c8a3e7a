"""The effect of another plan on the price of this month, in sentences, before it is chosen."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Tier, UsageUnit
from app.languages import gettext, ngettext
from app.languages.dates import format_local_date
from app.languages.numbers import localize_number
from app.models import utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.organizations import UpdateOrganizationInput
from app.services.billing import statements
from app.services.billing.rating import StatementLine, in_micros
from app.services.billing.statements import Bill
from app.services.money_format import micros
from app.services.organizations.effects import ChangeEffect, EffectWeight, effects
from app.services.organizations.loading import get


def plan_effects(
    session: Session, caller: Caller, organization_id: UUID, changes: UpdateOrganizationInput
) -> list[ChangeEffect]:
    """Return the effects of a plan and limits, with their price. Raises `Forbidden` and
    `NotFound`."""
    limit_effects = effects(
        session,
        caller,
        organization_id,
        tier=changes.payment_tier,
        assistant_limit=changes.assistant_limit or 0,
        user_limit=changes.user_limit or 0,
    )
    return limit_effects + price_effects(session, caller, organization_id, changes.payment_tier)


def price_effects(
    session: Session, caller: Caller, organization_id: UUID, tier: Tier | None
) -> list[ChangeEffect]:
    """Return how the price of this month so far changes with the plan, which counts for the whole
    month, until when it is or was free, and what is used of it already; nothing without another
    plan.

    Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = get(session, caller, organization_id)
    if tier is None or tier is organization.payment_tier:
        return []
    before = statements.as_if(session, [organization])[organization.id]
    after = statements.as_if(session, [organization], tier=tier)[organization.id]
    if before.tier is after.tier:
        return []
    price_changes = [ChangeEffect(_price_message(before, after), _weight(before, after))]
    if after.charged_from > organization.created_at.date():
        price_changes.append(ChangeEffect(_free_trial_message(after), EffectWeight.TO_KNOW))
    if after.usage and (after.usage.included or after.usage.unit_micros):
        is_beyond = bool(after.usage.charged and after.usage.unit_micros)
        weight = EffectWeight.TAKES if is_beyond else EffectWeight.TO_KNOW
        price_changes.append(ChangeEffect(_use_message(after.plan_label, after.usage), weight))
    return price_changes


def _price_message(before: Bill, after: Bill) -> str:
    values = {"before": _format_total(before), "after": _format_total(after)}
    if values["before"] == values["after"]:
        return gettext(
            "The price of this month so far stays %(after)s. The new plan counts for the whole "
            "month.",
            **values,
        )
    return gettext(
        "The price of this month so far changes from %(before)s to %(after)s. The new plan counts "
        "for the whole month.",
        **values,
    )


def _free_trial_message(bill: Bill) -> str:
    day = format_local_date(bill.charged_from - timedelta(days=1), "yMMMd")
    if bill.charged_from <= utcnow().date():
        return gettext(
            "The free trial of %(plan)s ended on %(day)s. It began when the organization was "
            "added.",
            plan=bill.plan_label,
            day=day,
        )
    return gettext(
        "%(plan)s is free until %(day)s, the last day of its free trial. The trial began when the "
        "organization was added.",
        plan=bill.plan_label,
        day=day,
    )


def _format_total(bill: Bill) -> str:
    return micros(in_micros(bill.total, bill.currency), bill.currency)


def _weight(before: Bill, after: Bill) -> EffectWeight:
    rises = before.currency == after.currency and after.total > before.total
    return EffectWeight.TAKES if rises else EffectWeight.TO_KNOW


def _use_message(plan: str, usage: StatementLine) -> str:
    values: dict[str, object] = {"plan": plan, "included": localize_number(usage.included)}
    if usage.unit == UsageUnit.MINUTE:
        return ngettext(
            "%(num)s minute is used this month; %(plan)s includes %(included)s.",
            "%(num)s minutes are used this month; %(plan)s includes %(included)s.",
            usage.used,
            **values,
        )
    return ngettext(
        "%(num)s call is used this month; %(plan)s includes %(included)s.",
        "%(num)s calls are used this month; %(plan)s includes %(included)s.",
        usage.used,
        **values,
    )
