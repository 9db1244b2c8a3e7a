"""Notifications: what happened while a user didn't look, read and unread for each user."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import unescape

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import ImportStatus, Role
from app.models import AuditEntry, ReadNotification, SpendingTotal, User
from app.policy.caller import system_caller
from app.portal.notifications.views import KINDS
from app.services import audit, pauses
from app.services.audit import notified
from app.services.imports.undo import UNDONE
from app.services.pauses import PauseScope
from app.services.spending import LimitSubject, budgets
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant, make_user
from tests.portal.conftest import Browser
from tests.portal.test_alerts import opened
from tests.portal.test_overview import make_upload

SignedIn = Callable[[User], Browser]


@pytest.fixture
def clock() -> Iterator[None]:
    with set_clock() as clock:
        clock.set("2026-11-20T12:00:00")
        yield


def bell(page: str) -> str:
    (label,) = set(re.findall(r'aria-label="(Notifications[^"]*)"', page))
    return str(label)


def titles_on(page: str) -> list[str]:
    found = re.findall(r'class="list-row-title[^>]*>([^<]*)</', page)
    return [unescape(words) for words in found]


@pytest.fixture
def system_pauses(session: Session, tenant: Tenant) -> None:
    """A pause of calling and a paused webhook, both by the system."""
    worker = system_caller("worker", partner_id=tenant.partner.id)
    scope = PauseScope(partner_id=tenant.partner.id, organization_id=tenant.organization.id)
    pauses.pause(session, worker, scope, "Unusual calls")
    audit.record(
        session,
        worker,
        action="webhook.paused",
        target_type="webhook",
        target_id=tenant.plus.id,
        organization_id=tenant.plus.id,
        target="crm.example",
    )
    session.commit()


@pytest.mark.usefixtures("system_pauses")
def test_the_bell_counts_unread_notifications(tenant: Tenant, signed_in: SignedIn) -> None:
    admin, customer_admin = (signed_in(tenant.staff[r]) for r in (Role.PARTNER_ADMIN, Role.ADMIN))
    page = admin.get("/notifications").text
    assert bell(page) == "Notifications, 2 unread"
    assert titles_on(page) == ["Webhook paused: crm.example", "Calling paused"]
    assert (page.count(">New<"), page.count("list-row-link")) == (2, 2)
    admin.post("/notifications/read", page="/notifications")
    page = admin.get("/notifications").text
    assert (bell(page), page.count(">New<"), len(titles_on(page))) == ("Notifications", 0, 2)
    assert bell(customer_admin.get("/").text) == "Notifications, 1 unread"


def buttons(page: str) -> list[str]:
    return re.findall(r'action="(/notifications/[0-9a-f-]+/read[^"]*)"', page)


@pytest.mark.usefixtures("system_pauses")
def test_one_notification_is_marked_as_read_by_its_reader_alone(
    tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    admin, colleague = (signed_in(tenant.staff[r]) for r in (Role.PARTNER_ADMIN, Role.ADMIN))
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    newest, oldest = buttons(admin.get("/notifications").text)
    for browser in (stranger, admin, admin):
        assert browser.post(oldest, page="/notifications").status_code == 303
    page = admin.get("/notifications").text
    assert (bell(page), buttons(page)) == ("Notifications, 1 unread", [newest])
    assert bell(colleague.get("/").text) == "Notifications, 1 unread"
    admin.post("/notifications/read", page="/notifications")
    assert bell(admin.get("/").text) == "Notifications"


@pytest.mark.usefixtures("system_pauses")
def test_opening_a_notification_marks_it_as_read_and_leads_to_its_page(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    newest, oldest = buttons(admin.get("/notifications").text)
    opened = admin.post(newest, {"open": "1"}, page="/notifications")
    assert (opened.status_code, opened.location) == (303, "/api-access/webhooks")
    page = admin.get("/notifications").text
    assert buttons(page) == [oldest]
    assert 'list-row-link" href="/api-access/webhooks"' in page


@pytest.mark.usefixtures("system_pauses")
def test_notifications_are_filtered_by_kind_and_unread(tenant: Tenant, signed_in: SignedIn) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = admin.get("/notifications?kind=webhook&state=unread").text
    assert titles_on(page) == ["Webhook paused: crm.example"]
    [button] = buttons(page)
    answer = admin.post(unescape(button), page="/notifications")
    assert answer.headers["Location"] == "/notifications?kind=webhook&state=unread"
    page = admin.get("/notifications?kind=webhook&state=unread").text
    assert titles_on(page) == []
    assert "No notification matches." in page
    assert titles_on(admin.get("/notifications?state=unread").text) == ["Calling paused"]
    assert len(titles_on(admin.get("/notifications?kind=webhook").text)) == 1
    assert len(titles_on(admin.get("/notifications?kind=others").text)) == 2
    kinds = re.findall(r'<option value="([a-z_]+)"', admin.get("/notifications").text)
    member = re.findall(
        r'<option value="([a-z_]+)"', signed_in(tenant.user).get("/notifications").text
    )
    assert kinds == [*KINDS, "unread"]
    assert member == ["campaign", "dialling", "upload", "unread"]


@pytest.mark.usefixtures("system_pauses")
def test_a_notification_names_its_organization_to_staff(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    for browser, named in (
        (signed_in(tenant.staff[Role.ADMIN]), True),
        (signed_in(tenant.user), False),
    ):
        [words] = re.findall(r'list-row-text">([^<]*)', browser.get("/notifications").text)
        assert words.startswith("Northwind Bakery · ") is named


def test_an_upload_shows_its_counts_and_its_undo(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    session.info["own"] = tenant
    upload = make_upload(session, tenant.plus, status=ImportStatus.DONE)
    audit.record(
        session,
        system_caller("worker", partner_id=tenant.partner.id),
        action="upload.applied",
        target_type="upload",
        target_id=upload.id,
        organization_id=tenant.plus.id,
        target="recall.csv",
        after={"created": 1200, "updated": 0, "deleted": 0, "ignored": 1, "failed": 2},
    )
    session.commit()
    browser = signed_in(tenant.staff[Role.ADMIN])
    [words] = re.findall(r'list-row-text">([^<]*)', browser.get("/notifications").text)
    assert words.startswith("Northwind Dental · 1,200 created, 1 ignored, 2 failed · ")
    assert ">Undone<" not in browser.get("/notifications").text
    upload.undo_status = UNDONE
    session.commit()
    assert ">Undone<" in browser.get("/notifications").text


def test_an_acknowledged_alert_has_been_read_by_all_staff(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin, colleague = (signed_in(tenant.staff[r]) for r in (Role.PARTNER_ADMIN, Role.ADMIN))
    rule = {"threshold": "20", "period": "7-days", "scope": "each-organization"}
    form = "/alerts/rules/new?measure=answer-rate"
    admin.post(form, rule, page=form)
    alert = opened(session, tenant)
    assert [bell(each.get("/").text) for each in (admin, colleague)] == [
        "Notifications, 1 unread",
        "Notifications, 1 unread",
    ]
    admin.post(f"/alerts/{alert.id}/acknowledge", page="/alerts")
    assert [bell(each.get("/").text) for each in (admin, colleague)] == ["Notifications"] * 2


def test_more_entries_than_a_statement_has_parameters_are_read_at_once(
    session: Session, tenant: Tenant
) -> None:
    staff, entries = 150, 220
    for number in range(staff):
        make_user(
            session, tenant.partner.id, f"staff{number}@northwind.example", Role.PARTNER_EDITOR
        )
    for _ in range(entries):
        audit.record(
            session,
            system_caller("worker", partner_id=tenant.partner.id),
            action="alert.opened",
            target_type="alert",
            target_id="1",
            partner_id=tenant.partner.id,
        )
    admin = tenant.caller(Role.PARTNER_ADMIN)
    notified.mark_read_by_staff(session, admin, tenant.partner.id, AuditEntry.target_id == "1")
    stored = session.scalar(select(func.count()).select_from(ReadNotification)) or 0
    assert stored >= (staff + 1) * entries
    assert notified.count_unread(session, admin) == 0


def test_the_notifications_lead_to_the_choice_of_emails(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.user)
    assert 'href="/account#emails"' in browser.get("/notifications").text
    assert 'id="emails"' in browser.get("/account").text


@pytest.mark.usefixtures("system_pauses")
def test_users_are_notified_only_of_what_they_may_see(
    tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    assert titles_on(signed_in(tenant.user).get("/notifications").text) == ["Calling paused"]
    assert titles_on(signed_in(tenant.plus_user).get("/notifications").text) == []
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert titles_on(stranger.get("/notifications").text) == []


@pytest.mark.usefixtures("clock")
def test_reached_budgets_are_notified_to_those_who_see_them(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    subjects = (
        LimitSubject(organization_id=tenant.plus.id),
        LimitSubject(partner_id=tenant.partner.id),
    )
    for subject, scope in zip(
        subjects, (f"organization:{tenant.plus.id}", f"partner:{tenant.partner.id}"), strict=True
    ):
        budgets.change(session, admin, subject, 10_000_000)
        total = SpendingTotal(
            scope=scope,
            period="2026-11",
            partner_id=tenant.partner.id,
            organization_id=subject.organization_id,
            spent_micros=5_000_000,
        )
        session.add(total)
    session.flush()
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert budgets.alert(session, budgets.due_alerts(session, now), now) == 2
    session.commit()
    pages = {}
    for role in (Role.PARTNER_ADMIN, Role.ADMIN, Role.PARTNER_EDITOR):
        browser = signed_in(tenant.staff[role])
        browser.post("/notifications/read", page="/account")
        pages[role] = browser.get("/notifications").text
    of_customer = f"50 % of the budget spent: {tenant.plus.name}"
    assert {role: sorted(titles_on(page)) for role, page in pages.items()} == {
        Role.PARTNER_ADMIN: sorted(
            [of_customer, f"50 % of the budget spent: {tenant.partner.name}"]
        ),
        Role.ADMIN: [of_customer],
        Role.PARTNER_EDITOR: [],
    }
    assert f"{tenant.plus.name} · " not in pages[Role.ADMIN], "its title names it"
    assert f'href="/organizations/{tenant.plus.id}/spending"' in pages[Role.ADMIN]
    assert 'href="/settings/spending"' in pages[Role.PARTNER_ADMIN]


def test_users_are_not_notified_of_what_they_did(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    scope = PauseScope(partner_id=tenant.partner.id, organization_id=tenant.organization.id)
    pauses.pause(session, tenant.caller(Role.PARTNER_ADMIN), scope, "Holidays")
    session.commit()
    counts = [
        bell(signed_in(tenant.staff[role]).get("/").text)
        for role in (Role.PARTNER_ADMIN, Role.ADMIN)
    ]
    assert counts == ["Notifications", "Notifications, 1 unread"]


def test_older_notifications_are_on_the_next_page(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    worker = system_caller("worker", partner_id=tenant.partner.id)
    for number in range(30):
        audit.record(
            session,
            worker,
            action="webhook.paused",
            target_type="webhook",
            target_id=tenant.plus.id,
            organization_id=tenant.plus.id,
            target=f"crm{number}.example",
        )
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    first = admin.get("/notifications").text
    [further] = re.findall(r'href="(/notifications\?[^"]+)" rel="next"', first)
    second = admin.get(unescape(further)).text
    names = [f"Webhook paused: crm{number}.example" for number in reversed(range(30))]
    assert (titles_on(first), titles_on(second)) == (names[:25], names[25:])
    assert 'rel="next"' not in second


@pytest.mark.usefixtures("system_pauses")
def test_the_bell_refreshes_itself(tenant: Tenant, signed_in: SignedIn) -> None:
    browser = signed_in(tenant.user)
    part = browser.get("/notifications/bell", headers={"HX-Request": "true"}).text
    assert bell(part) == "Notifications, 1 unread"
    assert 'hx-trigger="every 60s"' in part
    assert "<html" not in part


def test_operators_get_no_notifications(operator: Browser) -> None:
    assert "/notifications" not in operator.get("/").text
    assert operator.get("/notifications").status_code == 404
