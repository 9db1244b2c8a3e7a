"""Subscriptions at Stripe: the plan follows them, and usage is charged to them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import requests
from sqlalchemy import select

from app.enums import Role, SubscriptionStatus, Tier
from app.errors import Conflict
from app.gateways.processors.base import CustomerSubscription
from app.gateways.processors.stripe import StripeProcessor
from app.jobs import follow_subscriptions, sell_plans
from app.jobs.context import WorkerContext
from app.models import AuditEntry, Checkout, Organization, Statement, Subscription, new_id
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.services import organizations, pricing
from app.services.billing import charges
from app.services.pricing import PlanTerms, checkouts, subscriptions
from app.services.pricing.accounts import AccountKeys
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.ports import free_port
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.stripe_server import KEY, StripeServer
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.worker_context import worker_context
from tests.jobs.test_sell_plans import connect, draft, publish, sold
from tests.matrix import rotating

backend = runs_on(rotating("database of subscriptions", BACKENDS))

EXPECTED_END = 1_800_000_000


@pytest.fixture
def tenant(context: WorkerContext) -> Tenant:
    """A partner that sells its Plus plan through Stripe."""
    with context.database.transaction() as session:
        tenant = make_tenant(session)
        connect(session, context, tenant, AccountKeys(KEY))
        session.expunge_all()
    draft(context, tenant, terms=PlanTerms(9_900, "USD"))
    publish(context, tenant)
    return tenant


def subscribe(
    context: WorkerContext, stripe: StripeServer, tenant: Tenant, price_id: str = ""
) -> UUID:
    """The organization's paid checkout, which began a subscription at Stripe."""
    customer = stripe.client.v1.customers.create({})
    wanted = {"customer": customer.id, "items": [{"price": price_id or sold(context, tenant)[1]}]}
    made = stripe.client.v1.subscriptions.create(wanted)
    with context.database.transaction() as session:
        checkout = Checkout(
            id=new_id(),
            partner_id=tenant.partner.id,
            organization_id=tenant.organization.id,
            tier=Tier.PLUS,
            back_url="http://localhost/plan",
        )
        session.add(checkout)
        subscriptions.begin(session, checkout, made.id)
        query = select(Subscription.id).where(Subscription.reference == made.id)
        subscription_id = session.scalars(query).one()
    choose(context, tenant, Tier.PLUS)
    return subscription_id


def choose(context: WorkerContext, tenant: Tenant, tier: Tier) -> None:
    with context.database.transaction() as session:
        change = read(UpdateOrganizationInput, {"paymentTier": tier.value})
        caller = tenant.caller(Role.PARTNER_ADMIN)
        organizations.update(session, caller, tenant.organization.id, change)


def become(context: WorkerContext, stripe: StripeServer, subscription_id: UUID, **now: Any) -> None:
    """Stripe changes the subscription, and the worker asks for it."""
    reference = stored(context, subscription_id).reference
    report(stripe, reference, **now)
    follow_subscriptions.follow(context, subscription_id)


def report(stripe: StripeServer, reference: str, **now: Any) -> None:
    """Change a subscription at Stripe."""
    url = f"{stripe.url}/twin/subscriptions/{reference}"
    requests.post(url, json=now, timeout=5).raise_for_status()


def stored(context: WorkerContext, subscription_id: UUID) -> Subscription:
    with context.database.transaction(read_only=True) as session:
        return session.get_one(Subscription, subscription_id)


def plan(context: WorkerContext, tenant: Tenant) -> Tier | None:
    with context.database.transaction(read_only=True) as session:
        return session.get_one(Organization, tenant.organization.id).payment_tier


def test_the_plan_becomes_free_when_the_subscription_ends(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    follow_subscriptions.follow(context, made)
    assert (plan(context, tenant), stored(context, made).status) == (
        Tier.PLUS,
        SubscriptionStatus.ACTIVE,
    )
    become(context, stripe, made, cancel_at=EXPECTED_END)
    ends_at = datetime.fromtimestamp(EXPECTED_END, UTC)
    assert (plan(context, tenant), stored(context, made).ends_at) == (Tier.PLUS, ends_at)
    become(context, stripe, made, status="past_due")
    assert (plan(context, tenant), stored(context, made).status) == (
        Tier.PLUS,
        SubscriptionStatus.OVERDUE,
    )
    for _repeated in range(2):
        become(context, stripe, made, status="canceled")
        assert plan(context, tenant) is Tier.FREE
    assert stored(context, made).ended_at is not None
    become(context, stripe, made, status="active")
    assert (plan(context, tenant), stored(context, made).ended_at) == (Tier.PLUS, None)
    with context.database.transaction(read_only=True) as session:
        query = select(AuditEntry).where(AuditEntry.action == "organization.subscription_changed")
        entries = session.scalars(query.order_by(AuditEntry.id)).all()
    assert [(entry.actor, entry.after) for entry in entries] == [
        ("Stripe", {"endsAt": ends_at.isoformat()}),
        ("Stripe", {"subscription": "overdue"}),
        ("Stripe", {"subscription": "ended"}),
        ("Stripe", {"subscription": "active"}),
    ]


def test_an_answer_that_comes_after_that_of_a_later_query_changes_nothing(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = subscribe(context, stripe, tenant)
    query = StripeProcessor.subscription

    def answer_late(account: StripeProcessor, reference: str) -> CustomerSubscription | None:
        answer = query(account, reference)
        monkeypatch.setattr(StripeProcessor, "subscription", query)
        become(context, stripe, made, status="canceled")
        return answer

    monkeypatch.setattr(StripeProcessor, "subscription", answer_late)
    follow_subscriptions.follow(context, made)
    assert (plan(context, tenant), stored(context, made).status) == (
        Tier.FREE,
        SubscriptionStatus.ENDED,
    )


def test_another_price_of_the_subscription_is_another_plan(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    draft(context, tenant, Tier.BASIC, terms=PlanTerms(2_900, "USD"))
    publish(context, tenant)
    with context.database.transaction(read_only=True) as session:
        plans = pricing.published(session, tenant.partner.id)
        basic = next(plan.price_id for plan in plans if plan.tier is Tier.BASIC)
    price = {"data": [{"price": {"object": "price", "id": basic}}]}
    become(context, stripe, made, items={"object": "list", **price})
    assert (plan(context, tenant), stored(context, made).tier) == (Tier.BASIC, Tier.BASIC)


def test_a_replaced_price_still_means_its_plan(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    before = sold(context, tenant)[1]
    draft(context, tenant, terms=PlanTerms(12_900, "USD"))
    publish(context, tenant)
    made = subscribe(context, stripe, tenant, price_id=before)
    follow_subscriptions.follow(context, made)
    assert (plan(context, tenant), stored(context, made).tier) == (Tier.PLUS, Tier.PLUS)


def test_a_plan_that_was_chosen_in_the_meantime_stays_when_the_subscription_ends(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    choose(context, tenant, Tier.BASIC)
    become(context, stripe, made, status="canceled")
    assert plan(context, tenant) is Tier.BASIC


def test_an_upgrade_ends_the_former_subscription_and_only_that(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    first, second = (subscribe(context, stripe, tenant) for _each in range(2))
    follow_subscriptions.follow(context, second)
    states = [stored(context, each).status for each in (first, second)]
    assert states == [SubscriptionStatus.ENDED, SubscriptionStatus.ACTIVE]
    assert plan(context, tenant) is Tier.PLUS
    assert stripe.client.v1.subscriptions.retrieve(stored(context, first).reference).status == (
        "canceled"
    )


def test_a_subscription_that_the_account_does_not_have_changes_nothing(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    with context.database.transaction() as session:
        session.get_one(Subscription, made).reference = "sub_of_another_account"
    follow_subscriptions.follow(context, made)
    assert (plan(context, tenant), stored(context, made).status) == (
        Tier.PLUS,
        SubscriptionStatus.ACTIVE,
    )


def test_a_lost_report_is_replaced_within_a_day(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    reference = stored(context, made).reference
    report(stripe, reference, status="canceled")
    follow_subscriptions.follow_due(context)
    assert plan(context, tenant) is Tier.PLUS
    with context.database.transaction() as session:
        session.get_one(Subscription, made).seen_at -= subscriptions.ASKED_AGAIN
    follow_subscriptions.follow_due(context)
    assert plan(context, tenant) is Tier.FREE


def test_without_an_answer_nothing_changes(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    with context.database.transaction() as session:
        connect(session, context, tenant, AccountKeys("rk_live_nobody_knows"))
    follow_subscriptions.follow(context, made)
    assert (plan(context, tenant), stored(context, made).status) == (
        Tier.PLUS,
        SubscriptionStatus.ACTIVE,
    )


def test_a_run_stops_after_one_request_if_stripe_is_silent(
    context: WorkerContext,
    tenant: Tenant,
    stripe: StripeServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Other periodic tasks wait for it, and each question waits for seconds."""
    for made in [subscribe(context, stripe, tenant) for _each in range(2)]:
        with context.database.transaction() as session:
            session.get_one(Subscription, made).seen_at -= subscriptions.ASKED_AGAIN
    for month in (9, 10):
        owe(context, tenant, 1_234, month)
    silent = f"http://127.0.0.1:{free_port()}"
    settings = settings_for(url_of(context.database), tmp_path, stripe_api_url=silent)
    with worker_context(settings) as cut_off:
        follow_subscriptions.follow_due(cut_off)
        follow_subscriptions.charge_due(cut_off)
    words = ("not followed", "not charged")
    message = [each.getMessage() for each in caplog.records]
    silence = "Stripe gave no answer: APIConnectionError"
    assert [each for each in message if any(word in each for word in words)] == [
        f"subscriptions were not followed: {silence}",
        f"usage was not charged: {silence}",
    ]


def test_a_customer_is_sent_to_the_invoices_at_stripe(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    member = tenant.caller(Role.STANDARD)
    with context.database.transaction() as session, pytest.raises(Conflict):
        checkouts.start_visit(session, member, "https://portal.test/plan")
    made = subscribe(context, stripe, tenant)
    follow_subscriptions.follow(context, made)
    with context.database.transaction() as session:
        begun = checkouts.start_visit(session, member, "https://portal.test/plan").id
    sell_plans.request_checkout_url(context, begun)
    with context.database.transaction(read_only=True) as session:
        customer = session.get_one(Subscription, made).customer
        url = checkouts.get(session, member, begun).url
    assert url == f"https://billing.stripe.test/{customer}?back=https://portal.test/plan"


def owe(context: WorkerContext, tenant: Tenant, extra: int, month: int = 10) -> UUID:
    """A closed statement with usage beyond the plan."""
    with context.database.transaction() as session:
        statement = Statement(
            id=new_id(),
            partner_id=tenant.partner.id,
            organization_id=tenant.organization.id,
            month=datetime(2026, month, 1, tzinfo=UTC).date(),
            tier=Tier.PLUS,
            plan_name="Plus",
            currency="USD",
            lines=[],
            total=9_900 + extra,
            settled=extra,
            charged_from=datetime(2026, 10, 1, tzinfo=UTC).date(),
            number=month - 3,
            closed_at=datetime.now(UTC),
            extra=extra,
        )
        session.add(statement)
        return statement.id


def charge_of(context: WorkerContext, statement_id: UUID) -> tuple[bool, str]:
    with context.database.transaction(read_only=True) as session:
        statement = session.get_one(Statement, statement_id)
        return bool(statement.invoice_item), statement.charge_problem


def items_of(stripe: StripeServer, customer: str) -> list[tuple[str, str, str, str]]:
    """The invoice items of a customer at Stripe."""
    added = requests.get(f"{stripe.url}/twin/invoiceitems", timeout=5).json()
    return [
        (each["subscription"], each["currency"], each["amount"], each["description"])
        for each in added
        if each["customer"] == customer
    ]


def lose_answer(context: WorkerContext, stripe: StripeServer, statement_id: UUID) -> None:
    """Forget an item that Stripe has, as when its answer is lost, and let a day pass."""
    with context.database.transaction() as session:
        session.get_one(Statement, statement_id).invoice_item = ""
    requests.post(f"{stripe.url}/twin/day-later", timeout=5).raise_for_status()


def test_usage_beyond_the_plan_is_added_to_the_next_invoice_once(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    follow_subscriptions.follow(context, made)
    statement_id = owe(context, tenant, 1_234)
    follow_subscriptions.charge_due(context)
    assert charge_of(context, statement_id) == (True, "")
    lose_answer(context, stripe, statement_id)
    follow_subscriptions.charge_due(context)
    assert charge_of(context, statement_id) == (True, "")
    subscription = stored(context, made)
    assert items_of(stripe, subscription.customer) == [
        (subscription.reference, "usd", "1234", "Usage in October 2026, statement 000007")
    ]


def test_two_statements_of_the_same_amount_are_both_charged(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    follow_subscriptions.follow(context, made)
    for month in (9, 10):
        owe(context, tenant, 500, month)
    follow_subscriptions.charge_due(context)
    amounts = [amount for _, _, amount, _ in items_of(stripe, stored(context, made).customer)]
    assert amounts == ["500", "500"]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_an_item_with_a_lost_answer_is_found_after_its_subscription_ended(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer, is_replaced: bool
) -> None:
    """Each subscription has a customer of its own."""
    made = subscribe(context, stripe, tenant)
    follow_subscriptions.follow(context, made)
    statement_id = owe(context, tenant, 700)
    follow_subscriptions.charge_due(context)
    lose_answer(context, stripe, statement_id)
    customers = [stored(context, made).customer]
    if is_replaced:
        following = subscribe(context, stripe, tenant)
        follow_subscriptions.follow(context, following)
        customers.append(stored(context, following).customer)
    else:
        become(context, stripe, made, status="canceled")
    follow_subscriptions.charge_due(context)
    assert charge_of(context, statement_id) == (True, "")
    assert [len(items_of(stripe, customer)) for customer in customers] == [1, 0][: len(customers)]


def test_usage_that_is_not_charged_says_why(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    made = subscribe(context, stripe, tenant)
    statement_id = owe(context, tenant, 500)
    reference = stored(context, made).reference
    report(stripe, reference, status="canceled")
    follow_subscriptions.charge_due(context)
    refused = "Stripe refused a change: This subscription is canceled."
    assert charge_of(context, statement_id) == (False, refused)
    follow_subscriptions.follow(context, made)
    follow_subscriptions.charge_due(context)
    assert charge_of(context, statement_id) == (False, charges.ENDED)


def test_usage_to_be_invoiced_is_not_charged_to_a_later_subscription(
    context: WorkerContext, tenant: Tenant, stripe: StripeServer
) -> None:
    become(context, stripe, subscribe(context, stripe, tenant), status="canceled")
    statement_id = owe(context, tenant, 500)
    follow_subscriptions.charge_due(context)
    later = subscribe(context, stripe, tenant)
    follow_subscriptions.follow(context, later)
    follow_subscriptions.charge_due(context)
    assert charge_of(context, statement_id) == (False, charges.ENDED)
    assert items_of(stripe, stored(context, later).customer) == []
