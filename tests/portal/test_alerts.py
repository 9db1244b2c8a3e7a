"""Alerts on screen: rules are made, changed, muted and removed; alerts are acknowledged."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Alert, AlertRule, CallDay, User, utcnow
from app.services import alerts
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
NEW = "/alerts/rules/new?measure=answer-rate"
RULE = {"threshold": "20", "period": "7-days", "scope": "each-organization", "by_mail": "y"}


def text(page: str) -> str:
    return unescape(page).replace("\N{NO-BREAK SPACE}", " ")


def titles(browser: Browser, query: str = "") -> list[str]:
    return re.findall(r'class="name"[^>]*>([^<]+)<', text(browser.get(f"/alerts{query}").text))


def alert_titles(found: list[str], limits: tuple[str, ...]) -> list[str]:
    """The titles of alerts about the answer rate, with the limits of their rules."""
    return [
        f"{title} answered in 7 days (below {limit} %)"
        for title, limit in zip(found, limits, strict=True)
    ]


def day_of_calls(tenant: Tenant, answered: int) -> CallDay:
    return CallDay(
        organization_id=tenant.organization.id,
        partner_id=tenant.partner.id,
        day=utcnow().date(),
        ended=20,
        answered=answered,
    )


def opened_all(session: Session, tenant: Tenant) -> dict[int, Alert]:
    """The open alerts by the threshold of their rules: 1 of 20 calls of the bakery was answered."""
    session.add(day_of_calls(tenant, answered=1))
    session.flush()
    alerts.apply(session, alerts.changes(session, utcnow()), utcnow())
    session.commit()
    thresholds = {rule.id: rule.threshold for rule in session.scalars(select(AlertRule))}
    return {thresholds[alert.rule_id]: alert for alert in session.scalars(select(Alert))}


def opened(session: Session, tenant: Tenant) -> Alert:
    (alert,) = opened_all(session, tenant).values()
    return alert


def test_a_rule_for_each_organization_is_made_in_two_steps(admin: Browser) -> None:
    assert "No alert rules yet" in admin.get("/alerts").text
    assert NEW in admin.get("/alerts/rules/new").text
    assert admin.post(NEW, RULE, page=NEW).headers["Location"] == "/alerts"
    page = text(admin.get("/alerts").text)
    assert "An organization has less than 20 % of calls answered in 7 days" in page
    assert "No open alerts." in page


def test_a_rule_that_exists_already_is_refused_with_a_link_to_it(
    session: Session, admin: Browser
) -> None:
    admin.post(NEW, RULE, page=NEW)
    rule = session.scalars(select(AlertRule)).one()
    again = admin.post(NEW, RULE, page=NEW)
    words = "A rule with this measure, limit, period and scope exists already."
    link = f'<li>{words} <a href="/alerts/rules/{rule.id}">Open that rule</a></li>'
    assert again.status_code == 422
    assert link in again.text
    admin.post(NEW, RULE | {"threshold": "30"}, page=NEW)
    other = session.scalars(select(AlertRule.id).where(AlertRule.threshold == 30)).one()
    path = f"/alerts/rules/{other}"
    changed = admin.post(path, RULE | {"version": "1"}, page=path)
    assert changed.status_code == 422
    assert link in changed.text
    assert session.scalars(select(AlertRule.threshold).order_by(AlertRule.id)).all() == [20, 30]


def test_a_rule_for_one_organization_names_it(tenant: Tenant, admin: Browser) -> None:
    wanted = RULE | {"scope": "organization", "organization": "northwind bakery"}
    assert admin.post(NEW, wanted, page=NEW).status_code == 303
    page = text(admin.get("/alerts").text)
    assert "Northwind Bakery has less than 20 % of calls answered in 7 days" in page


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"threshold": "101"}, "Enter a whole number from 1 to 100."),
        ({"threshold": ""}, "Enter a whole number from 1 to 100."),
        ({"threshold": "a few"}, "Enter a whole number from 1 to 100."),
        ({"scope": "everyone"}, "Choose one of these."),
        ({"period": "yesterday"}, "Choose one of these."),
        ({"scope": "organization", "organization": "Southgate Bakery"}, "Choose one of your"),
        ({"scope": "organization"}, "Choose one of your organizations."),
    ],
)
@pytest.mark.usefixtures("other_tenant")
def test_a_rule_that_can_not_be_measured_is_refused(
    session: Session, admin: Browser, wrong: dict[str, str], words: str
) -> None:
    refused = admin.post(NEW, RULE | wrong, page=NEW)
    assert refused.status_code == 422
    assert words in refused.text
    assert session.scalars(select(AlertRule)).all() == []


def test_a_rule_can_watch_for_the_first_failed_call(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    page = NEW.replace("answer-rate", "failed-calls")
    assert admin.post(page, RULE | {"threshold": "0"}, page=page).status_code == 303
    assert "An organization has a failed call in 7 days" in text(admin.get("/alerts").text)
    day = day_of_calls(tenant, answered=0)
    session.add(day)
    session.flush()
    assert not alerts.changes(session, utcnow())
    day.failed = 1
    session.flush()
    assert len(alerts.changes(session, utcnow()).opened) == 1


def test_an_alert_is_on_the_overview_until_it_is_acknowledged(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(NEW, RULE, page=NEW)
    alert = opened(session, tenant)
    title = "Northwind Bakery: 5 % of calls answered in 7 days"
    item = f"{title} (below 20 %)"
    assert item in text(admin.get("/").text)
    today = datetime.now(UTC).date()
    days = f"start={today - timedelta(days=6)}&end={today}"
    calls = f"/calls?state=unanswered&{days}&organization={tenant.organization.id}"
    assert calls in unescape(admin.get("/alerts").text)
    acknowledged = admin.post(f"/alerts/{alert.id}/acknowledge", page="/alerts")
    assert acknowledged.headers["Location"] == "/alerts"
    page = text(admin.get("/alerts").text)
    assert title in page
    assert "Acknowledged" in page
    assert 'visually-hidden">Action<' not in page
    assert "1 alert on this page" in page
    assert item not in text(admin.get("/").text)


def test_customer_admins_see_the_company_instead_of_the_email_of_its_staff(
    session: Session, tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    tenant.staff[Role.PARTNER_ADMIN].name = "Maren Oduya"
    admin.post(NEW, RULE, page=NEW)
    alert = opened(session, tenant)
    admin.post(f"/alerts/{alert.id}/acknowledge", page="/alerts")
    email = tenant.staff[Role.PARTNER_ADMIN].email
    for role, name in (
        (Role.PARTNER_EDITOR, "Maren Oduya"),
        (Role.ADMIN, tenant.partner.name),
    ):
        page = text(signed_in(tenant.staff[role]).get("/alerts").text)
        assert f"by {name}<" in page
        assert email not in page


def test_an_open_alert_shows_what_is_measured_now(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(NEW, RULE, page=NEW)
    admin.post(NEW, RULE | {"scope": "partner", "threshold": "50"}, page=NEW)
    opened_titles = ["The portal: 5 % of calls", "Northwind Bakery: 5 % of calls"]
    session.add(day_of_calls(tenant, answered=1))
    session.flush()
    alerts.apply(session, alerts.changes(session, utcnow()), utcnow())
    session.commit()
    limits = ("50", "20")
    assert titles(admin) == alert_titles(opened_titles, limits)
    nearest = re.findall('data-period="[^"]+">(Northwind[^<]+)', text(admin.get(NEW).text))
    periods = ("today", "in 7 days", "in 30 days", "this month")
    assert nearest == [f"{opened_titles[1]} answered {period}" for period in periods]
    session.scalars(select(CallDay)).one().answered = 3
    session.commit()
    titles_now = [title.replace(": 5 %", ": 15 %") for title in opened_titles]
    assert titles(admin) == alert_titles(titles_now, limits)
    assert alert_titles(titles_now, limits)[0] in text(admin.get("/").text)
    page = text(admin.get("/alerts").text)
    assert len(re.findall(r"Measured [^<]+, \d\d:\d\d; 5 % when it opened", page)) == 2
    alert = session.scalars(select(Alert).order_by(Alert.opened_at.desc())).first()
    assert alert is not None
    admin.post(f"/alerts/{alert.id}/acknowledge", page="/alerts")
    assert re.findall(r"Acknowledged\. [^<]+ 15 % of calls", text(admin.get("/alerts").text))
    for alert in session.scalars(select(Alert)):
        alert.resolved_at = utcnow()
    session.commit()
    assert titles(admin, "?state=resolved") == alert_titles(opened_titles, limits)


def test_all_problems_of_a_rule_are_shown_at_once(admin: Browser) -> None:
    wrong = {"threshold": "a few", "scope": "organization", "organization": "", "recipients": "ann"}
    refused = text(admin.post(NEW, RULE | wrong, page=NEW).text)
    assert re.findall(r'class="field-error".*?<span>(.*?)</span>', refused, re.DOTALL) == [
        "Enter a whole number from 1 to 100.",
        "Choose one of your organizations.",
        "“ann” isn’t an email address.",
    ]


@pytest.mark.parametrize("days", [1, 7, 30])
def test_a_rule_is_muted_for_the_days_that_were_chosen(
    session: Session, admin: Browser, days: int
) -> None:
    admin.post(NEW, RULE, page=NEW)
    rule = session.scalars(select(AlertRule)).one()
    admin.post(f"/alerts/rules/{rule.id}/mute", {"days": str(days)}, page="/alerts")
    session.refresh(rule)
    assert rule.muted_until is not None
    assert round((rule.muted_until - utcnow()) / timedelta(days=1)) == days
    for others in ("2", "-1", "x"):
        path = f"/alerts/rules/{rule.id}/mute"
        assert admin.post(path, {"days": others}, page="/alerts").status_code == 404


def test_a_rule_is_changed_muted_and_removed(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(NEW, RULE, page=NEW)
    opened(session, tenant)
    rule = session.scalars(select(AlertRule)).one()
    page = f"/alerts/rules/{rule.id}"
    admin.post(page, RULE | {"threshold": "1", "version": "1"}, page=page)
    session.refresh(rule)
    assert (rule.threshold, rule.version) == (1, 2)
    admin.post(f"{page}/mute", {"days": "7"}, page="/alerts")
    assert "Muted until" in admin.get("/alerts").text
    admin.post(f"{page}/mute", {"days": "0"}, page="/alerts")
    assert "Muted until" not in admin.get("/alerts").text
    assert "Remove this alert rule?" in admin.get(f"{page}/remove").text
    admin.post(f"{page}/remove", page=f"{page}/remove")
    assert "No alert rules yet" in admin.get("/alerts").text
    assert session.scalars(select(Alert)).all() == []


def test_another_partners_rules_and_alerts_are_missing(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    admin.post(NEW, RULE, page=NEW)
    alert = opened(session, tenant)
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert "No alert rules yet" in stranger.get("/alerts").text
    answers = [
        stranger.get(f"/alerts/rules/{alert.rule_id}").status_code,
        stranger.post(f"/alerts/rules/{alert.rule_id}", RULE, page=NEW).status_code,
        stranger.post(f"/alerts/rules/{alert.rule_id}/mute", {"days": "7"}, page=NEW).status_code,
        stranger.post(f"/alerts/rules/{alert.rule_id}/remove", page=NEW).status_code,
        stranger.post(f"/alerts/{alert.id}/acknowledge", page=NEW).status_code,
    ]
    assert answers == [404] * 5


def test_an_editor_sees_alerts_and_changes_nothing(
    tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    admin.post(NEW, RULE, page=NEW)
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    page = editor.get("/alerts").text
    assert "An organization has less than" in page
    assert "Add rule" not in page
    assert "list-row-actions" not in page  # no room for buttons that aren't there
    assert editor.get(NEW).status_code == 404
    assert signed_in(tenant.user).get("/alerts").status_code == 404


def test_the_overview_leads_to_each_alert_and_puts_those_of_muted_rules_last(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(NEW, RULE, page=NEW)
    admin.post(NEW, RULE | {"scope": "partner", "threshold": "50"}, page=NEW)
    assert "No alert yet" in admin.get("/alerts").text
    opened_alert = opened_all(session, tenant)
    muted = session.scalars(select(AlertRule).where(AlertRule.threshold == 50)).one()
    admin.post(f"/alerts/rules/{muted.id}/mute", {"days": "7"}, page="/alerts")

    item = r'is-(danger|warning)(?:(?!is-).)*?href="/alerts#alert-([^"]+)"'
    overview = text(admin.get("/").text)
    assert overview.index("Your brand is incomplete") < overview.index("Muted.")
    items = re.findall(item, overview, re.DOTALL)
    assert items == [
        ("danger", str(opened_alert[20].id)),
        ("warning", str(opened_alert[50].id)),
    ]
    page = text(admin.get("/alerts").text)
    assert all(f'<tr id="alert-{alert.id}">' in page for alert in opened_alert.values())
    assert page.count("Last alert ") == 2
    assert "Muted</span>" in page


def test_the_recipients_of_a_rule_are_kept_shown_and_refused_at_their_field(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    new = "/alerts/rules/new?measure=answer-rate"
    refused = admin.post(new, {**RULE, "recipients": "ann"}, page=new)
    assert refused.status_code == 422
    assert "“ann” isn’t an email address." in refused.text
    admin.post(new, {**RULE, "recipients": "ann@example.com\nbob@example.com"}, page=new)
    stored = session.scalars(select(AlertRule)).one()
    assert stored.recipients == ["ann@example.com", "bob@example.com"]
    page = admin.get(f"/alerts/rules/{stored.id}").text
    assert "ann@example.com\nbob@example.com</textarea>" in page.replace("\r", "")
