"""The effect of new prices on the statements of this month is shown before publishing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier, UsageUnit
from app.errors import Forbidden
from app.services.plans import price_effects as effects
from app.services.plans.price_effects import PriceChange, PriceEffects
from app.services.pricing import versions
from app.services.pricing.plans import EditedPlan, PlanTerms
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant
from tests.services.billing.conftest import SINCE, call, make_old_tenant, publish

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTES = PlanTerms(9_900, "USD", unit=UsageUnit.MINUTE, included=10, overage_micros=150_000)


@pytest.fixture(autouse=True)
def clock() -> Iterator[None]:
    with set_clock() as clock:
        clock.set("2026-11-20T12:00:00")
        yield


@pytest.fixture
def tenant(session: Session) -> Tenant:
    """An organization on Free, for nothing, and one on Plus with 20 minutes of 10 included."""
    tenant = make_old_tenant(session)
    publish(session, tenant, SINCE, PLUS=MINUTES, FREE=PlanTerms(0, "USD"))
    call(session, tenant.plus, NOW, 20 * 60)
    return tenant


def plans(session: Session, tenant: Tenant, **terms: PlanTerms) -> Sequence[EditedPlan]:
    published = versions.published(session, tenant.partner.id)
    by_tier = {Tier[name]: each for name, each in terms.items()}
    return [replace(plan, terms=by_tier.get(plan.tier, plan.terms)) for plan in published]


def effect(session: Session, tenant: Tenant, **terms: PlanTerms) -> PriceEffects | None:
    caller, changed = tenant.caller(Role.PARTNER_ADMIN), {Tier[name] for name in terms}
    wanted = plans(session, tenant, **terms)
    return effects.price_effects(session, caller, tenant.partner.id, wanted, changed)


def test_those_who_pay_more_and_less_are_named_with_the_largest_change_first(
    session: Session, tenant: Tenant
) -> None:
    cheaper, dearer = replace(MINUTES, included=100), PlanTerms(500, "USD")
    less = PriceChange(tenant.plus.id, tenant.plus.name, -1_500_000)
    more = PriceChange(tenant.organization.id, tenant.organization.name, 5_000_000)
    assert effect(session, tenant, PLUS=cheaper) == PriceEffects([less], "USD")
    both = effect(session, tenant, PLUS=cheaper, FREE=dearer)
    assert both == PriceEffects([more, less], "USD")
    assert (both.more, both.less) == ([more], [less])


def test_a_change_that_no_one_uses_changes_no_price(session: Session, tenant: Tenant) -> None:
    less = PriceChange(tenant.plus.id, tenant.plus.name, -1_500_000)
    free = replace(MINUTES, included=9, overage_micros=0)
    assert effect(session, tenant, PLUS=free) == PriceEffects([less], "USD")
    assert effect(session, tenant, BASIC=PlanTerms(1, "USD")) == PriceEffects([], "")


def test_other_currencies_and_too_many_organizations_say_nothing(
    session: Session, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert effect(session, tenant, PLUS=PlanTerms(9_900, "EUR")) is None
    monkeypatch.setattr(effects, "MAX_RATED", 0)
    assert effect(session, tenant, PLUS=PlanTerms(1, "USD")) is None


def test_only_roles_that_set_prices_read_their_effects(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_EDITOR)
    with pytest.raises(Forbidden):
        effects.price_effects(session, caller, tenant.partner.id, [], set())
