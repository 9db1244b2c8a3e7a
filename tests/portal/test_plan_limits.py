"""The limits of plans: shown next to the prices, changed with the consequences in numbers."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, CarrierKind, Role, Tier
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    CallAttempt,
    Organization,
    PlanLimit,
    User,
    new_id,
    utcnow,
)
from app.services.calls.limits import PLAN_USED_UP
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, in_conflict

SignedIn = Callable[[User], Browser]

PAGE, BASE, CHECK = "/pricing", "/pricing/limits", "/pricing/limits/check"
BLANK = {
    f"{plan}-{name}": ""
    for plan in ("free", "basic_trial", "basic", "plus")
    for name in ("at_once", "a_day")
}


def text_of(html: str) -> str:
    main = html.partition("<main")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", main).split())


def version(browser: Browser) -> str:
    found = re.search(r'name="version" value="(\d+)"', browser.get(BASE).text)
    assert found
    return found.group(1)


def stored(session: Session, tenant: Tenant) -> dict[Tier, tuple[int | None, int | None]]:
    session.expire_all()
    query = select(PlanLimit).where(PlanLimit.partner_id == tenant.partner.id)
    return {
        limit.tier: (limit.max_calls_at_once, limit.max_calls_a_day)
        for limit in session.scalars(query)
    }


def make_calls(session: Session, organization: Organization, *statuses: CallStatus) -> None:
    """Live calls of the organization, each with an attempt of just now."""
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == organization.id)
    ).one()
    for status in statuses:
        call = Call(
            id=new_id(),
            partner_id=organization.partner_id,
            organization_id=organization.id,
            assistant_id=assistant.id,
            source=CallSource.API,
            live=True,
            carrier=CarrierKind.SIMULATOR,
            requested_by="a script",
            phone_number="+12025550101",
            contact={},
            status=status,
            status_detail=PLAN_USED_UP if status is CallStatus.SCHEDULED else None,
            expires_at=utcnow() + timedelta(hours=1),
        )
        session.add(call)
        session.flush()
        if status is not CallStatus.SCHEDULED:
            session.add(
                CallAttempt(
                    organization_id=organization.id,
                    call_id=call.id,
                    number=1,
                    carrier=CarrierKind.SIMULATOR,
                    status=status,
                    started_at=utcnow(),
                )
            )
    session.commit()


@pytest.mark.usefixtures("clock")
def test_limits_are_shown_with_what_they_do_before_they_are_set(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    make_calls(session, tenant.plus, CallStatus.DIALING, CallStatus.RINGING)
    chosen = BLANK | {"plus-at_once": "1", "plus-a_day": "2", "version": version(admin)}
    chosen |= {"basic_trial-a_day": "1000"}
    checked = admin.get(CHECK, query_string=chosen)
    shown = text_of(checked.text)
    assert "Review changes" in shown
    assert "Choose 2 Review" in text_of(admin.get(BASE).text)
    assert (
        "Plus allows each organization 1 concurrent call instead of as many as this portal. "
        "1 organization is on it. 1 of them has more in progress now. Those continue, and more "
        "calls wait. "
    ) in shown
    assert (
        "Plus allows each organization 2 calls a day instead of any number. 1 organization is on "
        "it. 1 of them has made 2 or more today: more calls wait until midnight UTC. "
    ) in shown
    assert (
        "Basic trial allows each organization 1,000 calls a day instead of any number. No "
        "organization is on it. "
    ) in shown
    assert stored(session, tenant) == {}

    answer = admin.post(BASE, chosen, page=CHECK)
    assert (answer.status_code, answer.location) == (303, PAGE)
    assert stored(session, tenant) == {Tier.PLUS: (1, 2), Tier.BASIC_TRIAL: (None, 1000)}
    page = text_of(admin.get(PAGE).text)
    assert "Limits saved: Basic trial, Plus." in page
    assert "Concurrent calls 5 Calls a day (UTC) 1,000 Organizations 0" in page
    assert "Concurrent calls 1 Calls a day (UTC) 2 Organizations 1" in page
    entries = session.scalars(select(AuditEntry).where(AuditEntry.action == "partner.plan_limited"))
    assert [(entry.target, entry.after) for entry in entries] == [
        ("Basic trial", {"paymentTier": "customerBasicFreeTrialPlan", "maxCallsADay": 1000}),
        ("Plus", {"paymentTier": "customerPlusPlan", "maxCallsAtOnce": 1, "maxCallsADay": 2}),
    ]

    again = admin.post(BASE, chosen, page=BASE)
    assert (again.status_code, again.location) == (303, PAGE)
    assert "Nothing was changed." in admin.get(PAGE).text


def test_raising_a_limit_says_which_calls_come_sooner(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    session.add(PlanLimit(partner_id=tenant.partner.id, tier=Tier.PLUS, max_calls_a_day=1))
    make_calls(session, tenant.plus, CallStatus.COMPLETED, CallStatus.SCHEDULED)
    shown = text_of(admin.get(CHECK, query_string=BLANK | {"plus-a_day": "5"}).text)
    assert "Review changes" in shown
    assert (
        "Plus allows each organization 5 calls a day instead of 1. 1 organization is on it. 1 call "
        "waits for tomorrow. As many as the new limit allows are placed today."
    ) in shown
    unchanged = text_of(admin.get(CHECK, query_string=BLANK | {"plus-a_day": "1"}).text)
    assert "Nothing would change" in unchanged
    assert "Change limits" not in unchanged


@pytest.mark.parametrize(
    ("name", "typed", "message"),
    [
        ("plus-at_once", "many", "Plus, concurrent calls: Enter a whole number in digits."),
        ("plus-at_once", "0", "Plus, concurrent calls: A limit is a whole number from 1 to 1,000."),
        ("free-a_day", "1000001", "Free, calls a day: A limit is a whole number from 1 to 1,"),
    ],
)
def test_an_invalid_limit_is_refused_at_its_field(
    admin: Browser, tenant: Tenant, session: Session, name: str, typed: str, message: str
) -> None:
    chosen = BLANK | {name: typed}
    answers = admin.get(CHECK, query_string=chosen), admin.post(BASE, chosen, page=BASE)
    for answer in answers:
        assert answer.status_code == 422
        assert message in text_of(answer.text)
        assert f'href="#{name}"' in answer.text
    assert stored(session, tenant) == {}


def test_all_invalid_limits_are_reported_at_once(admin: Browser) -> None:
    chosen = BLANK | {"plus-at_once": "many", "free-a_day": "0"}
    assert "2 things need changing" in admin.get(CHECK, query_string=chosen).text


def test_the_second_user_to_save_sees_both_versions(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    seen = version(admin)
    admin.post(BASE, BLANK | {"plus-at_once": "2", "version": seen}, page=BASE)
    answer = admin.post(BASE, BLANK | {"plus-at_once": "3", "version": seen}, page=BASE)
    assert answer.status_code == 409
    assert in_conflict(answer.text) == {"Plus, concurrent calls": ("2", "3")}
    assert stored(session, tenant) == {Tier.PLUS: (2, None)}


def test_a_blank_limit_says_in_the_language_of_each_reader_what_it_means(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    meanings = re.compile(r'placeholder="(\d+|[^"]*limit)"', re.IGNORECASE)
    assert meanings.findall(admin.get(BASE).text) == ["5", "No limit"] * 4
    tenant.staff[Role.PARTNER_ADMIN].language = "de"
    session.commit()
    assert meanings.findall(admin.get(BASE).text) == ["5", "Kein Limit"] * 4


def test_editors_read_the_limits_and_lower_roles_do_not_find_them(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    page = editor.get(PAGE).text
    assert "Concurrent calls" in page
    assert BASE not in page
    for user in (tenant.staff[Role.PARTNER_EDITOR], tenant.staff[Role.ADMIN], tenant.user):
        browser = signed_in(user)
        statuses = [browser.get(path).status_code for path in (BASE, CHECK)]
        statuses.append(browser.post(BASE, BLANK, page="/").status_code)
        assert statuses == [404, 404, 404]


def test_the_plans_of_another_partner_stay_unchanged(
    admin: Browser, tenant: Tenant, other_tenant: Tenant, session: Session
) -> None:
    session.add(PlanLimit(partner_id=other_tenant.partner.id, tier=Tier.PLUS, max_calls_a_day=77))
    session.commit()
    assert "77" not in text_of(admin.get(PAGE).text)
    admin.post(BASE, BLANK | {"plus-a_day": "5"}, page=BASE)
    assert stored(session, other_tenant) == {Tier.PLUS: (None, 77)}


@pytest.mark.usefixtures("clock")
def test_an_organization_shows_which_limits_apply(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    path = f"/organizations/{tenant.plus.id}"
    before = text_of(admin.get(path).text)
    assert (
        "Concurrent calls 0 of 5 The limit of this portal for every organization. "
        "Calls today (UTC) 0, no limit" in before
    )
    session.add(
        PlanLimit(
            partner_id=tenant.partner.id, tier=Tier.PLUS, max_calls_at_once=4, max_calls_a_day=1
        )
    )
    tenant.plus.max_calls_at_once = 2
    make_calls(session, tenant.plus, CallStatus.COMPLETED)
    assert (
        "Concurrent calls 0 of 2 Set in the organization’s settings. Calls today (UTC) 1 of 1 Set "
        "by the plan Plus. All are used. More calls wait for tomorrow."
    ) in text_of(admin.get(path).text)


def test_a_change_of_plan_says_which_calls_the_new_one_allows(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    session.add(PlanLimit(partner_id=tenant.partner.id, tier=Tier.BASIC, max_calls_a_day=50))
    session.commit()
    query = {"tier": Tier.BASIC.value, "assistant_limit": "1", "user_limit": "1"}
    answer = admin.get(f"/organizations/{tenant.plus.id}/plan/check", query_string=query)
    message = "Basic allows each organization 50 calls a day instead of any number."
    assert message in text_of(answer.text)
