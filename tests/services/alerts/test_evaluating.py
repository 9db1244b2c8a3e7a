"""Rules open alerts, which resolve and open again; mails and webhooks are sent once."""

import json
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import AlertMeasure, AlertPeriod, AlertScope, OrganizationStatus, Role, WebhookEvent
from app.errors import ValidationFailed
from app.models import (
    Alert,
    AuditEntry,
    CallDay,
    ConversationDay,
    Mail,
    SpendingTotal,
    Webhook,
    WebhookDelivery,
    utcnow,
)
from app.schemas.fields import MAX_INTEGER
from app.services import alerts, spending, webhooks
from app.services.alerts import RuleInput, evaluating
from app.services.spending import LimitSubject, SpendingLimits, budgets
from tests.fixtures.clock import SetClock
from tests.fixtures.statements import counted
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

TODAY = date(2026, 10, 15)
WEEK = AlertPeriod.DAYS_7
EACH, ONE, PARTNER = AlertScope.EACH_ORGANIZATION, AlertScope.ORGANIZATION, AlertScope.PARTNER

pytestmark = pytest.mark.usefixtures("clock")


def rule(
    session: Session,
    tenant: Tenant,
    measure: AlertMeasure,
    threshold: int,
    scope: AlertScope = EACH,
    period: AlertPeriod = AlertPeriod.DAYS_7,
    **more: Any,
) -> UUID:
    wanted = RuleInput(measure, scope, threshold, period, **more)
    return alerts.create(session, tenant.caller(Role.PARTNER_ADMIN), wanted).id


def ended(session: Session, tenant: Tenant, organization_id: UUID, day: date, *counts: int) -> None:
    """Calls of a day: ended, answered, failed."""
    names = ("ended", "answered", "failed")
    session.add(
        CallDay(
            organization_id=organization_id,
            partner_id=tenant.partner.id,
            day=day,
            **dict(zip(names, counts, strict=True)),
        )
    )
    session.flush()


def talked(session: Session, tenant: Tenant, day: date, conversations: int, minutes: int) -> None:
    session.add(
        ConversationDay(
            organization_id=tenant.organization.id,
            partner_id=tenant.partner.id,
            day=day,
            conversations=conversations,
            seconds=60 * minutes,
        )
    )
    session.flush()


def evaluate(session: Session) -> list[str]:
    """Evaluates the rules as the worker does; the titles of the open alerts afterwards."""
    now = utcnow()
    alerts.apply(session, alerts.changes(session, now), now)
    page = alerts.search(session, OPERATOR)
    return sorted(shown.title.replace("\N{NO-BREAK SPACE}", " ") for shown in page.items)


def test_a_low_answer_rate_opens_one_alert_which_resolves_and_opens_again(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    rule(session, tenant, AlertMeasure.ANSWER_RATE, 20)
    assert evaluate(session) == []
    ended(session, tenant, tenant.organization.id, TODAY, 40, 6, 0)
    ended(session, tenant, tenant.plus.id, TODAY, 19, 0, 0)  # too few to be a rate
    assert evaluate(session) == ["Northwind Bakery: 15 % of calls answered in 7 days"]
    assert evaluate(session) == ["Northwind Bakery: 15 % of calls answered in 7 days"]
    clock.set("2026-10-16T12:00")
    ended(session, tenant, tenant.organization.id, TODAY + timedelta(days=1), 40, 40, 0)
    assert evaluate(session) == []
    clock.set("2026-10-23T12:00")
    ended(session, tenant, tenant.organization.id, TODAY + timedelta(days=8), 20, 1, 0)
    assert evaluate(session) == ["Northwind Bakery: 5 % of calls answered in 7 days"]
    stored = session.scalars(select(Alert).order_by(Alert.id)).all()
    assert [(each.value, each.resolved_at is None) for each in stored] == [(15, False), (5, True)]
    actions = select(AuditEntry.action).where(AuditEntry.target_type == "alert")
    assert session.scalars(actions.order_by(AuditEntry.id)).all() == [
        "alert.opened",
        "alert.resolved",
        "alert.opened",
    ]


def test_each_measure_reads_its_own_figures(
    session: Session, tenant: Tenant, settings: Settings
) -> None:
    one: dict[str, Any] = {"scope": ONE, "organization_id": tenant.organization.id}
    rule(session, tenant, AlertMeasure.CONVERSATIONS, 99, PARTNER, AlertPeriod.MONTH)
    rule(session, tenant, AlertMeasure.CONVERSATIONS, 100, PARTNER, AlertPeriod.MONTH)
    rule(session, tenant, AlertMeasure.MINUTES, 29, period=AlertPeriod.TODAY, **one)
    rule(session, tenant, AlertMeasure.FAILED_CALLS, 4, period=AlertPeriod.DAYS_30, **one)
    rule(session, tenant, AlertMeasure.SPENDING, 80, **one)
    rule(session, tenant, AlertMeasure.LIMITS, 50)
    talked(session, tenant, TODAY.replace(day=1), 60, 70)
    talked(session, tenant, TODAY, 40, 30)
    talked(session, tenant, TODAY.replace(month=9, day=30), 1000, 1000)
    ended(session, tenant, tenant.organization.id, TODAY - timedelta(days=29), 9, 0, 5)
    ended(session, tenant, tenant.organization.id, TODAY - timedelta(days=30), 9, 0, 9)
    subject = LimitSubject(organization_id=tenant.organization.id)
    spending.change(session, OPERATOR, subject, SpendingLimits(month_minutes=10))
    session.add(
        SpendingTotal(
            scope=f"organization:{tenant.organization.id}",
            period="2026-10",
            partner_id=tenant.partner.id,
            organization_id=tenant.organization.id,
            spent_seconds=500,
        )
    )
    tenant.plus.user_limit = 2
    session.flush()
    assert evaluate(session) == [
        "Northwind Bakery: 30 minutes of conversation today",
        "Northwind Bakery: 5 failed calls in 30 days",
        "Northwind Bakery: 83 % of a spending limit used",
        "Northwind Dental: 50 % of its users or assistants used",
        "The portal: 100 conversations this month",
    ]


def test_silence_counts_from_the_last_call_or_creation_if_active(
    session: Session, tenant: Tenant
) -> None:
    tenant.organization.created_at = tenant.plus.created_at = utcnow() - timedelta(days=9)
    session.flush()
    rule(session, tenant, AlertMeasure.SILENCE, 5)
    rule(session, tenant, AlertMeasure.SILENCE, 2, PARTNER)
    ended(session, tenant, tenant.plus.id, TODAY - timedelta(days=3), 1, 0, 0)
    assert evaluate(session) == [
        "Northwind Bakery: no calls for 9 days",
        "The portal: no calls for 3 days",
    ]
    tenant.organization.status = OrganizationStatus.SUSPENDED
    talked(session, tenant, TODAY, 1, 1)
    session.flush()
    assert evaluate(session) == ["The portal: no calls for 3 days"]


def test_an_alert_about_the_whole_portal_reaches_the_webhooks_of_the_portal_only(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    events = [WebhookEvent.ALERT_OPENED.value, WebhookEvent.ALERT_RESOLVED.value]
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for whose in (None, tenant.organization.id):
        webhooks.add(
            session,
            admin,
            settings,
            organization_id=whose,
            url="https://crm.example/hooks",
            events=events,
        )
    rule_id = rule(session, tenant, AlertMeasure.FAILED_CALLS, 1, PARTNER)
    for organization in (tenant.organization, tenant.plus):
        ended(session, tenant, organization.id, TODAY, 1, 0, 1)
    evaluate(session)
    alerts.update(session, admin, rule_id, RuleInput(AlertMeasure.FAILED_CALLS, PARTNER, 5, WEEK))
    evaluate(session)
    sent = session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id)).all()
    assert {session.get_one(Webhook, each.webhook_id).organization_id for each in sent} == {None}
    opened, resolved = (json.loads(each.payload) for each in sent)
    assert (opened["type"], resolved["type"]) == ("alert.opened", "alert.resolved")
    alert = session.scalars(select(Alert)).one()
    assert opened["data"] == {
        "alertId": str(alert.id),
        "organizationId": None,
        "measure": "failed-calls",
        "threshold": 1,
        "value": 2,
        "title": "The portal: 2 failed calls in 7 days",
        "openedAt": "2026-10-15T12:00:00.000Z",
        "resolvedAt": None,
    }


def test_one_mail_names_all_alerts_of_a_rule_and_webhooks_get_their_own(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    webhooks.add(
        session,
        OPERATOR,
        settings,
        organization_id=tenant.organization.id,
        url="https://crm.example/hooks",
        events=[WebhookEvent.ALERT_OPENED.value, WebhookEvent.ALERT_RESOLVED.value],
    )
    tenant.staff[Role.ADMIN].notifications = {"alertOpened": False}
    rule_id = rule(session, tenant, AlertMeasure.FAILED_CALLS, 1)
    for organization in (tenant.organization, tenant.plus):
        ended(session, tenant, organization.id, TODAY, 2, 0, 2)
    evaluate(session)
    mails = session.scalars(select(Mail).where(Mail.kind == "alerts_opened")).all()
    assert [(mail.user_id, mail.details) for mail in mails] == [
        (
            tenant.staff[Role.PARTNER_ADMIN].id,
            {
                "rule": "An organization has more than 1 failed call in 7 days",
                "ruleId": str(rule_id),
                "titles": [
                    "Northwind Bakery: 2 failed calls in 7 days",
                    "Northwind Dental: 2 failed calls in 7 days",
                ],
                "more": 0,
            },
        )
    ]
    wanted = RuleInput(AlertMeasure.FAILED_CALLS, EACH, 5, AlertPeriod.DAYS_7)
    alerts.update(session, tenant.caller(Role.PARTNER_ADMIN), rule_id, wanted)
    assert evaluate(session) == []
    payloads = session.scalars(select(WebhookDelivery.payload).order_by(WebhookDelivery.id))
    reported = [json.loads(payload) for payload in payloads]
    assert [each["type"] for each in reported] == ["alert.opened", "alert.resolved"]
    alert = session.scalars(
        select(Alert).where(Alert.organization_id == tenant.organization.id)
    ).one()
    assert reported[0]["data"] == {
        "alertId": str(alert.id),
        "organizationId": str(tenant.organization.id),
        "measure": "failed-calls",
        "threshold": 1,
        "value": 2,
        "title": "Northwind Bakery: 2 failed calls in 7 days",
        "openedAt": "2026-10-15T12:00:00.000Z",
        "resolvedAt": None,
    }


def test_a_muted_rule_opens_alerts_and_sends_nothing(session: Session, tenant: Tenant) -> None:
    rule_id = rule(session, tenant, AlertMeasure.FAILED_CALLS, 1)
    alerts.mute(session, tenant.caller(Role.ADMIN), rule_id, 7)
    ended(session, tenant, tenant.organization.id, TODAY, 2, 0, 2)
    assert evaluate(session) == ["Northwind Bakery: 2 failed calls in 7 days"]
    assert session.scalars(select(Mail).where(Mail.kind == "alerts_opened")).all() == []


def test_a_rule_that_every_organization_meets_opens_a_limited_number_of_alerts(
    session: Session, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluating, "MAX_OPEN", 1)
    rule(session, tenant, AlertMeasure.FAILED_CALLS, 1)
    for organization in (tenant.organization, tenant.plus):
        ended(session, tenant, organization.id, TODAY, 2, 0, 2)
    assert len(evaluate(session)) == 1
    assert len(evaluate(session)) == 1


def test_two_workers_open_an_alert_once(session: Session, tenant: Tenant) -> None:
    rule(session, tenant, AlertMeasure.FAILED_CALLS, 1)
    ended(session, tenant, tenant.organization.id, TODAY, 2, 0, 2)
    now = utcnow()
    first, second = alerts.changes(session, now), alerts.changes(session, now)
    alerts.apply(session, first, now)
    alerts.apply(session, second, now)
    assert len(session.scalars(select(Alert)).all()) == 1


def test_a_measure_is_read_once_for_the_rules_of_all_partners(
    session: Session, tenant: Tenant
) -> None:
    def queries() -> list[str]:
        session.flush()
        with counted(session.connection().engine) as seen:
            alerts.changes(session, utcnow())
        return [statement.split()[0] for statement in seen]

    rule(session, tenant, AlertMeasure.FAILED_CALLS, 1, PARTNER)
    few = queries()
    other_tenant = make_tenant(session, "Southgate")
    for each in (tenant, other_tenant):
        for threshold in (2, 3, 4):
            rule(session, each, AlertMeasure.FAILED_CALLS, threshold, PARTNER)
    assert queries() == few == ["SELECT", "SELECT", "SELECT"]


def test_the_organization_nearest_to_an_alert_is_shown_for_each_measure_and_period(
    session: Session, tenant: Tenant
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    bakery, dental = tenant.organization, tenant.plus

    def nearest() -> dict[str, list[str]]:
        return {
            measure.value: [
                title.replace("\N{NO-BREAK SPACE}", " ")
                for title in alerts.nearest(session, admin, measure).values()
            ]
            for measure in AlertMeasure
        }

    before_midnight = utcnow() - timedelta(days=40, hours=12, milliseconds=300)
    bakery.created_at = dental.created_at = before_midnight
    session.flush()
    nothing = nearest()
    silent = nothing.pop("silence")
    assert (silent[0].partition(": ")[2], len(silent)) == ("no calls for 41 days", 1)
    assert set(map(tuple, nothing.values())) == {()}
    talked(session, tenant, TODAY - timedelta(days=20), 70, 7)
    ended(session, tenant, bakery.id, TODAY - timedelta(days=3), 40, 30, 10)
    ended(session, tenant, dental.id, TODAY, 50, 3, 2)
    dental.user_limit = 3
    for organization, limits in (
        (bakery, SpendingLimits(month_minutes=10, day_minutes=5)),
        (dental, SpendingLimits(day_micros=0)),
    ):
        spending.change(session, OPERATOR, LimitSubject(organization_id=organization.id), limits)
    for period, seconds in (("2026-10", 400), ("2026-10-15", 250)):
        session.add(
            SpendingTotal(
                scope=f"organization:{bakery.id}",
                period=period,
                partner_id=tenant.partner.id,
                organization_id=bakery.id,
                spent_seconds=seconds,
            )
        )
    session.flush()
    assert nearest() == {
        "conversations": [
            "Northwind Bakery: 0 conversations today",
            "Northwind Bakery: 0 conversations in 7 days",
            "Northwind Bakery: 70 conversations in 30 days",
            "Northwind Bakery: 0 conversations this month",
        ],
        "minutes": [
            "Northwind Bakery: 0 minutes of conversation today",
            "Northwind Bakery: 0 minutes of conversation in 7 days",
            "Northwind Bakery: 7 minutes of conversation in 30 days",
            "Northwind Bakery: 0 minutes of conversation this month",
        ],
        "answer-rate": [
            "Northwind Dental: 6 % of calls answered today",
            "Northwind Dental: 6 % of calls answered in 7 days",
            "Northwind Dental: 6 % of calls answered in 30 days",
            "Northwind Dental: 6 % of calls answered this month",
        ],
        "failed-calls": [
            "Northwind Dental: 2 failed calls today",
            "Northwind Bakery: 10 failed calls in 7 days",
            "Northwind Bakery: 10 failed calls in 30 days",
            "Northwind Bakery: 10 failed calls this month",
        ],
        "spending": ["Northwind Bakery: 83 % of a spending limit used"],
        "budget": [],
        "limits": ["Northwind Dental: 33 % of its users or assistants used"],
        "silence": ["Northwind Bakery: no calls for 3 days"],
    }


def test_a_rule_writes_to_its_recipients_and_the_owners_of_its_organization_alone(
    session: Session, tenant: Tenant
) -> None:
    tenant.user.is_owner, tenant.user.language = True, "de"
    editor = tenant.staff[Role.PARTNER_EDITOR]
    editor.language = "fr"
    people = ("books@acme.example", editor.email.upper())
    whose: dict[str, Any] = {"organization_id": tenant.organization.id, "to_owners": True}
    rule(session, tenant, AlertMeasure.CONVERSATIONS, 5, ONE, recipients=people, **whose)
    talked(session, tenant, TODAY, 9, 9)
    evaluating.apply(session, evaluating.changes(session, utcnow()), utcnow())
    sent = session.scalars(select(Mail).where(Mail.kind == "alerts_opened")).all()
    assert {each.user_id or each.to: each.details["titles"] for each in sent} == {
        "books@acme.example": ["Northwind Bakery: 9 conversations in 7 days"],
        editor.id: ["Northwind Bakery\u202f: 9 conversations en 7 jours"],
        tenant.user.id: ["Northwind Bakery: 9 Gespräche in 7 Tagen"],
    }


def test_recipients_of_a_rule_are_checked_and_owners_belong_to_one_organization(
    session: Session, tenant: Tenant
) -> None:
    with pytest.raises(ValidationFailed) as error:
        rule(session, tenant, AlertMeasure.MINUTES, 5, PARTNER, recipients=("ann",))
    assert [(each.field, each.code) for each in error.value.problems] == [
        ("recipients", "invalid_email")
    ]
    known = rule(session, tenant, AlertMeasure.MINUTES, 5, PARTNER, to_owners=True)
    assert alerts.get(session, tenant.caller(Role.PARTNER_ADMIN), known).to_owners is False


def test_a_tiny_budget_that_is_far_exceeded_opens_an_alert(
    session: Session, tenant: Tenant
) -> None:
    staff = tenant.caller(Role.PARTNER_ADMIN)
    budgets.change(session, staff, LimitSubject(partner_id=tenant.partner.id), 1)
    scope, partner_id = f"partner:{tenant.partner.id}", tenant.partner.id
    session.add(
        SpendingTotal(scope=scope, period="2026-10", partner_id=partner_id, spent_micros=50_000_000)
    )
    session.flush()
    rule(session, tenant, AlertMeasure.BUDGET, 80, PARTNER)
    evaluate(session)
    [alert] = session.scalars(select(Alert)).all()
    assert alert.value == MAX_INTEGER


def test_a_rule_watches_the_budgets_of_organizations_and_of_the_portal(
    session: Session, tenant: Tenant
) -> None:
    staff = tenant.caller(Role.PARTNER_ADMIN)
    each = rule(session, tenant, AlertMeasure.BUDGET, 80)
    portal = rule(session, tenant, AlertMeasure.BUDGET, 90, PARTNER)
    for subject, key, organization_id in (
        (
            LimitSubject(organization_id=tenant.plus.id),
            f"organization:{tenant.plus.id}",
            tenant.plus.id,
        ),
        (LimitSubject(partner_id=tenant.partner.id), f"partner:{tenant.partner.id}", None),
    ):
        budgets.change(session, staff, subject, 100_000_000)
        total = SpendingTotal(scope=key, period="2026-10", partner_id=tenant.partner.id)
        total.organization_id, total.spent_micros = organization_id, 85_900_000
        session.add(total)
    session.flush()
    evaluating.apply(session, evaluating.changes(session, utcnow()), utcnow())
    found = session.scalars(select(Alert)).all()
    assert [(one.rule_id, one.subject_id, one.value) for one in found] == [
        (each, tenant.plus.id, 85)
    ]
    session.get_one(SpendingTotal, (f"partner:{tenant.partner.id}", "2026-10")).spent_micros *= 2
    session.flush()
    evaluating.apply(session, evaluating.changes(session, utcnow()), utcnow())
    shown = alerts.search(session, staff).items
    assert {one.alert.rule_id: one.title for one in shown} == {
        each: "Northwind Dental: 85\N{NO-BREAK SPACE}% of the budget of the month spent",
        portal: "The portal: 171\N{NO-BREAK SPACE}% of the budget of the month spent",
    }
