"""The plans as members see them, with what their organization used of its plan."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of
from app.database import Database
from app.enums import OrganizationStatus, Role, SubscriptionStatus, Tier, UsageUnit
from app.languages.dates import standalone_month
from app.models import Checkout, PartnerTier, PlanVersion, Statement, Subscription, User, utcnow
from app.portal.pricing.labels import upgrade_url
from app.portal.web.formats import day
from app.services import rollup
from app.services.billing import closing
from app.services.billing.months import CLOSING
from app.services.pricing import PlanTerms, accounts, versions
from app.services.pricing.accounts import AccountKeys
from tests.fixtures.clock import set_clock
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, converse, make_user, organization_of
from tests.portal.conftest import Browser
from tests.portal.test_pricing import cards, words

SignedIn = Callable[[User], Browser]
NOON = datetime(2026, 11, 4, 12, tzinfo=UTC)


@pytest.fixture
def published_plans(session: Session, tenant: Tenant) -> None:
    """A Basic and a Plus plan; the user's organization is on Basic."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for plan in versions.current(session, caller, tenant.partner.id).plans:
        if plan.tier in (Tier.BASIC, Tier.PLUS):
            terms = replace(plan.terms, unit=UsageUnit.MINUTE, included=10, overage_micros=125_000)
            wanted = replace(plan, terms=terms, is_visible=True, features=("Fast help",))
            versions.save(session, caller, tenant.partner.id, wanted)
    versions.publish(session, caller, tenant.partner.id)
    tenant.organization.payment_tier = Tier.BASIC
    tenant.partner.purchase_link = "https://shop.example/plans"
    session.commit()


def used(session: Session, tenant: Tenant, minutes: int) -> None:
    """Three calls of this many minutes in total."""
    rollup.add_billing(
        session,
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        campaign_id=None,
        day=utcnow().date(),
        currency="USD",
        calls=3,
        minutes=minutes,
    )
    session.commit()


def close_month(session: Session) -> None:
    while closing.close_due(session, end_of(month_of(utcnow().date())) + CLOSING):
        session.commit()


@pytest.mark.usefixtures("published_plans")
def test_a_member_sees_all_plans_the_current_one_and_the_usage(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 6)
    page = signed_in(tenant.user).get("/plan").text
    assert "Your plan Basic $29 a month This month so far $" in words(page)
    assert "Billed minutes 6 of 10 minutes Further usage costs $0.125 a minute." in words(page)
    overview = words(signed_in(tenant.user).get("/").text)
    assert "Your plan Basic Billed minutes 6 of 10 Assistants" in overview
    basic, plus = cards(page)
    assert basic == (
        "Basic Your plan $29 a month 10 minutes a month included, then $0.125 a minute Fast help"
    )
    assert plus.endswith("Fast help Upgrade to Plus, in a new tab")
    link = (
        '<a class="btn btn-primary" href="https://shop.example/plans?plan=customerPlusPlan" '
        'target="_blank" rel="noopener">'
    )
    assert link in page
    assert "Limits Assistants 1 of 1 assistant All of them are in use. Users" in words(page)
    assert "You are billed by monthly statement. View statement" in words(page)


@pytest.mark.usefixtures("published_plans")
def test_without_an_upgrade_page_a_higher_plan_is_asked_for_by_email(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    tenant.partner.purchase_link, tenant.partner.support_email = None, "help@northwind.example"
    session.commit()
    page = signed_in(tenant.user).get("/plan").text
    basic, plus = cards(page)
    assert "Ask for this plan" not in basic
    assert plus.endswith("Ask for this plan : Plus, by email")
    subject = quote(f"{tenant.organization.name} asks for the plan Plus")
    assert f'href="mailto:help@northwind.example?subject={subject}"' in page
    assert page.count("View statement") == 1


def test_a_plan_is_added_to_the_address_of_the_upgrade_page() -> None:
    addresses = ("https://shop.example", "https://shop.example/buy?from=portal&x=#plans")
    assert [upgrade_url(address, Tier.PLUS) for address in addresses] == [
        "https://shop.example?plan=customerPlusPlan",
        "https://shop.example/buy?from=portal&x=&plan=customerPlusPlan#plans",
    ]


@pytest.mark.usefixtures("published_plans")
def test_members_ask_the_partner_for_higher_limits_and_other_plans(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    tenant.organization.payment_tier = Tier.PLUS
    tenant.partner.support_email = "help@northwind.example"
    session.commit()
    page = signed_in(tenant.user).get("/plan").text
    subjects = [
        f"{tenant.organization.name} asks for {what}"
        for what in ("higher limits", "the plan Basic")
    ]
    links = [f'href="mailto:help@northwind.example?subject={quote(each)}"' for each in subjects]
    assert [link for link in links if link not in page] == []
    assert "Your role doesn’t allow" not in page


@pytest.mark.usefixtures("published_plans")
@pytest.mark.parametrize(
    ("tier", "users", "is_shown"),
    [(Tier.BASIC, 1, True), (Tier.BASIC, 2, False), (Tier.PLUS, 1, False)],
)
def test_the_upgrade_message_is_shown_where_an_upgrade_raises_the_limit(
    tenant: Tenant, signed_in: SignedIn, session: Session, tier: Tier, users: int, *, is_shown: bool
) -> None:
    tenant.organization.payment_tier, tenant.organization.user_limit = tier, users
    tenant.partner.partner_upgrade_message = "Plus has room for ten."
    session.commit()
    assert ("Plus has room for ten." in signed_in(tenant.user).get("/plan").text) is is_shown


@pytest.mark.usefixtures("published_plans")
def test_the_text_of_the_partner_about_upgrades_is_in_the_language_of_its_reader(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    tenant.partner.partner_upgrade_message = "Plus has room for ten."
    tenant.partner.texts_by_language = {"fr": {"upgradeMessage": "Plus accueille dix personnes."}}
    session.commit()
    member = signed_in(tenant.user)
    for code, message in (("fr", "Plus accueille dix"), ("de", "Plus has room for ten.")):
        assert message in member.get("/plan", headers={"Accept-Language": code}).text, code


@pytest.mark.usefixtures("published_plans")
def test_usage_beyond_the_plan_is_named_with_its_price(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 15)
    page = words(signed_in(tenant.user).get("/plan").text)
    assert (
        "15 of 10 minutes 5 more than the plan includes, at $0.125 a minute: $0.63 so far." in page
    )


@pytest.mark.usefixtures("published_plans")
@pytest.mark.parametrize(
    ("minutes", "micros", "notice"),
    [
        (7, 125_000, ""),
        (8, 125_000, "Calls continue. Each further minute costs $0.125."),
        (10, 125_000, "Calls continue. Each further minute costs $0.125."),
        (12, 0, "Calls continue. Further minutes aren’t charged."),
    ],
)
def test_included_usage_that_is_nearly_or_fully_used_is_noticed(
    tenant: Tenant,
    signed_in: SignedIn,
    session: Session,
    minutes: int,
    micros: int,
    notice: str,
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    plans = {plan.tier: plan for plan in versions.current(session, caller, tenant.partner.id).plans}
    terms = replace(plans[Tier.BASIC].terms, overage_micros=micros)
    versions.save(session, caller, tenant.partner.id, replace(plans[Tier.BASIC], terms=terms))
    if micros == 0:
        versions.publish(session, caller, tenant.partner.id)
    used(session, tenant, minutes)
    title = f"{minutes} of 10 included minutes used"
    member, admin = signed_in(tenant.user), signed_in(tenant.staff[Role.ADMIN])
    name, place = tenant.organization.name, f"/organizations/{tenant.organization.id}"
    seen = [
        f"{title} {notice} Compare plans" in words(member.get("/plan").text),
        f"{title} {notice} View plan" in words(member.get("/").text),
        f"{title} {notice} Change plan" in words(admin.get(place).text),
        f"{name}: {title} {notice} Change plan" in words(admin.get("/").text),
        title in words(signed_in(tenant.staff[Role.PARTNER_EDITOR]).get("/").text),
    ]
    assert seen == [*[bool(notice)] * 4, False]


@pytest.mark.usefixtures("published_plans")
@pytest.mark.parametrize(
    ("minutes", "filters"), [(7, []), (8, ["near"]), (12, ["near", "reached"])]
)
def test_the_partner_finds_customers_by_included_usage(
    tenant: Tenant, signed_in: SignedIn, session: Session, minutes: int, filters: list[str]
) -> None:
    tenant.organization.user_limit = tenant.organization.assistant_limit = 0
    used(session, tenant, minutes)
    admin, name = signed_in(tenant.staff[Role.PARTNER_ADMIN]), tenant.organization.name
    found = [
        each
        for each in ("near", "reached")
        if f">{name}</a>" in admin.get(f"/organizations?use={each}").text
    ]
    assert found == filters
    title = f"{name} {minutes} of 10 included minutes used."
    assert (title in words(admin.get("/report/month").text)) == bool(filters)
    state = f" Used up on {' '.join(day(utcnow().date()).split())}" if minutes > 10 else ""
    converse(session, tenant.organization, utcnow().date(), 3)
    session.commit()
    listed = words(admin.get("/usage?column=included").text)
    assert f"{name} {minutes} of 10 minutes{state}" in listed


@pytest.mark.usefixtures("published_plans")
def test_the_plan_page_of_a_suspended_organization_does_not_say_that_calls_go_on(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 12)
    admin, path = (
        signed_in(tenant.staff[Role.PARTNER_ADMIN]),
        f"/organizations/{tenant.organization.id}",
    )
    assert "Calls continue." in admin.get(path).text
    tenant.organization.status = OrganizationStatus.SUSPENDED
    session.commit()
    page = admin.get(path).text
    assert "12 of 10 included minutes used" in page
    assert "Calls continue." not in page


@pytest.mark.usefixtures("published_plans")
def test_customers_found_by_limits_are_listed_with_their_included_usage(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 12)
    admin, column = signed_in(tenant.staff[Role.PARTNER_ADMIN]), "Included this month</th>"
    for path, is_shown in {
        "/organizations": False,
        "/organizations?use=near": True,
        "/organizations?use=reached": True,
        "/organizations?column=included": True,
        "/organizations?use=reached&column=users": False,
    }.items():
        page = admin.get(path).text
        shown = (column in page, "12 of 10 minutes Used up on " in words(page))
        assert (path, *shown) == (path, is_shown, is_shown)
    export = "/lists/organizations/export.csv?use=reached"
    assert f'"{export}"' in admin.get("/organizations?use=reached").text
    file = admin.get(export).text
    assert "Included this month" in file
    assert "12 of 10 minutes" in file


@pytest.mark.usefixtures("published_plans")
def test_the_included_usage_of_many_customers_takes_the_queries_of_a_few(
    tenant: Tenant, signed_in: SignedIn, session: Session, database: Database
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for each in (tenant.organization, tenant.plus):
        converse(session, each, utcnow().date(), 3)
    used(session, tenant, 6)

    def add(numbers: range) -> None:
        for number in numbers:
            made = make_user(
                session, tenant.partner.id, f"u{number}@x.example", businessName=f"More {number}"
            )
            converse(session, organization_of(session, made), utcnow().date(), 1)
        session.commit()

    def count() -> int:
        with counted(database.engine) as statements:
            assert "6 of 10 minutes" in admin.get("/usage?column=included").text
        return len(statements)

    add(range(1))
    count()
    few = count()
    add(range(1, 20))
    assert count() == few


@pytest.mark.usefixtures("published_plans")
def test_usage_in_the_trial_of_a_plan_uses_nothing_up(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    tenant.organization.user_limit = tenant.organization.assistant_limit = 0
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for plan in versions.current(session, caller, tenant.partner.id).plans:
        if plan.tier is Tier.BASIC:
            terms = replace(plan.terms, trial_days=3)
            versions.save(session, caller, tenant.partner.id, replace(plan, terms=terms))
    versions.publish(session, caller, tenant.partner.id)
    used(session, tenant, 12)
    admin, link = signed_in(tenant.staff[Role.PARTNER_ADMIN]), f">{tenant.organization.name}</a>"

    def is_found(created: timedelta) -> bool:
        today = utcnow().replace(hour=12)
        tenant.organization.created_at = today - created
        session.commit()
        return link in admin.get("/organizations?use=reached").text

    assert not is_found(timedelta(days=0))
    assert not is_found(timedelta(days=2))
    assert is_found(timedelta(days=3))
    assert is_found(timedelta(days=100))


@pytest.mark.usefixtures("published_plans")
def test_the_choice_of_a_plan_says_until_when_it_is_free(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for plan in versions.current(session, caller, tenant.partner.id).plans:
        if plan.tier is Tier.BASIC:
            terms = replace(plan.terms, trial_days=30)
            versions.save(session, caller, tenant.partner.id, replace(plan, terms=terms))
    versions.publish(session, caller, tenant.partner.id)
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for days, is_free in ((29, True), (30, False)):
        tenant.organization.created_at = utcnow() - timedelta(days=days)
        session.commit()
        page = words(admin.get(f"/organizations/{tenant.organization.id}/plan").text)
        last = day(utcnow()).replace("\xa0", " ")
        sentence = f"30-day free trial, free until {last}"
        assert (sentence in page.replace("\xa0", " ")) == is_free


@pytest.mark.usefixtures("published_plans")
def test_pricing_shows_what_was_paid_in_the_latest_closed_month(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    month = utcnow().date().replace(day=1)
    shown = f"Revenue in {standalone_month(month)} "
    assert "Revenue in" not in words(admin.get("/pricing").text)
    used(session, tenant, 12)
    close_month(session)
    paid = session.scalars(select(Statement).where(Statement.total > 0)).first()
    assert paid is not None
    assert f"{shown}${paid.total / 100:.2f} " in words(admin.get("/pricing").text)
    session.delete(paid)  # the month is still being closed
    session.commit()
    assert "Revenue in" not in words(admin.get("/pricing").text)


@pytest.mark.usefixtures("published_plans")
def test_pages_of_a_partner_with_thousands_of_customers_sum_nothing_up(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 12)
    close_month(session)
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])

    assert "included minutes used" in admin.get("/").text
    assert "Revenue in" in admin.get("/pricing").text
    session.execute(update(PartnerTier).values(organizations=2001))
    session.commit()
    assert "included minutes used" not in admin.get("/").text
    assert "Revenue in" not in admin.get("/pricing").text


def test_without_metered_usage_the_price_covers_all_calls(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 3)
    page = words(signed_in(tenant.user).get("/plan").text)
    assert "The plan’s price covers all calls." in page


def test_a_trial_plan_without_price_is_counted_by_calls(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    trial = versions.current(session, caller, tenant.partner.id).plans[1]
    terms = PlanTerms(0, "USD", unit=UsageUnit.CALL, included=2)
    versions.save(session, caller, tenant.partner.id, replace(trial, terms=terms))
    versions.publish(session, caller, tenant.partner.id)
    tenant.organization.payment_tier = Tier.BASIC_TRIAL
    used(session, tenant, 3)
    page = words(signed_in(tenant.user).get("/plan").text)
    assert "Answered calls 3 of 2 calls 1 more than the plan includes, not charged." in page


@pytest.mark.usefixtures("published_plans")
def test_staff_preview_the_plans_of_the_draft_or_the_published_ones(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    page = browser.get("/plan").text
    assert "<title>Plan cards preview" in page
    assert "The cards that customers see now." in page
    assert len(cards(page)) == 2
    assert "Used this month" not in page
    caller = tenant.caller(Role.PARTNER_ADMIN)
    plan = versions.current(session, caller, tenant.partner.id).plans[0]
    versions.save(
        session, caller, tenant.partner.id, replace(plan, name="Starter", is_visible=True)
    )
    session.commit()
    page = words(browser.get("/plan").text)
    assert "customers see these cards once you publish it." in page
    assert "Starter Changed" in page


@pytest.mark.usefixtures("published_plans")
@pytest.mark.parametrize(
    ("status", "ends_at", "member", "staff"),
    [
        (SubscriptionStatus.ACTIVE, None, None, "Active at Stripe"),
        (
            *(SubscriptionStatus.ACTIVE, datetime(2027, 1, 31, tzinfo=UTC)),
            *("Your subscription ends on 31 Jan 2027", "Ends on 31 Jan 2027 at Stripe"),
        ),
        (SubscriptionStatus.OVERDUE, None, "Your last payment failed", "Payment overdue at Stripe"),
        (SubscriptionStatus.ENDED, None, None, None),
    ],
)
def test_a_subscription_is_shown_to_the_customer_and_to_the_partner(
    tenant: Tenant,
    signed_in: SignedIn,
    session: Session,
    status: SubscriptionStatus,
    ends_at: datetime | None,
    member: str | None,
    staff: str | None,
) -> None:
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        reference="sub_1",
        tier=Tier.BASIC,
        status=status,
        ends_at=ends_at,
        seen_at=utcnow(),
    )
    session.add(subscription)
    session.commit()
    plan = words(signed_in(tenant.user).get("/plan").text)
    notices = ("Your subscription ends on 31 Jan 2027", "Your last payment failed")
    assert [notice for notice in notices if notice in plan] == ([member] if member else [])
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = words(admin.get(f"/organizations/{tenant.organization.id}").text)
    assert f"Subscription {staff or 'None'}" in page


@pytest.mark.usefixtures("published_plans")
def test_the_plan_page_says_what_the_month_will_cost(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    """Ten minutes are included, and each further one costs $0.125; the plan costs $29."""
    earlier = NOON - timedelta(days=365)
    tenant.organization.created_at = tenant.organization.tier_since = earlier
    session.execute(update(PlanVersion).values(published_at=earlier))
    with set_clock() as clock:
        clock.set(NOON.replace(tzinfo=None).isoformat())
        for age in range(1, 60):
            day = NOON.date() - timedelta(days=age)
            rollup.add_billing(
                session,
                partner_id=tenant.partner.id,
                organization_id=tenant.organization.id,
                campaign_id=None,
                day=day,
                currency="USD",
                calls=1,
                minutes=2 if day.month == NOON.month else 1,
            )
        converse(session, tenant.organization, NOON.date(), 3)
        session.commit()
        with_forecast = words(signed_in(tenant.user).get("/plan").text)
        listed = words(
            signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/usage?column=included").text
        )
    assert "6 of 10 minutes" in with_forecast
    price = re.search(
        r"Expected price: \$([\d.]+)\. Next month 1 Dec Usage counts from zero\.",
        with_forecast,
    )
    assert price is not None
    found = re.search(
        r"About (\d+) minutes by 30 Nov 2026 \(likely (\d+)–\N{WORD JOINER}(\d+)\)\. "
        r"What the plan includes is expected to be used up on (\d+) Nov 2026\.",
        with_forecast,
    )
    assert found is not None
    expected, low, high = (int(each) for each in found.groups()[:3])
    assert 30 <= low <= expected <= high <= 50
    assert float(price[1]) == 29 + (expected - 10) * 0.125
    assert 6 <= int(found[4]) <= 8
    assert f"6 of 10 minutes Likely used up on {found[4]} Nov 2026" in listed


@pytest.mark.usefixtures("published_plans")
def test_usage_and_plan_show_the_same_to_members_and_their_partner(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 15)
    of_plan = words(signed_in(tenant.user).get("/plan").text).partition("Billed minutes ")[2]
    shown = of_plan.partition(" Limits")[0]
    assert shown.startswith("15 of 10 minutes 5 more than the plan includes, at $0.125 a minute")
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for browser, path in (
        (signed_in(tenant.user), "/usage"),
        (admin, f"/usage?organization={tenant.organization.id}"),
    ):
        page = words(browser.get(path).text)
        assert f"Used this month View statement Billed minutes {shown}" in page, path
        assert "so far on the plan" in page
    assert "Used this month" not in words(admin.get("/usage").text)


@pytest.mark.usefixtures("published_plans")
def test_without_three_weeks_of_calls_there_is_no_forecast(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 6)
    page = words(signed_in(tenant.user).get("/plan").text)
    assert "A forecast for the month appears after three weeks of calls." in page
    assert "Expected price" not in page


@pytest.mark.usefixtures("published_plans")
def test_invoices_at_stripe_are_offered_with_a_subscription_and_a_connected_account(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    member = signed_in(tenant.user)
    assert "You are billed by monthly statement." in member.get("/plan").text
    refused = member.post("/plan/invoices", page="/account")
    assert refused.location == "/plan"
    assert "There are no invoices at Stripe" in member.get("/plan").text
    accounts.save(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        (SECRET_KEY,),
        tenant.partner.id,
        AccountKeys("sk_test_of_the_partner"),
        may_connect=False,
    )
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        reference="sub_1",
        customer="cus_1",
        tier=Tier.BASIC,
        status=SubscriptionStatus.ACTIVE,
        seen_at=utcnow(),
    )
    session.add(subscription)
    session.commit()
    assert "Manage at Stripe" in member.get("/plan").text
    begun = member.post("/plan/invoices", page="/plan").location or ""
    page = member.get(begun).text
    assert "Opening Stripe’s page…" in page
    assert "Upgrade" not in page
    checkout = session.scalars(select(Checkout)).one()
    checkout.url = "https://billing.stripe.test/1"
    session.commit()
    assert 'href="https://billing.stripe.test/1"' in member.get(begun).text
    assert signed_in(tenant.plus_user).get(begun).status_code == 404


@pytest.mark.usefixtures("published_plans")
def test_the_month_in_which_a_subscription_ended_says_which_plan_applies(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    used(session, tenant, 6)
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        reference="sub_1",
        tier=Tier.BASIC,
        status=SubscriptionStatus.ENDED,
        seen_at=utcnow(),
        ended_at=utcnow().replace(microsecond=0) - timedelta(seconds=1),
    )
    session.add(subscription)
    tenant.organization.payment_tier = Tier.FREE
    session.commit()
    page = words(signed_in(tenant.user).get("/plan").text)
    assert "Your plan Free $0 a month" in page
    assert "This month still counts by Basic, which your subscription paid for." in page
    assert "6 of 10" in page
