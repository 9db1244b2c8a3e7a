"""The rules for calling in the portal: saved, refused, changed by two people."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, Organization, PlanLimit, User
from app.services import organizations
from tests.fixtures.tenants import Tenant, open_destinations
from tests.portal.conftest import Browser, in_conflict

SignedIn = Callable[[User], Browser]

TYPED: dict[str, Any] = {
    "calling_hours_on": "y",
    "calling_hours_start": "09:00",
    "calling_hours_end": "17:30",
    "default_region": "GB",
    "allowed_regions": ["GB", "IE"],
    "max_calls_at_once": "2",
    "max_calls_a_day": "",
    "number_spacing_minutes": "90",
    "number_most_calls": "3",
    "number_most_days": "7",
    "retry_times": "1",
    "retry_minutes": "45",
    "refuse_do_not_call": "y",
}


@pytest.fixture
def browser(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def path(session: Session, tenant: Tenant) -> str:
    open_destinations(session, tenant.partner.id, "CA", "GB", "IE")
    session.commit()
    return f"/organizations/{tenant.organization.id}/settings"


def stored(session: Session, tenant: Tenant) -> organizations.CallingRules:
    session.expire_all()
    return organizations.rules_of(session.get_one(Organization, tenant.organization.id))


@pytest.mark.parametrize(
    ("hours", "warned"),
    [(("09:00", "21:00"), False), (("00:00", "23:59"), True), (("09:00", "24:00"), True)],
)
def test_calling_hours_at_night_are_warned_about(
    tenant: Tenant, browser: Browser, path: str, hours: tuple[str, str], warned: bool
) -> None:
    typed = {"calling_hours_start": hours[0], "calling_hours_end": hours[1]}
    version = {"version": str(tenant.organization.version)}
    assert browser.post(path, TYPED | typed | version, page=path).status_code == 303
    assert ("Calls before 08:00 or after 21:00" in browser.get(path).text) is warned


def test_the_rules_are_saved_and_say_who_changed_them(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    version = str(tenant.organization.version)
    answer = browser.post(path, TYPED | {"version": version}, page=path)
    assert (answer.status_code, answer.location) == (303, path)
    rules = stored(session, tenant)
    assert (
        rules.calling_hours_on,
        f"{rules.calling_hours_start:%H:%M}",
        f"{rules.calling_hours_end:%H:%M}",
        rules.default_region,
        rules.allowed_regions,
        rules.max_calls_at_once,
        rules.max_calls_a_day,
        rules.number_spacing_minutes,
        rules.retry_times,
        rules.retry_minutes,
        rules.refuse_do_not_call,
    ) == (True, "09:00", "17:30", "GB", ("GB", "IE"), 2, None, 90, 1, 45, True)
    page = unescape(browser.get(path).text)
    author = tenant.staff[Role.PARTNER_ADMIN].email
    assert page.count(f"Changed by {author}") == 5
    assert "Settings saved: calling hours, regions, pace, retries, do-not-call rule." in page


def test_calling_hours_may_last_until_midnight(tenant: Tenant, browser: Browser, path: str) -> None:
    typed = {"calling_hours_start": "08:00", "calling_hours_end": "24:00"}
    version = {"version": str(tenant.organization.version)}
    assert browser.post(path, TYPED | typed | version, page=path).status_code == 303
    overview = browser.get(f"/organizations/{tenant.organization.id}").text
    assert "08:00 to 24:00" in overview


def test_a_form_sent_twice_is_one_change(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    for _ in range(2):
        browser.post(path, TYPED, page=path)
    entries = select(AuditEntry.action).where(AuditEntry.action == "organization.hours_changed")
    assert len(session.scalars(entries).all()) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"calling_hours_end": "09:00"}, "To: The end must be after the start"),
        ({"calling_hours_start": "nine"}, "From: Enter a time like 08:00."),
        ({"allowed_regions": []}, "Allowed regions: Choose at least one region"),
        ({"default_region": "ZZ"}, "Default region: "),
        (
            {"allowed_regions": ["GB", "CU"]},
            "Cuba isn’t open for calls. Only the platform operator can open it.",
        ),
        (
            {"allowed_regions": ["GB", "FR"]},
            "France isn’t open for calls. A partner admin can open it in the portal’s settings.",
        ),
        ({"max_calls_at_once": "1000"}, "Concurrent calls: Enter a whole number from 1 to"),
        ({"retry_times": "often"}, "Retries: Enter a whole number in digits."),
        ({"retry_minutes": ""}, "Time between attempts: Enter a whole number."),
        ({"retry_minutes": "", "max_calls_a_day": "0"}, "2 things need changing"),
        ({"calling_hours_start": "", "retry_times": "99"}, "2 things need changing"),
    ],
)
def test_invalid_values_are_shown_at_their_fields(
    session: Session,
    tenant: Tenant,
    browser: Browser,
    path: str,
    changes: dict[str, Any],
    words: str,
) -> None:
    before = stored(session, tenant)
    answer = browser.post(path, TYPED | changes, page=path)
    assert answer.status_code == 422
    assert words in unescape(answer.text)
    assert 'value="90"' in answer.text
    assert stored(session, tenant) == before


def test_two_users_who_save_see_the_conflict(
    session: Session, tenant: Tenant, signed_in: SignedIn, browser: Browser, path: str
) -> None:
    seen = str(tenant.organization.version)
    colleague = tenant.staff[Role.ADMIN]
    theirs = {**TYPED, "retry_times": "3", "allowed_regions": ["US", "CA"], "version": seen}
    assert signed_in(colleague).post(path, theirs, page=path).status_code == 303
    refused = browser.post(path, TYPED | {"version": seen}, page=path)
    shown = unescape(refused.text)
    assert refused.status_code == 409
    assert f"{colleague.email} changed this" in shown
    regions = ("Canada, United States", "United Kingdom, Ireland")
    assert {regions, ("3", "1")} <= set(in_conflict(shown).values())
    assert stored(session, tenant).retry_times == 3


def test_an_administrator_of_customers_opens_no_country(
    session: Session, tenant: Tenant, signed_in: SignedIn, path: str
) -> None:
    before = stored(session, tenant)
    browser = signed_in(tenant.staff[Role.ADMIN])
    for changes in ({"default_region": "FR"}, {"allowed_regions": ["GB", "FR"]}):
        answer = browser.post(path, TYPED | changes, page=path)
        assert answer.status_code == 422
        assert stored(session, tenant) == before
    assert browser.get("/settings/destinations").status_code == 404
    assert browser.get("/operator/destinations").status_code == 404


def test_an_editor_reads_the_rules_and_finds_no_form(
    tenant: Tenant, signed_in: SignedIn, path: str
) -> None:
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    page = editor.get(path)
    assert page.status_code == 200
    assert "At any time" in page.text
    assert "Save settings" not in page.text
    assert editor.post(path, TYPED, page="/").status_code == 404


def test_members_and_other_partners_do_not_find_the_settings(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    signed_in: SignedIn,
    browser: Browser,
    path: str,
) -> None:
    assert signed_in(tenant.user).get(path).status_code == 404
    theirs = f"/organizations/{other_tenant.organization.id}/settings"
    assert browser.get(theirs).status_code == 404
    before = organizations.rules_of(other_tenant.organization)
    assert browser.post(theirs, TYPED, page=path).status_code == 404
    session.refresh(other_tenant.organization)
    assert organizations.rules_of(other_tenant.organization) == before


def test_limits_of_the_plan_are_shown_beside_those_of_the_organization(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    words = "The plan allows 2 calls at the same time and 1,000 calls a day; a lower limit here"
    before = browser.get(path).text
    tier = tenant.organization.payment_tier
    session.add(
        PlanLimit(
            partner_id=tenant.partner.id, tier=tier, max_calls_at_once=2, max_calls_a_day=1000
        )
    )
    session.commit()
    assert words not in before
    assert words in browser.get(path).text


def test_the_frequency_limit_needs_both_numbers(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    sent = TYPED | {"number_most_days": "", "version": str(tenant.organization.version)}
    answer = browser.post(path, sent, page=path)
    assert answer.status_code == 422
    assert "Enter both the number of calls and the days, or neither" in answer.text
    sent = TYPED | {"consent_required": "y", "version": str(tenant.organization.version)}
    assert browser.post(path, sent, page=path).status_code == 303
    rules = stored(session, tenant)
    assert (rules.number_most_calls, rules.number_most_days, rules.consent_required) == (3, 7, True)
