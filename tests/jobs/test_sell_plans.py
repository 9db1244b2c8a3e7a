"""The worker and a partner's own Stripe account: the real SDK against a server like Stripe's."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.errors import Conflict, ValidationFailed
from app.gateways.processors.base import PriceReference, ProcessorRefused
from app.gateways.processors.stripe import PlanForSale, StripeProcessor
from app.jobs import sell_plans
from app.jobs.context import WorkerContext
from app.jobs.housekeeping import refresh_prices
from app.models import PlanVersion, ProcessorAccount, ProcessorCheck, ProcessorPrice, utcnow
from app.services import partners, pricing
from app.services.pricing import EditedPlan, PlanTerms, accounts, checkouts, selling, versions
from app.services.pricing.accounts import AccountKeys
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.stripe_server import KEY, StripeServer
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.matrix import rotating

backend = runs_on(rotating("database of sold plans", BACKENDS))


@pytest.fixture
def tenant(context: WorkerContext) -> Tenant:
    """A partner whose Stripe account is connected."""
    with context.database.transaction() as session:
        tenant = make_tenant(session)
        connect(session, context, tenant, AccountKeys(KEY))
        session.expunge_all()
        return tenant


def connect(
    session: Session, context: WorkerContext, tenant: Tenant, keys: AccountKeys
) -> ProcessorAccount:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    return accounts.save(
        session,
        caller,
        context.settings.secret_keys,
        tenant.partner.id,
        keys,
        may_connect=bool(context.settings.stripe_key),
    )


def draft(
    context: WorkerContext,
    tenant: Tenant,
    tier: Tier = Tier.PLUS,
    *,
    asked_at: datetime | None = None,
    **changes: Any,
) -> bool:
    """Whether the plan was saved: a new price id is first asked for."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    with context.database.transaction() as session:
        plan = drafted(session, tenant, tier)
        wanted = replace(plan, **{"is_visible": True, **changes})
        return selling.save(
            *(session, caller, tenant.partner.id, wanted), is_outside=False, asked_at=asked_at
        )


def drafted(session: Session, tenant: Tenant, tier: Tier = Tier.PLUS) -> EditedPlan:
    plans = versions.current(session, tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id).plans
    return next(plan for plan in plans if plan.tier is tier)


def pasted(context: WorkerContext, tenant: Tenant, price_id: str, **more: Any) -> bool:
    """Save a plan with the id until the worker has asked for it. Raises `ValidationFailed`."""
    began = utcnow()
    if draft(context, tenant, price_id=price_id, **more):
        return True
    sell_plans.fetch_price(context, tenant.partner.id, PriceReference(Tier.PLUS, price_id, ""))
    return draft(context, tenant, price_id=price_id, asked_at=began, **more)


def publish(context: WorkerContext, tenant: Tenant) -> None:
    """Publish the draft, and do what the worker then does."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    with context.database.transaction() as session:
        selling.publish(session, caller, tenant.partner.id, is_outside=False)
    sell_plans.sell(context, tenant.partner.id)


def sold(context: WorkerContext, tenant: Tenant) -> tuple[str, str]:
    """The ids of the Plus plan, the same in the version and in the contract's pricing."""
    with context.database.transaction(read_only=True) as session:
        plan = next(p for p in pricing.published(session, tenant.partner.id) if p.tier is Tier.PLUS)
        partner = partners.get(session, OPERATOR, tenant.partner.id)
        resource = partners.to_resource(partner, OPERATOR)
        ids = [(e.processor_product_id, e.processor_price_id) for e in resource.pricing or []]
        assert (plan.product_id, plan.price_id) in ids
        return plan.product_id, plan.price_id


def version(context: WorkerContext) -> PlanVersion:
    with context.database.transaction(read_only=True) as session:
        query = select(PlanVersion).order_by(PlanVersion.number.desc())
        return session.scalars(query).first() or pytest.fail("there is no version")


def test_published_plans_are_created_at_stripe_and_replaced_when_their_price_changes(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    draft(context, tenant, name="Growth", terms=PlanTerms(14900, "EUR"))
    publish(context, tenant)
    product_id, first = sold(context, tenant)
    price = stripe.client.v1.prices.retrieve(first)
    assert (price.unit_amount, price.currency, price.active) == (14900, "eur", True)
    assert version(context).sent_at is not None

    draft(context, tenant, terms=PlanTerms(19900, "EUR"))
    publish(context, tenant)
    same_product, second = sold(context, tenant)
    assert same_product == product_id
    assert second != first
    assert stripe.client.v1.prices.retrieve(first).active is False

    draft(context, tenant, is_visible=False)
    publish(context, tenant)
    assert stripe.client.v1.prices.retrieve(second).active is False


def test_the_default_price_of_a_product_is_replaced_and_archived_as_any_other(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    price = stripe.price("Plus", 9900, "usd", recurring={"interval": "month"})
    stripe.client.v1.products.update(price.product, {"default_price": price.id})
    assert pasted(context, tenant, price.id, product_id=str(price.product))
    publish(context, tenant)

    draft(context, tenant, terms=PlanTerms(12900, "USD"))
    publish(context, tenant)
    assert version(context).send_problem == ""
    product_id, replacement = sold(context, tenant)
    assert replacement != price.id
    assert stripe.client.v1.prices.retrieve(price.id).active is False
    assert stripe.client.v1.products.retrieve(product_id).default_price == replacement

    draft(context, tenant, is_visible=False)
    publish(context, tenant)
    assert version(context).send_problem == ""
    assert stripe.client.v1.prices.retrieve(replacement).active is False


def test_a_repeated_job_creates_nothing_twice(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    draft(context, tenant, terms=PlanTerms(100, "USD"))
    publish(context, tenant)
    before = sold(context, tenant)
    sell_plans.sell(context, tenant.partner.id)
    assert sold(context, tenant) == before
    prices = stripe.client.v1.prices.list({"product": before[0]})
    assert [price.id for price in prices.data] == [before[1]]


def test_a_draft_that_was_begun_before_stripe_answered_gets_the_ids(
    context: WorkerContext, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    draft(context, tenant, terms=PlanTerms(100, "USD"))
    with context.database.transaction() as session:
        selling.publish(session, caller, tenant.partner.id, is_outside=False)
    draft(context, tenant, name="Later")
    sell_plans.sell(context, tenant.partner.id)
    before = sold(context, tenant)
    publish(context, tenant)
    assert sold(context, tenant) == before


def test_a_late_answer_about_an_earlier_version_does_not_replace_newer_prices(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft(context, tenant, terms=PlanTerms(100, "USD"))
    publish(context, tenant)
    sell = StripeProcessor.sell

    def sell_slowly(account: StripeProcessor, sale: PlanForSale, key: str) -> tuple[str, str]:
        ids = sell(account, sale, key)
        monkeypatch.setattr(StripeProcessor, "sell", sell)
        draft(context, tenant, terms=PlanTerms(300, "USD"))
        publish(context, tenant)
        return ids

    draft(context, tenant, terms=PlanTerms(200, "USD"))
    monkeypatch.setattr(StripeProcessor, "sell", sell_slowly)
    publish(context, tenant)
    assert stripe.client.v1.prices.retrieve(sold(context, tenant)[1]).unit_amount == 300


def test_without_an_answer_the_plans_are_published_and_sent_again_on_request(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    with context.database.transaction() as session:
        connect(session, context, tenant, AccountKeys("rk_live_nobody_knows"))
    draft(context, tenant, terms=PlanTerms(100, "USD"))
    publish(context, tenant)
    refused = "Stripe refused the key. Check it, and that it may change products and prices."
    assert (version(context).sent_at, version(context).send_problem) == (None, refused)
    sell_plans.check_account(context, tenant.partner.id)
    with context.database.transaction() as session:
        account = session.get_one(ProcessorAccount, tenant.partner.id)
        assert (account.works, account.message) == (False, refused)
        connect(session, context, tenant, AccountKeys(KEY))
        selling.send_again(session, caller, tenant.partner.id)
    sell_plans.sell(context, tenant.partner.id)
    sell_plans.check_account(context, tenant.partner.id)
    assert version(context).send_problem == ""
    with context.database.transaction(read_only=True) as session:
        account = session.get_one(ProcessorAccount, tenant.partner.id)
        assert (account.works, account.message) == (True, "Stripe accepts the key.")
        assert KEY not in account.secret


def test_the_result_of_a_key_that_was_replaced_meanwhile_is_not_stored(
    context: WorkerContext, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace_and_refuse(_account: StripeProcessor) -> None:
        with context.database.transaction() as session:
            connect(session, context, tenant, AccountKeys(KEY))
        raise ProcessorRefused("Stripe refused the key.")

    monkeypatch.setattr(StripeProcessor, "check", replace_and_refuse)
    sell_plans.check_account(context, tenant.partner.id)
    with context.database.transaction(read_only=True) as session:
        account = session.get_one(ProcessorAccount, tenant.partner.id)
        assert account.is_running
        assert (account.works, account.message) == (None, "")


def test_a_pasted_id_is_saved_only_if_stripe_says_the_same(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    monthly = {"recurring": {"interval": "month"}}
    right = stripe.price("Plus", 9900, "usd", **monthly)
    other = stripe.price("Plus", 3500, "eur", **monthly)

    def refusal(price_id: str, **more: Any) -> tuple[str, str]:
        with pytest.raises(ValidationFailed) as refused:
            pasted(context, tenant, price_id, name="Not saved", **more)
        with context.database.transaction(read_only=True) as session:
            plan = drafted(session, tenant)
            assert (plan.name, plan.price_id) == ("Plus", "")
        return refused.value.problems[0].field, refused.value.message

    words = (
        "Stripe has no price on sale with the ID 35. Open the product in Stripe and copy the ID of "
        "its price."
    )
    assert refusal("35") == ("priceId", words)
    assert refusal(other.id) == (
        "priceId",
        f"{other.id} costs 35 EUR each month, the plan 99.00 USD each month.",
    )
    words = f"{right.id} belongs to the product {right.product}."
    assert refusal(right.id, product_id="prod_x") == ("priceId", words)
    assert pasted(context, tenant, right.id, product_id=str(right.product))
    with pytest.raises(ValidationFailed):
        draft(context, tenant, Tier.BASIC, price_id=right.id)
    sell_plans.refresh_partner(context, tenant.partner.id)
    publish(context, tenant)
    assert sold(context, tenant) == (right.product, right.id)


def test_a_pasted_price_without_a_product_keeps_its_own(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    price = stripe.price("Plus", 9900, "usd", recurring={"interval": "month"})
    assert pasted(context, tenant, price.id)
    publish(context, tenant)
    assert sold(context, tenant) == (price.product, price.id)
    assert stripe.client.v1.prices.retrieve(price.id).active is True


def test_an_id_that_stripe_did_not_know_is_checked_again(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    price = stripe.price("Plus", 9900, "usd", recurring={"interval": "month"})
    stripe.client.v1.prices.update(price.id, {"active": False})
    with pytest.raises(ValidationFailed):
        pasted(context, tenant, price.id)
    stripe.client.v1.prices.update(price.id, {"active": True})
    assert pasted(context, tenant, price.id)


def test_without_an_answer_a_pasted_id_is_not_saved(context: WorkerContext, tenant: Tenant) -> None:
    with context.database.transaction() as session:
        connect(session, context, tenant, AccountKeys("rk_live_nobody_knows"))
    assert pasted(context, tenant, "price_1") is False
    with pytest.raises(ValidationFailed) as refused:
        draft(context, tenant, price_id="price_1", asked_at=utcnow() - timedelta(minutes=1))
    assert refused.value.problems[0].code == "price_not_checked"
    with context.database.transaction(read_only=True) as session:
        assert drafted(session, tenant).price_id == ""


def test_a_price_that_was_archived_before_its_plan_is_published_is_refused(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    price = stripe.price("Plus", 9900, "usd", recurring={"interval": "month"})
    assert pasted(context, tenant, price.id)
    stripe.client.v1.prices.update(price.id, {"active": False})
    sell_plans.refresh_partner(context, tenant.partner.id)
    with pytest.raises(ValidationFailed) as refused:
        publish(context, tenant)
    assert refused.value.message.startswith(
        f"Plus: Stripe has no price on sale with the ID {price.id}."
    )


def test_a_price_that_was_archived_at_stripe_is_no_longer_the_same(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    draft(context, tenant, terms=PlanTerms(700, "USD"))
    publish(context, tenant)
    with context.database.transaction(read_only=True) as session:
        published = pricing.published(session, tenant.partner.id)
        states = selling.states(session, tenant.partner.id, published)
        assert {tier: state.problem for tier, state in states.items()} == {Tier.PLUS: None}
    stripe.client.v1.prices.update(sold(context, tenant)[1], {"active": False})
    sell_plans.refresh_partner(context, tenant.partner.id)
    with context.database.transaction(read_only=True) as session:
        found = selling.states(session, tenant.partner.id, published)[Tier.PLUS].problem
        assert found is not None
        assert found.code == "price_unknown"


def test_prices_of_a_connected_partner_are_refreshed_with_its_own_key(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer, caplog: pytest.LogCaptureFixture
) -> None:
    draft(context, tenant, terms=PlanTerms(800, "USD"))
    publish(context, tenant)
    key = (tenant.partner.id, sold(context, tenant)[1])
    with context.database.transaction() as session:
        session.delete(session.get_one(ProcessorPrice, key))
        session.delete(session.get_one(ProcessorCheck, key))
    refresh_prices()
    with context.database.transaction(read_only=True) as session:
        assert session.get_one(ProcessorPrice, key).cost == 8
    with caplog.at_level(logging.WARNING):
        refresh_prices()
    assert caplog.text == ""


def test_a_checkout_is_opened_and_its_payment_counts_once(
    context: WorkerContext, tenant: Tenant
) -> None:
    member = tenant.caller(Role.STANDARD)
    with context.database.transaction() as session, pytest.raises(Conflict):
        checkouts.start_checkout(session, member, Tier.PLUS, "https://portal.test/plan")
    draft(context, tenant, terms=PlanTerms(900, "USD", trial_days=7))
    publish(context, tenant)
    with context.database.transaction() as session:
        begun = checkouts.start_checkout(session, member, Tier.PLUS, "https://portal.test/plan").id
    sell_plans.request_checkout_url(context, begun)
    sell_plans.request_checkout_url(context, begun)
    with context.database.transaction() as session:
        checkout = checkouts.get(session, member, begun)
        assert checkout.url.startswith("https://checkout.stripe.test/cs_test_")
        other = UUID(int=1)
        assert checkouts.mark_paid(session, other, str(begun)) is None
        assert checkouts.mark_paid(session, tenant.partner.id, "no id") is None
        assert checkouts.mark_paid(session, tenant.partner.id, str(begun)) is checkout
        assert checkouts.mark_paid(session, tenant.partner.id, str(begun)) is None
