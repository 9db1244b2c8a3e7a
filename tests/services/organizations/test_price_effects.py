"""The effect of another plan on the price of this month is shown before it is chosen."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier, UsageUnit
from app.errors import Forbidden, NotFound
from app.services import organizations
from app.services.pricing.plans import PlanTerms
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant, make_tenant
from tests.services.billing.conftest import SINCE, call, make_old_tenant, publish

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
WHOLE_MONTH = "The new plan counts for the whole month."
ENDED = (
    "to-know: The free trial of Basic ended on 18\u00a0Nov\u00a02026. "
    "It began when the organization was added."
)
FREE = (
    "to-know: Basic is free until 9\u00a0Dec\u00a02026, the last day of its free trial. "
    "The trial began when the organization was added."
)


@pytest.fixture(autouse=True)
def clock() -> Iterator[None]:
    with set_clock() as clock:
        clock.set("2026-11-20T12:00:00")
        yield


@pytest.fixture
def tenant(session: Session) -> Tenant:
    """Plus includes 1,000 minutes, Basic 10 and Free has calls without a price."""
    tenant = make_old_tenant(session)
    terms = PlanTerms(9_900, "USD", unit=UsageUnit.MINUTE, included=1_000, overage_micros=150_000)
    basic = replace(terms, amount=2_900, included=10)
    publish(session, tenant, SINCE, PLUS=terms, BASIC=basic)
    return tenant


def effect_sentences(session: Session, tenant: Tenant, tier: Tier | None) -> list[str]:
    caller = tenant.caller(Role.ADMIN)
    found = organizations.price_effects(session, caller, tenant.plus.id, tier)
    return [f"{effect.weight}: {effect.message}" for effect in found]


def test_a_smaller_plan_that_costs_more_this_month_warns(session: Session, tenant: Tenant) -> None:
    call(session, tenant.plus, NOW, 800 * 60)
    assert effect_sentences(session, tenant, Tier.BASIC) == [
        "takes: The price of this month so far changes from $99.00 to $147.50. " + WHOLE_MONTH,
        "takes: 800 minutes are used this month; Basic includes 10.",
    ]


def test_a_smaller_plan_that_costs_less_says_so(session: Session, tenant: Tenant) -> None:
    call(session, tenant.plus, NOW, 30)
    assert effect_sentences(session, tenant, Tier.BASIC) == [
        "to-know: The price of this month so far changes from $99.00 to $29.00. " + WHOLE_MONTH,
        "to-know: 1 minute is used this month; Basic includes 10.",
    ]


def test_a_plan_without_usage_says_only_its_price(session: Session, tenant: Tenant) -> None:
    assert effect_sentences(session, tenant, Tier.FREE) == [
        "to-know: The price of this month so far changes from $99.00 to $0.00. " + WHOLE_MONTH
    ]


@pytest.mark.parametrize("tier", [None, Tier.PLUS])
def test_the_same_plan_changes_no_price(
    session: Session, tenant: Tenant, tier: Tier | None
) -> None:
    assert effect_sentences(session, tenant, tier) == []


def test_only_roles_that_change_plans_ask(session: Session, tenant: Tenant) -> None:
    strangers = make_tenant(session, "Stranger")
    for caller, refusal in (
        (tenant.caller(Role.PARTNER_EDITOR), Forbidden),
        (strangers.caller(Role.ADMIN), NotFound),
    ):
        with pytest.raises(refusal):
            organizations.price_effects(session, caller, tenant.plus.id, Tier.BASIC)


def test_a_plan_with_a_free_trial_says_until_when_it_is_free(
    session: Session, tenant: Tenant
) -> None:
    terms = PlanTerms(2_900, "USD", trial_days=30)
    publish(session, tenant, SINCE, BASIC=terms)
    tenant.plus.created_at = datetime(2026, 11, 10, tzinfo=UTC)
    assert effect_sentences(session, tenant, Tier.BASIC) == [
        "to-know: The price of this month so far changes from $69.30 to $0.00. " + WHOLE_MONTH,
        FREE,
    ]
    tenant.plus.created_at = datetime(2026, 10, 20, tzinfo=UTC)
    assert effect_sentences(session, tenant, Tier.BASIC)[1:] == [ENDED]
