"""Pauses of calling are shown on every page of an operator, on the page of the carrier, on the
overview, and on all pages that place calls."""

import re
from collections.abc import Callable
from datetime import timedelta

from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, Observed, Role
from app.models import Assistant, Call, User, utcnow
from app.policy.caller import system_caller
from app.services import campaigns, outreach, pauses, workers
from app.services.pauses import PauseScope, carrier_health
from app.services.pauses.carrier_health import BehaviourCount, CarrierBehaviour
from app.services.pauses.pauses import BY_ADMIN
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import answered, make_call
from tests.portal.uploader import words

SignIn = Callable[[User], Browser]


def pause(session: Session, scope: PauseScope, reason: str) -> None:
    pauses.pause(session, system_caller("Mara"), scope, reason)
    session.commit()


def test_every_page_of_an_operator_says_that_calls_are_paused(
    session: Session, tenant: Tenant, operator: Browser, signed_in: SignIn
) -> None:
    assert "Calling is paused" not in operator.get("/").text
    pause(session, PauseScope(), "restored from a backup")
    pause(session, PauseScope(carrier=CarrierKind.TWILIO), "A storm")
    pause(session, PauseScope(partner_id=tenant.partner.id), "Unpaid")
    for path in ("/", "/organizations", "/account"):
        shown = operator.get(path).text
        assert "Calling is paused for all calls</p>" in shown
        assert "by Mara: restored from a backup. New calls wait until you run" in shown
        assert shown.count("“flask calls reconcile”") == 1
        assert shown.count("“flask calls resume”") == 2
        assert "Calling is paused for all calls over Twilio</p>" in shown
        assert "Calling is paused for all calls of one partner</p>" in shown
    assert "restored from" not in signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/account").text


def observe(session: Session, kind: Observed, count: int, code: str, words: str) -> None:
    now = utcnow()
    minute = now.replace(second=0, microsecond=0)
    behaviour = CarrierBehaviour(minute, CarrierKind.TWILIO, kind, code)
    carrier_health.record(session, {behaviour: BehaviourCount(count, now, words)})
    session.commit()


def test_operators_see_each_carrier_with_its_error_codes(
    session: Session, operator: Browser
) -> None:
    assert "No carrier requests" in operator.get("/carriers").text
    observe(session, Observed.REFUSED, 4, "21211", "The carrier refused: <b>no</b>")
    shown = operator.get("/carriers").text
    assert "<h1>Twilio refuses calls" in shown
    assert "Twilio, 21211</span>" in shown
    assert "The carrier refused: &lt;b&gt;no&lt;/b&gt;" in shown
    observe(session, Observed.ANSWERED, 100, "", "")
    shown = operator.get("/carriers").text
    assert "<h1>Twilio refuses calls" not in shown
    assert "Twilio, 21211</span>" in shown
    observe(session, Observed.SILENT, 2, "ReadTimeout", "ReadTimeout")
    assert "<h1>Twilio does not answer" in operator.get("/carriers").text


def test_carrier_status_says_where_calls_go_and_how_they_ended(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    quiet = words(admin.get("/carriers"))
    users = "Organizations without their own account, and calls with test keys"
    assert f"The simulated carrier {users} No calls were placed in the last 24 hours." in quiet
    now = utcnow()
    times = (now - timedelta(minutes=1), now - timedelta(hours=3), now - timedelta(days=2))
    for at in times:
        make_call(session, tenant.plus, "+12025550101", at, started_at=at, **answered(at=at))
    failed = {"status": CallStatus.FAILED, "ended_reason": EndedReason.CARRIER_ERROR}
    call = make_call(session, tenant.plus, "+12025550105", times[1], started_at=times[1], **failed)
    session.commit()
    busy = admin.get("/carriers")
    assert f"Answered The simulated carrier {users} 1 call 3 calls 66.7 % " in words(busy)
    advice = (
        "The carrier could not place the call. "
        "The call was simulated: no carrier account has a problem."
    )
    assert f"{advice} Open call" in words(busy)
    assert f'href="/calls/{call.id}">Open call' in busy.text


def test_the_carrier_does_not_work_if_it_did_not_place_a_recent_call(
    session: Session, tenant: Tenant, admin: Browser, operator: Browser
) -> None:
    workers.announce(session, "worker-1")
    now = utcnow()
    failed = {"status": CallStatus.FAILED, "ended_reason": EndedReason.CARRIER_ERROR}
    call = make_call(session, tenant.plus, "+12025550105", now, ended_at=now, **failed)
    session.commit()
    shown = words(admin.get("/carriers"))
    title = "1 call failed at the carrier in the last 15 minutes"
    assert title in shown
    assert "carrier works" not in shown
    shown_to_operator = words(operator.get("/carriers"))
    assert title in shown_to_operator
    assert "No problems" not in shown_to_operator
    call.ended_at = now - timedelta(minutes=16)
    session.commit()
    shown = words(admin.get("/carriers"))
    assert title not in shown
    assert "carrier works" in shown
    assert title not in words(operator.get("/carriers"))


def test_an_administrator_reads_in_plain_words_why_calls_wait(
    session: Session, tenant: Tenant, signed_in: SignIn
) -> None:
    workers.announce(session, "worker-1")
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert "The simulated carrier works" in admin.get("/carriers").text
    assert "Failed calls" in admin.get("/carriers").text
    observe(session, Observed.SILENT, 2, "ReadTimeout", "ReadTimeout")
    pause(session, PauseScope(partner_id=tenant.partner.id), "Your number is being moved")
    for path in ("/carriers", "/"):
        shown = admin.get(path).text
        assert "ReadTimeout" not in shown
        assert "Twilio" not in shown
        assert "Your number is being moved" in shown
    assert "The carrier does not answer" in admin.get("/carriers").text
    assert "The carrier isn’t accepting calls" in admin.get("/").text


def test_other_roles_have_no_carrier_page(tenant: Tenant, signed_in: SignIn) -> None:
    for user in (tenant.staff[Role.PARTNER_EDITOR], tenant.user):
        browser = signed_in(user)
        assert browser.get("/carriers").status_code == 404
        assert 'href="/carriers"' not in browser.get("/").text


def test_a_pause_of_another_partner_is_not_shown(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignIn
) -> None:
    pause(session, PauseScope(partner_id=other_tenant.partner.id), "Unpaid")
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    pages = admin.get("/carriers").text + admin.get("/").text
    assert tenant.partner.name in pages
    assert "Unpaid" not in pages


def test_a_pause_by_command_is_shown_wherever_calls_start(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignIn
) -> None:
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    ).one()
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = (
        "+12025550199",
        True,
        True,
    )
    campaign = campaigns.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        tenant.organization.id,
        name="Recall",
        all_assistants=True,
    )
    plan = outreach.CampaignPlan(assistant.id, intro_message="Hello.", voicemail_message="Bye.")
    outreach.change_plan(
        session, tenant.caller(Role.PARTNER_ADMIN), campaign.id, plan, max_at_once=5
    )
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    typed = {
        "assistant": str(assistant.id),
        "number": "+12025550101",
        "message_kind": "exact",
        "intro": "Hello.",
        "voicemail": "Bye.",
    }
    before = admin.post("/test-call/checks", typed, page="/test-call").text
    assert "The carrier is ready, and nothing holds calls back." in before

    why = "Calling is paused: The trunk is being moved."
    words = ["calls", "pause", "--reason", "The trunk is being moved."]
    assert app.test_cli_runner().invoke(args=words).exit_code == 0
    checks = admin.post("/test-call/checks", typed, page="/test-call").text
    assert f"{why} The call will wait until calling resumes." in checks
    sent = {**typed, "once": "a1"}
    placed, again = (admin.post("/test-call", sent, page="/test-call") for _ in range(2))
    assert again.location == placed.location
    call = session.scalars(select(Call)).one()
    assert placed.location == f"/test-call?call={call.id}"
    for path in (
        placed.location,
        f"/calls/{call.id}",
        f"/calls/{call.id}/live",
        f"/campaigns/{campaign.id}/outreach",
        "/",
    ):
        assert admin.get(path).text.count(why) == 1, path
    member = signed_in(tenant.user)
    assert why in member.get("/").text

    assert app.test_cli_runner().invoke(args=["calls", "resume"]).exit_code == 0
    for path in ("/test-call", f"/campaigns/{campaign.id}/outreach", "/"):
        assert why not in admin.get(path).text, path


def test_a_partner_admin_pauses_and_resumes_all_calls(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignIn, operator: Browser
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert "Calls in progress continue." in admin.get("/carriers/pause").text
    assert admin.post("/carriers/pause", page="/carriers").location == "/carriers"
    shown = admin.get("/carriers").text
    assert "a partner admin paused all calls. New calls wait" in shown
    held = pauses.of_carrier(session, tenant.partner.id, tenant.organization.id, CarrierKind.SIP)
    assert held is not None
    assert pauses.pause_message(held) == "Calling is paused (a partner admin paused all calls)."
    assert "Resume calling" in shown
    assert "Pause all calls…" not in shown
    assert "Calling is paused" not in operator.get("/").text
    assert (
        "Calling is paused"
        not in signed_in(other_tenant.staff[Role.PARTNER_ADMIN]).get("/carriers").text
    )
    covering = [
        pauses.of_carrier(session, each.partner.id, each.organization.id, CarrierKind.SIP)
        for each in (tenant, other_tenant)
    ]
    assert [pause and pause.reason for pause in covering] == [BY_ADMIN, None]
    assert admin.post("/carriers/resume", page="/carriers").location == "/carriers"
    assert "Calling resumed." in admin.get("/carriers").text
    history = admin.get("/audit").text
    assert "Calling paused" in history
    assert "Calling resumed" in history


def test_a_partner_admin_does_not_end_the_pause_of_an_operator(
    session: Session, tenant: Tenant, signed_in: SignIn
) -> None:
    pause(session, PauseScope(partner_id=tenant.partner.id), "Unpaid")
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert "Resume calling" not in admin.get("/carriers").text
    admin.post("/carriers/resume", page="/carriers")
    assert "Unpaid" in admin.get("/carriers").text


def test_a_customer_admin_sees_the_pause_and_can_not_change_it(
    tenant: Tenant, signed_in: SignIn
) -> None:
    signed_in(tenant.staff[Role.PARTNER_ADMIN]).post("/carriers/pause", page="/carriers")
    customers = signed_in(tenant.staff[Role.ADMIN])
    assert "Calling is paused: a partner admin paused all calls" in customers.get("/").text
    assert customers.get("/carriers/pause").status_code == 404
    assert customers.post("/carriers/resume", page="/test-call").status_code == 404


def test_the_carrier_status_is_as_of_the_users_own_time(
    session: Session, tenant: Tenant, signed_in: SignIn
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    user.timezone = "Asia/Tokyo"
    session.commit()
    assert re.search(r"As of [^<]+JST\.", signed_in(user).get("/carriers").text)
