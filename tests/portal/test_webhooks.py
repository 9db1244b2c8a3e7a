"""Webhooks in the portal: made, shown once, tested, paused, sent again, and who may see them."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import DeliveryStatus, PauseReason, Role, WebhookEvent
from app.extensions import settings
from app.gateways.webhook_client import WebhookAnswer
from app.jobs import check_webhook_host
from app.models import AuditEntry, User, Webhook, WebhookDelivery, utcnow
from app.policy.caller import system_caller
from app.portal.web.formats import long_datetime, medium_datetime
from app.services import webhooks
from app.services.webhooks import deliveries
from app.services.webhooks.attempts import with_attempt
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of
from tests.portal.paths import paths_with

SignedIn = Callable[[User], Browser]
LIST = "/api-access/webhooks"
URL = "https://crm.example/hooks"
NEW = {"url": URL, "events": ["call.completed", "contact.created"], "once": "a1"}
STORED = "The recording could not be stored."
"""A message of the product; another one than a reason why nothing answers, but translated."""
SECRET = re.compile(r"whsec_[\w+/]{43}=")


backend = runs_on(["sqlite"])


def make(app: Flask, session: Session, tenant: Tenant) -> Webhook:
    with app.app_context():
        made = webhooks.add(
            session,
            system_caller("the owner", tenant.partner.id),
            settings(),
            organization_id=tenant.organization.id,
            url=URL,
            events=[event.value for event in WebhookEvent],
        )
    session.commit()
    return made.webhook


def ended(session: Session, webhook: Webhook, state: DeliveryStatus) -> WebhookDelivery:
    owner = system_caller("the owner", webhook.partner_id)
    delivery = deliveries.send_test(session, owner, webhook.id)
    delivery.status, delivery.ended_at, delivery.attempts = state, utcnow(), 1
    delivery.last_status, delivery.last_answer = 503, "<b>away</b>"
    delivery.next_attempt_at = None
    session.commit()
    return delivery


STATES = ("waiting", "retrying", "held", "delivered", "failed")


def page_of(webhook: Webhook) -> str:
    return f"{LIST}/{webhook.id}"


def count(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Webhook)) or 0


def test_a_webhook_is_added_and_its_secret_is_shown_once(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = f"{LIST}/new?organization={tenant.organization.id}"
    made = admin.post(address, NEW, page=address)
    [secret] = set(SECRET.findall(made.text))
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    webhook = session.scalars(select(Webhook)).one()
    assert (webhook.url, webhook.events) == (URL, ["call.completed", "contact.created"])
    again = admin.post(address, NEW, page=address)
    assert (again.status_code, again.location, count(session)) == (303, page_of(webhook), 1)
    for path in (LIST, page_of(webhook)):
        shown = admin.get(path)
        assert shown.status_code == 200
        assert secret not in shown.text
        assert "crm.example" in shown.text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "crm.example"}, "Enter an address like https://host/path."),
        (
            {"url": "https://127.0.0.1/"},
            "127.0.0.1 can’t be reached from the internet.",
        ),
        ({"events": []}, "Choose at least one event."),
    ],
)
def test_each_problem_is_at_its_field(
    session: Session, tenant: Tenant, admin: Browser, changes: dict[str, object], words: str
) -> None:
    address = f"{LIST}/new?organization={tenant.organization.id}"
    answer = admin.post(address, {**NEW, **changes}, page=address)
    assert (answer.status_code, answer.text.count(words), count(session)) == (422, 2, 0)


def test_a_new_webhook_starts_with_its_organization(tenant: Tenant, admin: Browser) -> None:
    assert tenant.plus.name in admin.get(f"{LIST}/new").text


def test_a_new_webhook_gets_how_calls_end_and_offers_a_test_beside_its_empty_log(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    form = admin.get(f"{LIST}/new?organization={tenant.organization.id}").text
    ticked = re.findall(r'<input(?=[^>]*checked)[^>]*value="([a-z.-]+)"', form)
    ends = ["call.completed", "call.busy", "call.no-answer", "call.failed"]
    assert ticked == ["organization", *ends]
    webhook = make(app, session, tenant)
    head, _, log = admin.get(page_of(webhook)).text.partition("No events yet.")
    assert "Send test event" not in head
    assert "Send test event" in log


def test_a_test_event_is_sent_once_however_often_its_form_is(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    page = page_of(make(app, session, tenant))
    for _ in range(2):
        answer = admin.post(f"{page}/test", {"once": "t1"}, page=page)
        assert (answer.status_code, answer.location) == (303, page)
    delivery = session.scalars(select(WebhookDelivery)).one()
    assert delivery.type == "webhook.test"
    shown = admin.get(f"{page}/deliveries/{delivery.id}")
    assert delivery.message_id in shown.text
    assert "Send again" not in shown.text


def test_reasons_are_in_the_readers_language_and_answers_of_receivers_are_not(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = fail(session, webhook)
    delivery.last_status, delivery.last_answer = None, STORED
    session.commit()
    page, german = page_of(webhook), {"Accept-Language": "de"}
    unanswered = admin.get(page, headers=german).text
    assert unanswered.count("Die Aufnahme konnte nicht gespeichert werden.") == 2
    assert STORED not in unanswered
    delivery.last_status = 503
    session.commit()
    assert admin.get(page, headers=german).text.count(STORED) == 2


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_answer_of_a_receiver_that_refuses_is_shown(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = ended(session, webhook, DeliveryStatus.FAILED)
    delivery.last_attempt_at = utcnow()
    delivery.last_answer = "<b>away</b> " + "x" * 400
    webhook.failing_since = utcnow()
    session.commit()
    answered = "The receiver answered 503: “&lt;b&gt;away&lt;/b&gt; x"
    retrying = admin.get(page_of(webhook)).text
    tried = f"Last attempt: {long_datetime(delivery.last_attempt_at)}."
    assert f"{answered}{'x' * 187}”. {tried} Retries continue for 24 hours" in retrying
    assert "<b>away" not in retrying
    head = retrying.partition('<div class="head-actions">')[2].partition("Retrying since")[0]
    assert ">Edit</a>" in head
    assert retrying.count(">Edit</a>") == 1
    webhook.paused_at, webhook.pause_reason = utcnow(), PauseReason.FAILING
    session.commit()
    assert answered in admin.get(page_of(webhook)).text
    delivery.last_status, delivery.last_answer = 500, None
    session.commit()
    assert "The receiver answered 500." in admin.get(page_of(webhook)).text
    page = admin.get(f"{page_of(webhook)}/deliveries/{delivery.id}").text
    assert "Status 500" in page
    assert "The answer has no text." in page


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_events_of_the_form_are_grouped_by_subject(tenant: Tenant, admin: Browser) -> None:
    page = admin.get(f"{LIST}/new?organization={tenant.organization.id}").text
    groups = re.findall(r'<div role="group".*?>([^<]+)</p>(.*?)</div>\s*</div>', page, re.DOTALL)
    assert [heading for heading, _checks in groups] == [
        *("Calls", "Uploads", "Contacts", "Alerts", "API keys")
    ]
    _scope, _url, of_events = page.partition('name="url"')
    hints = re.findall(r'</label>\s*<p class="hint">([^<]+)</p>', of_events)
    assert (len(hints), hints[0]) == (len(WebhookEvent), "The first attempt of a call begins.")
    offered = re.findall(r'name="events" type="checkbox" value="([^"]+)"', page)
    assert sorted(offered) == sorted(event.value for event in WebhookEvent)


def test_a_webhook_is_paused_and_resumed(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    page = page_of(webhook)
    admin.post(f"{page}/pause", page=page)
    paused = admin.get(page).text
    assert "Paused by a user." in paused
    assert "Send test event" not in paused
    refused = admin.post(f"{page}/test", {"once": "t1"}, page=page)
    assert "Resume it first" in admin.get(refused.location).text
    assert "crm.example" in admin.get(f"{LIST}?state=paused").text
    assert "No webhook matches." in admin.get(f"{LIST}?state=active").text
    admin.post(f"{page}/resume", page=page)
    session.refresh(webhook)
    assert (webhook.paused_at, webhook.pause_reason) == (None, None)


def fail(session: Session, webhook: Webhook) -> WebhookDelivery:
    """A delivery that the receiver refused once, an hour before its next attempt."""
    delivery = ended(session, webhook, DeliveryStatus.WAITING)
    delivery.ended_at, delivery.retries = None, 1
    delivery.next_attempt_at = utcnow() + timedelta(hours=1)
    webhook.failing_since = utcnow()
    session.commit()
    return delivery


def badges(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<span class="badge badge-(\w+)">(?:<[^>]+>)*([^<]+)<', html)


def test_a_failing_webhook_is_amber_and_is_retried_at_once(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = fail(session, webhook)
    page = page_of(webhook)
    shown = admin.get(page).text
    assert badges(shown) == [("warning", "Retrying")] * 2
    assert badges(admin.get(LIST).text) == [("warning", "Retrying")]
    assert (
        "The receiver answered 503: “&lt;b&gt;away&lt;/b&gt;”. Retries continue for 24 hours"
        in shown
    )
    assert f'href="{page}/edit"' in shown
    for words in ("1 delivery will be sent again.", "No delivery is waiting for a retry."):
        answer = admin.post(f"{page}/retry", page=page)
        assert words in admin.get(answer.location).text
    session.refresh(delivery)
    waits: datetime | None = delivery.next_attempt_at
    assert (delivery.status, waits) == (DeliveryStatus.HELD, None)


def move(admin: Browser, webhook: Webhook, url: str) -> None:
    page = f"{page_of(webhook)}/edit"
    [version] = re.findall(r'name="version" value="(\d+)"', admin.get(page).text)
    changed = {"url": url, "events": webhook.events, "version": version}
    assert admin.post(page, changed, page=page).status_code == 303


def test_failures_of_an_earlier_address_do_not_count_for_the_current_one(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = fail(session, webhook)
    move(admin, webhook, f"{URL}/v2")
    words = r"Address changed on [^;<]+; no delivery yet"
    shown = admin.get(page_of(webhook)).text
    assert len(re.findall(words, shown)) == 1
    assert "Retrying since" not in shown
    assert badges(shown)[0] == badges(admin.get(LIST).text)[0] == ("success", "Active")
    session.refresh(delivery)
    delivery.last_attempt_at, delivery.last_answer = utcnow(), "still away"
    webhook.failing_since = delivery.last_attempt_at
    session.commit()
    retried = admin.get(page_of(webhook)).text
    assert "still away" in retried
    assert re.findall(words, retried) == []


def test_a_host_that_is_not_found_is_reported_until_something_is_sent(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = f"{LIST}/new?organization={tenant.organization.id}"
    admin.post(address, NEW | {"url": "https://hooks.invalid/x"}, page=address)
    webhook = session.scalars(select(Webhook)).one()
    look_host_up(app, webhook)
    missing = "hooks.invalid has no public address in the DNS. The webhook is saved; deliveries"
    shown = admin.get(page_of(webhook)).text
    assert missing in shown
    assert badges(shown)[0] == ("warning", "Host not found")
    assert badges(admin.get(LIST).text) == [("warning", "Host not found")]
    ended(session, webhook, DeliveryStatus.DELIVERED).last_attempt_at = utcnow()
    session.commit()
    assert (missing in admin.get(page_of(webhook)).text) is False
    move(admin, webhook, "https://other.invalid/x")
    session.refresh(webhook)
    look_host_up(app, webhook)
    assert badges(admin.get(LIST).text) == [("warning", "Host not found")]
    move(admin, webhook, "https://8.8.8.8/x")
    session.refresh(webhook)
    look_host_up(app, webhook)
    assert badges(admin.get(LIST).text) == [("success", "Active")]


def look_host_up(app: Flask, webhook: Webhook) -> None:
    """As the worker does after an address was saved."""
    database: Database = app.extensions["database"]
    check_webhook_host.check(database, webhook.id, webhook.url, allow_private=False)


def test_the_page_reloads_its_deliveries_while_one_is_in_progress(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    page = page_of(webhook)
    answer = admin.post(f"{page}/test", {"once": "t1"}, page=page)
    sent = admin.get(answer.location).text
    delivery = session.scalars(select(WebhookDelivery)).one()
    paths = [page, f"{page}/deliveries/{delivery.id}"]

    def reloading() -> list[str]:
        return [path for path in paths if 'hx-trigger="every 2s"' in admin.get(path).text]

    assert "Test event queued. The log shows the result." in sent
    assert badges(sent)[1] == ("info", "On its way")
    assert reloading() == paths
    delivery.status, delivery.next_attempt_at = DeliveryStatus.HELD, None
    session.commit()
    assert badges(admin.get(page).text)[1] == ("info", "On its way")
    assert reloading() == paths
    delivery.status, delivery.retries = DeliveryStatus.WAITING, 1
    delivery.next_attempt_at = utcnow() + timedelta(seconds=20)
    session.commit()
    soon = re.search(r'data-label="Next">in (\d+) s<span', admin.get(page).text)
    assert reloading() == paths
    assert soon is not None
    assert 0 < int(soon[1]) <= 20
    delivery.next_attempt_at = utcnow() - timedelta(seconds=3)
    session.commit()
    assert 'data-label="Next">now<' in admin.get(page).text
    delivery.next_attempt_at = utcnow() + timedelta(minutes=2)
    session.commit()
    assert reloading() == []


def test_a_webhook_is_edited_and_another_users_change_is_not_overwritten(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    page = f"{page_of(webhook)}/edit"
    [version] = re.findall(r'name="version" value="(\d+)"', admin.get(page).text)
    changed = {"url": f"{URL}/v2", "events": ["call.failed"], "version": version}
    answer = admin.post(page, changed, page=page)
    assert (answer.status_code, answer.location) == (303, page_of(webhook))
    session.refresh(webhook)
    assert (webhook.url, webhook.events) == (f"{URL}/v2", ["call.failed"])
    entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.after) == (
        "webhook.updated",
        {"url": f"{URL}/v2", "events": ["call.failed"]},
    )
    late = admin.post(page, changed | {"url": f"{URL}/v3"}, page=page)
    assert late.status_code == 409
    assert "replaces the saved values with yours" in late.text
    wrong = admin.post(page, changed | {"url": "crm.example", "events": []}, page=page)
    assert wrong.status_code == 422
    assert "Choose at least one event." in wrong.text


@pytest.mark.parametrize("number", range(5))
def test_every_state_of_a_webhook_checks_the_version_of_its_forms(
    app: Flask, session: Session, tenant: Tenant, admin: Browser, number: int
) -> None:
    webhook = make(app, session, tenant)
    webhook.url = f"{URL}/{number}"
    session.commit()
    page = f"{page_of(webhook)}/edit"
    [version] = re.findall(r'name="version" value="(\d{1,9})"', admin.get(page).text)
    stale = {"url": URL, "events": ["call.failed"], "version": str(int(version) + 1)}
    conflict = admin.post(page, stale, page=page)
    assert conflict.status_code == 409
    assert "Your changes are not saved yet." in conflict.text
    session.refresh(webhook)
    assert webhook.url == f"{URL}/{number}"


def test_an_automatic_pause_says_why(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    webhook.paused_at, webhook.pause_reason = utcnow(), PauseReason.FAILING
    session.commit()
    assert "The receiver accepted nothing for 24 hours." in admin.get(page_of(webhook)).text


def test_the_secret_is_rotated_with_an_overlap(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    page = f"{page_of(webhook)}/rotate"
    rotated = admin.post(page, {"overlap": "3", "once": "b1"}, page=page)
    assert (rotated.status_code, len(set(SECRET.findall(rotated.text)))) == (200, 1)
    session.refresh(webhook)
    assert webhook.previous_until is not None
    assert timedelta(days=2) < webhook.previous_until - utcnow() < timedelta(days=3)
    again = admin.post(page, {"overlap": "1", "once": "b2"}, page=page)
    assert again.status_code == 422
    assert "still works" in again.text
    wrong = admin.post(page, {"overlap": "8", "once": "b3"}, page=page)
    assert wrong.status_code == 422
    assert "0 to 7 days" in wrong.text


def test_the_statuses_of_the_filter_are_those_of_the_badges(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    retried = fail(session, webhook)
    page = page_of(webhook)
    link = f'href="{page}/deliveries/{retried.id}"'
    assert '<option value="retrying">Retrying</option>' in admin.get(page).text
    shown = {state: link in admin.get(f"{page}?state={state}").text for state in STATES}
    assert shown == dict.fromkeys(STATES, False) | {"retrying": True}


def test_a_delivery_that_waits_for_a_retry_can_be_retried_now(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = ended(session, webhook, DeliveryStatus.FAILED)
    delivery.status, delivery.ended_at, delivery.retries = DeliveryStatus.WAITING, None, 2
    delivery.attempts = 2
    delivery.next_attempt_at = utcnow() + timedelta(hours=1)
    session.commit()
    shown = f"{page_of(webhook)}/deliveries/{delivery.id}"
    page = admin.get(shown).text
    assert ">Retry now<" in page
    next_at = medium_datetime(delivery.next_attempt_at, with_seconds=True)
    assert f"<dd>{next_at} (Attempt 3 of 11)</dd>" in page
    assert '<span class="cell-sub">Attempt 3 of 11</span>' in admin.get(page_of(webhook)).text
    assert admin.post(f"{shown}/replay", page=LIST + "/new").location == shown
    session.refresh(delivery)
    waits: datetime | None = delivery.next_attempt_at
    assert (delivery.status, waits) == (DeliveryStatus.HELD, None)


def test_a_delivery_that_is_sent_again_continues_to_count_its_attempts(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = ended(session, webhook, DeliveryStatus.FAILED)
    delivery.status, delivery.ended_at = DeliveryStatus.WAITING, None
    delivery.attempts, delivery.retries, delivery.last_attempt_at = 3, 1, utcnow()
    delivery.next_attempt_at = utcnow() + timedelta(hours=1)
    session.commit()
    page = admin.get(f"{page_of(webhook)}/deliveries/{delivery.id}").text
    assert "2 earlier attempts are counted, but their answers are no longer kept." in page
    assert "(Attempt 4)" in page


def test_the_page_of_a_delivery_shows_each_attempt_the_latest_first(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = ended(session, webhook, DeliveryStatus.FAILED)
    answers = (
        WebhookAnswer(503, "<b>busy</b>", seconds=1.43),
        WebhookAnswer(None, "Timed out.", seconds=0.24),
    )
    log: list[dict[str, Any]] = []
    for answer in answers:
        log = with_attempt(log, utcnow(), answer)
    delivery.attempt_log, delivery.attempts = log, 2
    session.commit()
    page = admin.get(f"{page_of(webhook)}/deliveries/{delivery.id}").text
    seen = ["Attempt 2", "No answer", "Timed out.", "240\u00a0ms"]
    seen += ["Attempt 1", "Status 503", "&lt;b&gt;busy&lt;/b&gt;", "1.4\u00a0s"]
    table = page[page.index("<tbody>") :]
    places = [table.index(words) for words in seen]
    assert places == sorted(places)
    assert "no longer kept" not in page


def test_the_log_of_a_webhook_without_deliveries_is_not_mentioned(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    asked = f"{page_of(webhook)}/remove"
    assert "Its log of" not in admin.get(asked).text
    ended(session, webhook, DeliveryStatus.FAILED)
    assert "Its log of 1 delivery is deleted." in admin.get(asked).text


def test_one_delivery_is_sent_again_and_its_answer_is_shown_as_text(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    delivery = ended(session, webhook, DeliveryStatus.FAILED)
    delivery.last_attempt_at = utcnow()
    session.commit()
    shown = f"{page_of(webhook)}/deliveries/{delivery.id}"
    assert "&lt;b&gt;away&lt;/b&gt;" in admin.get(shown).text
    for words in ("It will be sent again", "already in progress"):
        answer = admin.post(f"{shown}/replay", page=LIST + "/new")
        assert (answer.status_code, answer.location) == (303, shown)
        assert words in admin.get(shown).text
    session.refresh(delivery)
    assert delivery.status is DeliveryStatus.HELD


def test_all_deliveries_that_failed_since_a_day_are_sent_again(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    old, new = (ended(session, webhook, DeliveryStatus.FAILED) for _ in range(2))
    old.created_at = utcnow() - timedelta(days=9)
    session.commit()
    page = page_of(webhook)
    wrong = admin.post(f"{page}/replay-failed", {"since": "soon"}, page=page)
    assert wrong.status_code == 422
    assert "Enter a day like 2026-02-28" in wrong.text
    day = (utcnow() - timedelta(days=2)).date().isoformat()
    answer = admin.post(f"{page}/replay-failed", {"since": day}, page=page)
    assert "1 delivery will be sent again." in admin.get(answer.location).text
    for delivery in (old, new):
        session.refresh(delivery)
    assert (old.status, new.status) == (DeliveryStatus.FAILED, DeliveryStatus.HELD)
    assert old.message_id not in admin.get(f"{page}?state=held").text


def test_removing_asks_with_its_consequence(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make(app, session, tenant)
    ended(session, webhook, DeliveryStatus.DELIVERED)
    page = f"{page_of(webhook)}/remove"
    asked = admin.get(page).text
    assert "Its log of 1 delivery is deleted." in asked
    answer = admin.post(page, page=page)
    assert (answer.status_code, answer.location, count(session)) == (303, LIST, 0)


def assert_missing(app: Flask, browser: Browser, webhook_id: UUID, **others: UUID) -> None:
    """Fail unless all pages and forms of the webhook answer 404."""
    pages = paths_with(app, "GET", "webhook_id", webhook_id, **others)
    forms = paths_with(app, "POST", "webhook_id", webhook_id, **others)
    assert f"{LIST}/{webhook_id}/edit" in pages
    assert f"{LIST}/{webhook_id}/replay-failed" in forms
    answers = {f"GET {path}": browser.get(path).status_code for path in pages}
    answers |= {f"POST {path}": browser.post(path, page="/account").status_code for path in forms}
    assert answers == dict.fromkeys(answers, 404)


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_other_roles_find_no_webhooks(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    endpoint = make(app, session, tenant)
    visitor = signed_in(user_of(tenant, role))
    for path in (LIST, f"{LIST}/new"):
        assert visitor.get(path).status_code == 404
    assert_missing(app, visitor, endpoint.id)
    assert count(session) == 1


def test_a_webhook_of_another_partner_is_answered_like_a_missing_one(
    app: Flask, session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    theirs = make(app, session, other_tenant)
    delivery = ended(session, theirs, DeliveryStatus.FAILED)
    own_one = make(app, session, tenant)
    assert str(theirs.id) not in admin.get(LIST).text
    for whose in (theirs.id, uuid4()):
        assert_missing(app, admin, whose, delivery_id=delivery.id)
    mixed = f"{page_of(own_one)}/deliveries/{delivery.id}"
    assert admin.get(mixed).status_code == 404
    assert admin.post(f"{mixed}/replay", page=f"{LIST}/new").status_code == 404
    address = f"{LIST}/new?organization={other_tenant.organization.id}"
    assert admin.post(address, NEW, page="/account").status_code == 404
    session.refresh(theirs)
    assert (theirs.paused_at, count(session)) == (None, 2)
