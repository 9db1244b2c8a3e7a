"""Plans have the names that their partner has published, on every page."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of
from app.enums import Role, Tier
from app.models import User, utcnow
from app.services.billing import closing
from app.services.pricing import versions
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant, converse
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


@pytest.fixture(autouse=True)
def renamed_plans(tenant: Tenant, session: Session) -> None:
    """Basic trial is called Starter; the other plans have their built-in names. Plus is renamed in
    a draft, which no one sees."""
    caller, partner_id = tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id
    plans = {plan.tier: plan for plan in versions.current(session, caller, partner_id).plans}
    versions.save(session, caller, partner_id, replace(plans[Tier.BASIC_TRIAL], name="Starter"))
    versions.publish(session, caller, partner_id)
    versions.save(session, caller, partner_id, replace(plans[Tier.PLUS], name="Growth"))
    tenant.organization.payment_tier = Tier.BASIC_TRIAL
    converse(session, tenant.organization, utcnow().date(), 1)
    session.commit()


def names_in(html: str) -> set[str]:
    """The names of plans that a page's main part shows, without its latest changes."""
    main = re.sub(r"<[^>]+>", " ", html.split("<main", 1)[1].split("Latest changes", 1)[0])
    return set(re.findall(r"Basic trial|Starter|Growth|Plus\b", main))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/organizations", {"Starter", "Plus"}),
        ("/organizations/new", {"Starter", "Plus"}),
        ("/organizations/{id}", {"Starter"}),
        ("/organizations/{id}/plan", {"Starter", "Plus"}),
        (
            "/organizations/{id}/plan/check?tier=customerPlusPlan&assistant_limit=1&user_limit=1",
            {"Starter", "Plus"},
        ),
        ("/lists/organizations/actions/plan?id={id}", {"Starter", "Plus"}),
        ("/pricing/limits", {"Starter", "Plus"}),
        (
            "/pricing/limits/check?basic_trial-at_once=2&plus-a_day=9",
            {"Starter", "Plus"},
        ),
        ("/usage", {"Starter", "Plus"}),
        ("/report", {"Starter", "Plus"}),
        ("/", {"Starter", "Plus"}),
    ],
)
def test_pages_show_the_published_name_of_a_plan(
    signed_in: SignedIn, tenant: Tenant, path: str, shown: set[str]
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert names_in(admin.get(path.format(id=tenant.organization.id)).text) == shown


def test_a_member_sees_the_published_name_of_the_plan(signed_in: SignedIn, tenant: Tenant) -> None:
    assert names_in(signed_in(tenant.user).get("/").text) == {"Starter"}


def test_operators_see_each_organizations_plan_by_its_partners_name(
    operator: Browser, tenant: Tenant
) -> None:
    assert "Starter" in names_in(operator.get(f"/organizations/{tenant.organization.id}").text)
    assert names_in(operator.get(f"/organizations/{tenant.organization.id}/plan").text) == {
        *("Starter", "Plus")
    }


def test_the_history_shows_the_published_name_of_a_plan(
    signed_in: SignedIn, tenant: Tenant
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    path = f"/organizations/{tenant.organization.id}/plan"
    version = re.search(r'name="version"[^>]*value="(\d+)"', admin.get(path).text)
    assert version
    admin.post(
        path,
        {
            "version": version.group(1),
            "tier": "customerPlusPlan",
            "assistant_limit": "1",
            "user_limit": "1",
        },
        page=path + "/check?tier=customerPlusPlan&assistant_limit=1&user_limit=1",
    )
    page = re.sub(r"<[^>]+>", " ", admin.get("/audit").text)
    assert "Starter → Plus" in " ".join(page.split())


IN_GERMAN = {
    "name": "Starter",
    "amount": "29",
    "currency": "USD",
    "interval": "month",
    "unit": "none",
    "features": "Priority support",
    "is_visible": "y",
    "texts-0-name": "",
    "texts-1-name": "Einstieg",
    "texts-1-features": "Schnelle Hilfe",
}
PLAN = "/pricing/plans/customerBasicFreeTrialPlan"


@pytest.fixture
def german_browser(signed_in: SignedIn, tenant: Tenant, session: Session) -> Browser:
    """The browser of a German member, whose plan has a German name."""
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = admin.get(PLAN).text
    version = re.search(r'name="version"[^>]*value="(\d+)"', page)
    assert version
    saved = admin.post(PLAN, {**IN_GERMAN, "version": version.group(1)}, page=PLAN)
    assert saved.status_code == 303
    review = admin.get("/pricing/publish").text
    assert "Deutsch: Einstieg · Schnelle Hilfe" in review
    version = re.search(r'name="version"[^>]*value="(\d+)"', review)
    assert version
    admin.post("/pricing/publish", {"version": version.group(1)}, page="/pricing/publish")
    tenant.user.language = "de"
    session.commit()
    return signed_in(tenant.user)


def test_a_member_reads_the_plan_in_their_language(german_browser: Browser) -> None:
    page = german_browser.get("/plan").text
    own = page.split("<article")[1].split("</article>")[0]
    assert "Einstieg" in own
    assert "Schnelle Hilfe" in own
    assert "Starter" not in page
    assert "Priority support" not in page
    assert "Einstieg" in german_browser.get("/").text


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_statement_names_the_plan_in_the_readers_language(
    german_browser: Browser, signed_in: SignedIn, tenant: Tenant, session: Session, is_closed: bool
) -> None:
    month = month_of(utcnow().date())
    path = f"/statements/{tenant.organization.id}"
    with set_clock() as clock:
        if is_closed:
            clock.now = end_of(month) + timedelta(days=1)
            assert closing.close_due(session, clock.now)
            session.commit()
            german_browser = signed_in(tenant.user)
        german = german_browser.get(f"{path}?month={month:%Y-%m}").text
        assert ("Vorschau" in german) is not is_closed
        assert "Einstieg" in german
        english = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(f"{path}?month={month:%Y-%m}")
        assert "Einstieg" not in english.text
        file = german_browser.get(f"{path}.csv?month={month:%Y-%m}")
        assert "Starter" in file.text  # scripts read it
