"""Alerts are stored in English and shown in the language of who reads them."""

from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import languages
from app.enums import AlertMeasure, AlertScope, Role
from app.models import AuditEntry, Mail, User, utcnow
from app.services import alerts
from app.services.alerts import RuleInput
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

ENGLISH = "Northwind Bakery: no calls for 30 days"


def in_german(message: str, number: int, who: str) -> str:
    with languages.using_language("de"):
        return languages.ngettext(message.replace("days", "day"), message, number, who=who)


@pytest.fixture
def german_title(session: Session, tenant: Tenant) -> str:
    """A rule that a German admin has made, and the German title of the alert that it opened."""
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.flush()
    with languages.using_language("de"):  # as on the admin's pages
        wanted = RuleInput(
            AlertMeasure.SILENCE,
            AlertScope.ORGANIZATION,
            7,
            organization_id=tenant.organization.id,
        )
        alerts.create(session, tenant.caller(Role.PARTNER_ADMIN), wanted)
    tenant.organization.created_at -= timedelta(days=30)
    session.flush()
    alerts.apply(session, alerts.changes(session, utcnow()), utcnow())
    session.commit()
    title = in_german("%(who)s: no calls for %(num)s days", 30, "Northwind Bakery")
    assert title != ENGLISH
    return title


@pytest.mark.parametrize("page", ["/", "/alerts", "/notifications"])
def test_pages_show_the_title_in_the_language_of_each_user(
    tenant: Tenant, signed_in: SignedIn, german_title: str, page: str
) -> None:
    german = unescape(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(page).text)
    english = unescape(signed_in(tenant.staff[Role.ADMIN]).get(page).text)
    assert german_title in german
    assert ENGLISH not in german
    assert german_title not in english
    assert ENGLISH in english


@pytest.mark.usefixtures("german_title")
def test_the_latest_changes_name_a_rule_in_the_language_of_their_reader(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    page = unescape(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/").text)
    assert "Northwind Bakery hat seit 7 Tagen keine Anrufe" in page
    assert "Northwind Bakery has no calls" not in page


@pytest.mark.usefixtures("german_title")
def test_the_history_has_the_english_words(session: Session) -> None:
    actions = ("alert_rule.created", "alert.opened")
    entries = select(AuditEntry.target).where(AuditEntry.action.in_(actions))
    assert session.scalars(entries.order_by(AuditEntry.id)).all() == [
        "Northwind Bakery has no calls for 7 days",
        ENGLISH,
    ]


def test_a_mail_has_the_language_of_its_reader(
    session: Session, tenant: Tenant, german_title: str
) -> None:
    mails = session.scalars(select(Mail).where(Mail.kind == "alerts_opened")).all()
    titles = {mail.user_id: mail.details["titles"] for mail in mails}
    assert titles == {
        tenant.staff[Role.PARTNER_ADMIN].id: [german_title],
        tenant.staff[Role.ADMIN].id: [ENGLISH],
    }


def test_a_deleted_alert_keeps_its_english_title_in_the_notifications(
    session: Session, tenant: Tenant, signed_in: SignedIn, german_title: str
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    ((rule, _words, _last_opened),) = alerts.listing(session, caller)
    alerts.remove(session, caller, rule.id)
    session.commit()
    page = unescape(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/notifications").text)
    assert ENGLISH in page
    assert german_title not in page
