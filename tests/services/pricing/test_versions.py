"""The plans of a partner: edited in a draft, published as versions, and rated by them."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import BillingInterval, Role, Tier, UsageUnit
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, PlanVersion, utcnow
from app.services import partners, pricing
from app.services.pricing import EditedPlan, PlanChange, PlanTerms, versions
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

PLUS = EditedPlan(
    Tier.PLUS,
    "Growth",
    PlanTerms(
        14_900, "EUR", BillingInterval.YEAR, UsageUnit.MINUTE, 500, overage_micros=120_000,
        trial_days=14,
    ),
    ("500 minutes a month", "Priority support"),
)  # fmt: skip


def save(session: Session, tenant: Tenant, plan: EditedPlan = PLUS, **more: Any) -> pricing.PlanSet:
    return versions.save(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id, plan, **more
    )


def publish(session: Session, tenant: Tenant, **more: Any) -> PlanVersion:
    return versions.publish(session, tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id, **more)


def entries(session: Session, tenant: Tenant) -> list[tuple[str, str, str]]:
    partner = partners.get(session, OPERATOR, tenant.partner.id)
    pricing_now = partners.to_resource(partner, OPERATOR).pricing or []
    return [(e.tier.value, e.processor_price_id, e.processor_product_id) for e in pricing_now]


def terms(session: Session, tenant: Tenant, at: datetime | None = None) -> dict[Tier, PlanTerms]:
    return {plan.tier: plan.terms for plan in pricing.published(session, tenant.partner.id, at)}


def seen_by_customers(session: Session, tenant: Tenant) -> list[str]:
    return [plan.name for plan in pricing.published(session, tenant.partner.id) if plan.is_visible]


def test_before_the_first_version_the_terms_are_those_of_the_price_list(
    session: Session, tenant: Tenant
) -> None:
    assert terms(session, tenant) == {
        Tier.FREE: PlanTerms(0, "USD"),
        Tier.BASIC_TRIAL: PlanTerms(0, "USD"),
        Tier.BASIC: PlanTerms(2900, "USD"),
        Tier.PLUS: PlanTerms(9900, "USD"),
    }
    assert seen_by_customers(session, tenant) == []


def test_a_draft_changes_nothing_until_it_is_published(session: Session, tenant: Tenant) -> None:
    found = save(session, tenant)
    assert found.plans[-1] == PLUS
    assert terms(session, tenant)[Tier.PLUS] == PlanTerms(9900, "USD")
    version = publish(session, tenant)
    assert (version.number, terms(session, tenant)[Tier.PLUS]) == (1, PLUS.terms)
    assert seen_by_customers(session, tenant) == ["Growth"]


def test_publishing_writes_the_visible_plans_into_the_contracts_pricing(
    session: Session, tenant: Tenant
) -> None:
    save(session, tenant)
    publish(session, tenant)
    tier = "customerPlusPlan"
    assert entries(session, tenant) == [(tier, f"local_{tier}", f"local_{tier}")]
    options = pricing.options(session, tenant.caller(Role.ADMIN), tenant.partner.id)
    assert [option.model_dump(mode="json", by_alias=True) for option in options] == [
        {"cost": 149.0, "currency": "EUR", "paymentTier": tier, "name": "Growth"}
    ]


def test_the_differences_name_each_field_of_each_plan(session: Session, tenant: Tenant) -> None:
    found = save(session, tenant, replace(PLUS, terms=PlanTerms(9900, "EUR"), name="Plus"))
    assert found.changes == [
        PlanChange(Tier.PLUS, "currency", "USD", "EUR"),
        PlanChange(Tier.PLUS, "features", (), PLUS.features),
        PlanChange(Tier.PLUS, "is_visible", False, True),
    ]


def test_a_plan_moves_one_place(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    found = versions.move(session, caller, tenant.partner.id, Tier.PLUS, -1)
    order = [plan.tier for plan in found.plans]
    assert order == [Tier.FREE, Tier.BASIC_TRIAL, Tier.PLUS, Tier.BASIC]
    assert [(change.name, change.old, change.new) for change in found.changes] == [
        ("order", 4, 3),
        ("order", 3, 4),
    ]


def test_publishing_records_what_customers_see_change_in_each_plan(
    session: Session, tenant: Tenant
) -> None:
    save(session, tenant, PLUS)
    publish(session, tenant)
    dearer = replace(PLUS.terms, amount=PLUS.terms.amount + 1000)
    save(session, tenant, replace(PLUS, terms=dearer))
    publish(session, tenant)
    query = select(AuditEntry).where(AuditEntry.action == "pricing.plan_changed")
    entry = session.scalars(query.order_by(AuditEntry.id.desc())).first()
    assert entry
    assert (entry.target, entry.before, entry.after) == (
        "Growth",
        {"price": "149.00 EUR"},
        {"price": "159.00 EUR"},
    )


def test_a_draft_that_equals_the_published_plans_is_discarded(
    session: Session, tenant: Tenant
) -> None:
    before = pricing.published(session, tenant.partner.id)[-1]
    assert save(session, tenant).draft is not None
    assert save(session, tenant, before).draft is None


def test_a_save_over_changes_that_were_not_seen_is_refused(
    session: Session, tenant: Tenant
) -> None:
    seen = versions.current(session, tenant.caller(Role.ADMIN), tenant.partner.id).fingerprint
    save(session, tenant, expected_version=seen)
    with pytest.raises(Conflict) as refused:
        save(session, tenant, replace(PLUS, name="Other"), expected_version=seen)
    assert refused.value.code == "changed_meanwhile"
    with pytest.raises(Conflict):
        publish(session, tenant, expected_version=seen)


def test_one_price_id_is_refused_on_a_second_plan_with_the_name_of_the_first(
    session: Session, tenant: Tenant
) -> None:
    save(session, tenant, replace(PLUS, price_id="price_1", product_id="prod_1"))
    basic = EditedPlan(Tier.BASIC, "Basic", PlanTerms(2900, "USD"), price_id="price_1")
    with pytest.raises(ValidationFailed) as refused:
        save(session, tenant, basic)
    assert [(p.field, p.code, p.message) for p in refused.value.problems] == [
        (
            "priceId",
            "price_id_taken",
            "The plan “Growth” has this price ID. Each plan needs its own price.",
        )
    ]


def test_every_problem_of_a_plan_is_reported(session: Session, tenant: Tenant) -> None:
    terms = PlanTerms(
        -1, "XXX", unit=UsageUnit.CALL, included=-1, overage_micros=-1, trial_days=731
    )
    bad = EditedPlan(Tier.PLUS, "", terms, ("x",) * 13, price_id="p" * 201)
    with pytest.raises(ValidationFailed) as refused:
        save(session, tenant, bad)
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("name", "required"),
        ("currency", "invalid_value"),
        ("amount", "out_of_range"),
        ("included", "out_of_range"),
        ("overage", "out_of_range"),
        ("trialDays", "out_of_range"),
        ("features", "too_many"),
        ("priceId", "value_too_long"),
    ]


def test_a_month_is_rated_with_the_terms_that_applied_then(
    session: Session, tenant: Tenant
) -> None:
    save(session, tenant)
    first = publish(session, tenant)
    first.published_at = utcnow() - timedelta(days=40)
    save(session, tenant, replace(PLUS, terms=PlanTerms(19_900, "EUR")))
    publish(session, tenant)
    then = utcnow() - timedelta(days=30)
    assert terms(session, tenant, then)[Tier.PLUS] == PLUS.terms
    assert terms(session, tenant)[Tier.PLUS] == PlanTerms(19_900, "EUR")


def test_an_earlier_version_becomes_a_draft_again(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    save(session, tenant)
    publish(session, tenant)
    save(session, tenant, replace(PLUS, name="Scale"))
    publish(session, tenant)
    found = versions.roll_back(session, caller, tenant.partner.id, 1)
    assert [(c.name, c.old, c.new) for c in found.changes] == [("name", "Scale", "Growth")]
    with pytest.raises(Conflict) as refused:
        versions.roll_back(session, caller, tenant.partner.id, 1)
    assert refused.value.code == "draft_exists"
    versions.discard(session, caller, tenant.partner.id)
    assert [v.number for v in versions.history(session, caller, tenant.partner.id)] == [2, 1]
    with pytest.raises(NotFound):
        versions.roll_back(session, caller, tenant.partner.id, 3)


def test_editors_read_plans_and_change_none(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_EDITOR)
    assert versions.current(session, caller, tenant.partner.id).draft is None
    with pytest.raises(Forbidden):
        versions.save(session, caller, tenant.partner.id, PLUS)
    with pytest.raises(Forbidden):
        versions.publish(session, caller, tenant.partner.id)


def test_another_partners_plans_are_not_found(session: Session, tenant: Tenant) -> None:
    other_tenant = make_tenant(session, "Southbank")
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for attempt in (
        lambda: versions.current(session, caller, other_tenant.partner.id),
        lambda: versions.save(session, caller, other_tenant.partner.id, PLUS),
        lambda: versions.publish(session, caller, other_tenant.partner.id),
        lambda: versions.history(session, caller, other_tenant.partner.id),
    ):
        with pytest.raises(NotFound):
            attempt()
