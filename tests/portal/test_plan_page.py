"""The plans as members see them, with what their organization used of its plan."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier, UsageUnit
from app.models import User, utcnow
from app.services import rollup
from app.services.pricing import PlanTerms, versions
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_pricing import cards, words

SignedIn = Callable[[User], Browser]


@pytest.fixture
def published(session: Session, own: Tenant) -> None:
    """A Basic and a Plus plan; the user's organization is on Basic."""
    caller = own.caller(Role.PARTNER_ADMIN)
    for plan in versions.current(session, caller, own.partner.id).plans:
        if plan.tier in (Tier.BASIC, Tier.PLUS):
            terms = replace(plan.terms, unit=UsageUnit.MINUTE, included=10, overage_micros=125_000)
            wanted = replace(plan, terms=terms, is_visible=True, features=("Fast help",))
            versions.save(session, caller, own.partner.id, wanted)
    versions.publish(session, caller, own.partner.id)
    own.organization.payment_tier = Tier.BASIC
    own.partner.purchase_link = "https://shop.example/plans"
    session.commit()


def used(session: Session, own: Tenant, minutes: int) -> None:
    """Three calls of so many minutes together."""
    rollup.add_billing(
        session,
        partner_id=own.partner.id,
        organization_id=own.organization.id,
        campaign_id=None,
        day=utcnow().date(),
        currency="USD",
        calls=3,
        minutes=minutes,
    )
    session.commit()


@pytest.mark.usefixtures("published")
def test_a_member_sees_the_plans_its_own_and_the_usage(
    own: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, own, 6)
    page = signed_in(own.user).get("/plan").text
    assert "You are on Basic." in page
    assert "Minutes of answered calls 6 of 10 Further usage costs $0.125 a minute." in words(page)
    basic, plus = cards(page)
    assert basic == (
        "Basic Your plan $29 a month 10 minutes a month included, then $0.125 a minute Fast help"
    )
    assert plus.endswith("Fast help Upgrade to Plus")
    assert 'href="https://shop.example/plans"' in page


@pytest.mark.usefixtures("published")
def test_usage_beyond_the_plan_is_named_with_its_price(
    own: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, own, 15)
    page = words(signed_in(own.user).get("/plan").text)
    assert "15 of 10 5 more than your plan includes, at $0.125 a minute." in page


def test_without_metered_usage_the_price_covers_all_calls(
    own: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, own, 3)
    page = words(signed_in(own.user).get("/plan").text)
    assert "Your plan's price covers all of your calls." in page


def test_a_trial_plan_without_price_is_counted_by_calls(
    own: Tenant, signed_in: SignedIn, session: Session
) -> None:
    caller = own.caller(Role.PARTNER_ADMIN)
    trial = versions.current(session, caller, own.partner.id).plans[1]
    terms = PlanTerms(0, "USD", unit=UsageUnit.CALL, included=2)
    versions.save(session, caller, own.partner.id, replace(trial, terms=terms))
    versions.publish(session, caller, own.partner.id)
    own.organization.payment_tier = Tier.BASIC_TRIAL
    used(session, own, 3)
    page = words(signed_in(own.user).get("/plan").text)
    assert "Answered calls 3 of 2 1 more than your plan includes." in page


@pytest.mark.usefixtures("published")
def test_the_staff_see_the_plans_as_a_preview(own: Tenant, signed_in: SignedIn) -> None:
    page = signed_in(own.staff[Role.PARTNER_EDITOR]).get("/plan").text
    assert "Preview: your customers see these plans." in page
    assert len(cards(page)) == 2
    assert "Used this month" not in page
