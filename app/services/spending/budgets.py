"""Budgets: an amount per month, with alerts when parts of it are spent. They stop no calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    case,
    cast,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session

from app import languages
from app.errors import Problem, check_version, raise_problems
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import MailKind, Organization, Partner, SpendingLimit, SpendingTotal, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit, mail_queue, money_format
from app.services.partner_users import active_admins
from app.services.spending import rates
from app.services.spending.limits import (
    KINDS,
    MAX_MICROS,
    LimitSubject,
    new_limit,
    subject_row,
    totals_of,
)
from app.services.spending.scopes import month_period, scope_key
from app.services.tenancy import of_tenant

ALERTS = (50, 80, 100)
"""The default alert levels: percentages, each of which is reported once a month."""
MAX_LEVELS, MAX_LEVEL = 5, 200
NEARLY_SPENT = 80
"""Percentage from which a budget is an action item."""
ACTOR = "Budgets"


@dataclass(frozen=True, slots=True)
class MonthBudget:
    """The budget of a month in millionths, None without one, and its spent part."""

    micros: int | None
    spent: int
    currency: str
    version: int
    levels: tuple[int, ...] = ALERTS
    recipients: tuple[str, ...] = ()

    @property
    def reached_level(self) -> int | None:
        """Return the highest level that the spent part has reached."""
        if self.micros is None:
            return None
        reached = (level for level in self.levels if 100 * self.spent >= level * self.micros)
        return max(reached, default=None)


@dataclass(frozen=True, slots=True)
class ReachedBudget:
    """A budget with the spent percentage; without an organization, that of the partner."""

    organization: Organization | None
    percent: float


def budget_of(session: Session, caller: Caller, subject: LimitSubject) -> MonthBudget:
    """Return the budget of a partner or an organization. Raises `Forbidden`, `NotFound`."""
    row = subject_row(session, caller, subject)
    scope = scope_key(KINDS[type(row)], row.id)
    totals = totals_of(session, scope, utcnow())
    stored, month = totals.stored, totals.month
    return MonthBudget(
        stored.budget_micros if stored else None,
        month.spent_micros if month else 0,
        totals.currency,
        stored.version if stored else 0,
        *(_alerts_of(stored) if stored else (ALERTS, ())),
    )


def change(
    session: Session,
    caller: Caller,
    subject: LimitSubject,
    micros: int | None,
    *,
    levels: Sequence[int] = ALERTS,
    recipients: Sequence[str] = (),
    expected_version: int | None = None,
) -> bool:
    """Store the budget; return whether anything changed. A new amount or new ``levels`` restart its
    alerts. ``recipients`` are emails besides those of the partner admins.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``, ``invalid_email``,
    ``too_many_recipients``) and `Conflict` (``changed_meanwhile``).
    """
    caller.require(Permission.PARTNER_WRITE)
    row = subject_row(session, caller, subject, for_change=True)
    check(micros, levels, recipients)
    scope = scope_key(KINDS[type(row)], row.id)
    stored = session.get(SpendingLimit, scope, populate_existing=True)
    before = (stored.budget_micros, *_alerts_of(stored)) if stored else (None, ALERTS, ())
    after = (micros, tuple(sorted(set(levels))), tuple(recipients))
    if before == after:
        return False
    check_version(expected_version, stored.version if stored else 0, "budget")
    if stored is None:
        stored = new_limit(scope, row)
        session.add(stored)
    if before[:2] != after[:2]:
        stored.budget_alert = None
    stored.budget_micros = micros
    stored.budget_levels, stored.budget_recipients = list(after[1]), list(after[2])
    stored.version += 1
    session.flush()
    audit.record_change(
        session,
        caller,
        f"{KINDS[type(row)]}.budget_changed",
        row,
        before=_audit_values(session, *before),
        after=_audit_values(session, *after),
    )
    return True


def _alerts_of(stored: SpendingLimit) -> tuple[tuple[int, ...], tuple[str, ...]]:
    levels = ALERTS if stored.budget_levels is None else tuple(stored.budget_levels)
    return levels, tuple(stored.budget_recipients or ())


def _audit_values(
    session: Session, micros: int | None, levels: Sequence[int], recipients: Sequence[str]
) -> dict[str, Any]:
    return {
        "budgetAMonth": rates.audit_amount(session, micros),
        "alertLevels": list(levels),
        "recipients": list(recipients),
    }


def check(micros: int | None, levels: Sequence[int], recipients: Sequence[str]) -> None:
    """Raise `ValidationFailed` with every problem (``out_of_range``, ``invalid_email``,
    ``too_many_recipients``)."""
    problems = []
    if micros is not None and not 0 < micros <= MAX_MICROS:
        message = gettext(
            "Enter an amount above 0, up to %(most)s.",
            most=localize_number(MAX_MICROS // rates.MICROS),
        )
        problems.append(Problem("budget", "out_of_range", message))
    are_percentages = all(1 <= level <= MAX_LEVEL for level in levels)
    if not (are_percentages and 1 <= len(levels) <= MAX_LEVELS):
        message = gettext(
            "Enter 1 to %(count)s percentages from 1 to %(most)s, like 50, 80, 100.",
            count=MAX_LEVELS,
            most=MAX_LEVEL,
        )
        problems.append(Problem("levels", "out_of_range", message))
    problems += mail_queue.problems_of_recipients(recipients)
    raise_problems(problems)


def reached_budgets(session: Session, caller: Caller, limit: int) -> list[ReachedBudget]:
    """Return at most this many budgets of the caller's partner and its organizations that reached
    an alert level from `NEARLY_SPENT` on this month, in one query."""
    query = (
        _reached_query(caller)
        .add_columns(Organization, SpendingTotal.spent_micros)
        .join(SpendingTotal, SpendingTotal.scope == SpendingLimit.scope)
        .where(SpendingTotal.period == month_period(utcnow()), SpendingLimit.budget_micros > 0)
        .outerjoin(Organization, Organization.id == SpendingLimit.organization_id)
        .order_by(SpendingLimit.scope.desc())
        .limit(limit)
    )
    return [
        ReachedBudget(organization, 100 * spent / (budget.budget_micros or 1))
        for budget, organization, spent in session.execute(query)
    ]


def any_reached(caller: Caller) -> ColumnElement[bool]:
    """Return the condition that `reached_budgets` finds any."""
    return _reached_query(caller).exists()


def _reached_query(caller: Caller) -> Select[SpendingLimit]:
    limit = SpendingLimit
    rows = of_tenant(select(limit), caller, limit.partner_id, limit.organization_id)
    return rows.where(_reported_level(month_period(utcnow())) >= NEARLY_SPENT)


def due_alerts(session: Session, now: datetime) -> Sequence[str]:
    """Return the scopes of budgets that reached another of their alert levels. It only reads."""
    return session.scalars(
        _due_query(month_period(now)).with_only_columns(SpendingLimit.scope)
    ).all()


def alert(session: Session, scopes: Sequence[str], now: datetime) -> int:
    """Report those of the budgets that reached another of their alert levels: by mail to the
    partner admins and the other recipients, in the history and in the notifications; how many."""
    month, limit = month_period(now), SpendingLimit
    query = _due_query(month).where(limit.scope.in_(scopes)).with_for_update(of=limit)
    due = session.execute(query.execution_options(populate_existing=True)).all()
    for stored, spent in due:
        percent = max(level for level in _alerts_of(stored)[0] if _is_reached(stored, spent, level))
        stored.budget_alert = f"{month}:{percent}"
        _report_level(session, stored, percent, spent)
    return len(due)


def _is_reached(stored: SpendingLimit, spent: int, level: int) -> bool:
    return 100 * spent >= level * (stored.budget_micros or 0)


def _due_query(month: str) -> Select[SpendingLimit, int]:
    """The budgets that reached a level above the one that was reported this month, with the spent
    amount."""
    limit, total = SpendingLimit, SpendingTotal

    def is_due(level: ColumnElement[int]) -> ColumnElement[bool]:
        is_reached = 100 * total.spent_micros >= level * limit.budget_micros
        return is_reached & (level > _reported_level(month))

    levels = [limit.budget_levels[index].as_integer() for index in range(MAX_LEVELS)]
    default_levels = [literal(level) for level in ALERTS]
    return (
        select(limit, total.spent_micros)
        .join(total, total.scope == limit.scope)
        .where(total.period == month, total.spent_micros > 0)
        .where(
            or_(*map(is_due, levels))
            | (limit.budget_levels.is_(None) & or_(*map(is_due, default_levels)))
        )
        .order_by(limit.scope)
    )


def _reported_level(month: str) -> ColumnElement[int]:
    """The last level of which a budget's alert told in the month, 0 for none."""
    stored = SpendingLimit.budget_alert
    percent = cast(func.substr(stored, len(month) + 2), Integer)
    return case((stored.startswith(f"{month}:"), percent), else_=0)


def _report_level(session: Session, stored: SpendingLimit, percent: int, spent: int) -> None:
    owner: Partner | Organization = (
        session.get_one(Organization, stored.organization_id)
        if stored.organization_id
        else session.get_one(Partner, stored.partner_id)
    )
    action = f"{KINDS[type(owner)]}.budget_reached"
    after = {"percent": percent}
    audit.record_change(session, system_caller(ACTOR), action, owner, after=after)
    currency = rates.currency_of(session)
    partner_language = session.get_one(Partner, stored.partner_id).language

    def details(language: str | None) -> dict[str, Any]:
        """Return the details of a mail, with amounts in the format of the language."""
        with languages.using_language(languages.best_tag((language, partner_language))):
            return {
                "organization": owner.name if isinstance(owner, Organization) else None,
                "organizationId": str(owner.id),
                "percent": percent,
                "spent": money_format.micros(spent, currency),
                "budget": money_format.micros(stored.budget_micros or 0, currency),
            }

    kind, partner_id = MailKind.BUDGET_REACHED, stored.partner_id
    admins = session.scalars(active_admins(partner_id)).all()
    for user in admins:
        mail_queue.enqueue(
            session, kind, partner_id=partner_id, user_id=user.id, details=details(user.language)
        )
    admin_addresses = {user.email.casefold() for user in admins}
    recipients = _alerts_of(stored)[1]
    users = mail_queue.users_at(session, partner_id, recipients)
    for address in recipients:
        if address.casefold() not in admin_addresses:
            address_user = users.get(address.lower())
            extra = {
                **details(address_user.language if address_user else None),
                "isRecipient": True,
            }
            mail_queue.enqueue_to_address(
                session, kind, partner_id, address, address_user, details=extra
            )
