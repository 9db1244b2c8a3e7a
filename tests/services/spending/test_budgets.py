"""Budgets: alerts at 50, 80 and 100 %, each once a month, and nothing is stopped."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, Mail, MailKind, SpendingTotal
from app.services import overview
from app.services.spending import LimitSubject, budgets
from app.services.spending.budgets import MonthBudget
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant, make_tenant

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DOLLAR = 1_000_000


def plus(tenant: Tenant) -> LimitSubject:
    return LimitSubject(organization_id=tenant.plus.id)


def spend(session: Session, tenant: Tenant, dollars: int, month: str = "2026-11") -> None:
    key = (f"organization:{tenant.plus.id}", month)
    total = session.get(SpendingTotal, key)
    if total is None:
        total = SpendingTotal(
            scope=key[0],
            period=month,
            partner_id=tenant.partner.id,
            organization_id=tenant.plus.id,
        )
        session.add(total)
    total.spent_micros = dollars * DOLLAR
    session.flush()


def alert(session: Session, now: datetime) -> int:
    return budgets.alert(session, budgets.due_alerts(session, now), now)


def mails(session: Session) -> list[tuple[Any, ...]]:
    found = session.scalars(
        select(Mail).where(Mail.kind == MailKind.BUDGET_REACHED.value).order_by(Mail.id)
    )
    return [(each.user_id, each.details["percent"], each.details["spent"]) for each in found]


def test_each_threshold_is_reported_once_a_month(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    budgets.change(session, admin, plus(tenant), 100 * DOLLAR)
    counts = []
    for dollars in (49, 50, 79, 79, 85, 120, 130):
        spend(session, tenant, dollars)
        counts.append(alert(session, NOW))
    assert counts == [0, 1, 0, 0, 1, 1, 0]
    to = tenant.staff[Role.PARTNER_ADMIN].id
    assert mails(session) == [(to, 50, "$50.00"), (to, 80, "$85.00"), (to, 100, "$120.00")]
    history = select(AuditEntry.after).where(AuditEntry.action == "organization.budget_reached")
    assert session.scalars(history.order_by(AuditEntry.id)).all() == [
        {"percent": 50},
        {"percent": 80},
        {"percent": 100},
    ]
    spend(session, tenant, 60, "2026-12")
    assert alert(session, datetime(2026, 12, 1, tzinfo=UTC)) == 1


def test_a_level_that_costs_fall_back_to_is_not_reported_again(
    session: Session, tenant: Tenant
) -> None:
    budgets.change(session, tenant.caller(Role.PARTNER_ADMIN), plus(tenant), 100 * DOLLAR)
    counts = []
    for dollars in (85, 60, 85, 100):
        spend(session, tenant, dollars)
        counts.append(alert(session, NOW))
    assert counts == [1, 0, 0, 1]


def test_a_budget_is_due_by_its_own_levels(session: Session, tenant: Tenant) -> None:
    for each, levels in ((tenant, [30, 40]), (make_tenant(session, "Southgate"), [60])):
        admin = each.caller(Role.PARTNER_ADMIN)
        budgets.change(session, admin, plus(each), 100 * DOLLAR, levels=levels)
        spend(session, each, 55)
    assert budgets.due_alerts(session, NOW) == [f"organization:{tenant.plus.id}"]


def test_a_budget_has_its_own_levels_and_recipients(session: Session, tenant: Tenant) -> None:
    admin, partner_admin = tenant.caller(Role.PARTNER_ADMIN), tenant.staff[Role.PARTNER_ADMIN]
    books = ["books@acme.example", partner_admin.email.upper()]
    budgets.change(session, admin, plus(tenant), 100 * DOLLAR, levels=[120, 90], recipients=books)
    assert budgets.budget_of(session, admin, plus(tenant)).levels == (90, 120)
    counts = []
    for dollars in (89, 90, 119, 125):
        spend(session, tenant, dollars)
        counts.append(alert(session, NOW))
    assert counts == [0, 1, 0, 1]
    sent = session.scalars(select(Mail).where(Mail.kind == MailKind.BUDGET_REACHED.value))
    assert sorted((each.details["percent"], each.to or "") for each in sent) == [
        (90, ""),
        (90, "books@acme.example"),
        (120, ""),
        (120, "books@acme.example"),
    ]
    budgets.change(session, admin, plus(tenant), 100 * DOLLAR, levels=[90, 120])
    assert alert(session, NOW) == 0
    changed = select(AuditEntry).where(AuditEntry.action == "organization.budget_changed")
    facts = [(each.before, each.after) for each in session.scalars(changed.order_by(AuditEntry.id))]
    assert facts[1] == ({"recipients": books}, {"recipients": []})


def test_a_user_gets_the_mail_in_their_own_language(session: Session, tenant: Tenant) -> None:
    tenant.plus_user.language = "de"
    people = [tenant.plus_user.email.upper(), "books@acme.example"]
    budgets.change(
        session, tenant.caller(Role.PARTNER_ADMIN), plus(tenant), 1000 * DOLLAR, recipients=people
    )
    spend(session, tenant, 1000)
    alert(session, NOW)
    sent = session.scalars(select(Mail).where(Mail.kind == MailKind.BUDGET_REACHED.value))
    extra = {
        each.user_id or each.to: each.details for each in sent if "isRecipient" in each.details
    }
    assert {key: details["budget"] for key, details in extra.items()} == {
        tenant.plus_user.id: "1.000,00\N{NO-BREAK SPACE}$",
        "books@acme.example": "$1,000.00",
    }


@pytest.mark.parametrize(
    ("levels", "recipients", "code"),
    [
        ([0], [], "out_of_range"),
        ([201], [], "out_of_range"),
        ([1, 2, 3, 4, 5, 6], [], "out_of_range"),
        ([50], ["nobody"], "invalid_email"),
        ([50], [f"u{n}@x.example" for n in range(21)], "too_many_recipients"),
    ],
)
def test_levels_and_recipients_are_checked(
    session: Session, tenant: Tenant, levels: list[int], recipients: list[str], code: str
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    with pytest.raises(ValidationFailed) as error:
        budgets.change(session, admin, plus(tenant), DOLLAR, levels=levels, recipients=recipients)
    assert [problem.code for problem in error.value.problems] == [code]


def test_a_budget_that_is_changed_alerts_again(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    budgets.change(session, admin, plus(tenant), 100 * DOLLAR)
    spend(session, tenant, 110)
    alert(session, NOW)
    budgets.change(session, admin, plus(tenant), 200 * DOLLAR)
    alert(session, NOW)
    assert [percent for _user, percent, _spent in mails(session)] == [100, 50]


def test_the_overview_names_budgets_that_are_nearly_spent(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    budgets.change(session, admin, plus(tenant), 100 * DOLLAR)
    spend(session, tenant, 85)
    with set_clock() as clock:
        clock.now = NOW
        alert(session, NOW)
        shown = [
            (item.title, item.text)
            for item in overview.find_action_items(session, admin, worker_silent_after=60).items
        ]
    assert (tenant.plus.name, "85.0 % of this month’s budget is spent.") in shown


def test_the_budget_of_the_portal_is_its_own(session: Session, tenant: Tenant) -> None:
    admin, portal = tenant.caller(Role.PARTNER_ADMIN), LimitSubject(partner_id=tenant.partner.id)
    assert budgets.change(session, admin, portal, 5 * DOLLAR) is True
    assert budgets.change(session, admin, portal, 5 * DOLLAR) is False
    assert budgets.budget_of(session, admin, portal) == MonthBudget(5 * DOLLAR, 0, "USD", 1)
    assert budgets.budget_of(session, admin, plus(tenant)) == MonthBudget(None, 0, "USD", 0)
    with pytest.raises(Conflict):
        budgets.change(session, admin, portal, 6 * DOLLAR, expected_version=0)


@pytest.mark.parametrize("micros", [0, -1, 10**16])
def test_an_amount_out_of_range_is_refused(session: Session, tenant: Tenant, micros: int) -> None:
    with pytest.raises(ValidationFailed):
        budgets.change(session, tenant.caller(Role.PARTNER_ADMIN), plus(tenant), micros)


def test_only_partner_admins_set_budgets_of_their_own_customers(
    session: Session, tenant: Tenant
) -> None:
    for role in (Role.ADMIN, Role.PARTNER_EDITOR, Role.STANDARD):
        with pytest.raises(Forbidden):
            budgets.change(session, tenant.caller(role), plus(tenant), DOLLAR)
    stranger = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    for subject in (plus(tenant), LimitSubject(partner_id=tenant.partner.id)):
        with pytest.raises(NotFound):
            budgets.change(session, stranger, subject, DOLLAR)
