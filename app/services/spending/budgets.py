"""Budgets: an amount a month, with alerts when parts of it are spent. They stop no calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import ValidationFailed, refuse_stale
from app.languages import gettext
from app.languages.numbers import written
from app.models import MailKind, Organization, Partner, SpendingLimit, SpendingTotal, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit, mail_queue
from app.services.spending import rates
from app.services.spending.limits import KINDS, MOST_MICROS, Subject, new_limit, subject_row
from app.services.spending.scopes import month_of, scope_key
from app.services.tenancy import of_tenant

ALERTS = (50, 80, 100)
"""Percentages; each is reported once a month."""
WHO = "Budgets"


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a month in millionths, None without one, and what is spent of it."""

    micros: int | None
    spent: int
    currency: str
    version: int


@dataclass(frozen=True, slots=True)
class ReachedBudget:
    """A budget of which so many percent are spent; without an organization that of the partner."""

    organization: Organization | None
    percent: int


def of(session: Session, caller: Caller, subject: Subject) -> Budget:
    """Return the budget of a partner or an organization. Raises `Forbidden`, `NotFound`."""
    row = subject_row(session, caller, subject)
    scope = scope_key(KINDS[type(row)], row.id)
    stored = session.get(SpendingLimit, scope, populate_existing=True)
    spent = session.scalar(
        select(SpendingTotal.spent_micros).where(
            SpendingTotal.scope == scope, SpendingTotal.period == month_of(utcnow())
        )
    )
    return Budget(
        stored.budget_micros if stored else None,
        spent or 0,
        rates.currency_of(session),
        stored.version if stored else 0,
    )


def change(
    session: Session,
    caller: Caller,
    subject: Subject,
    micros: int | None,
    *,
    expected_version: int | None = None,
) -> bool:
    """Write the budget; whether this changed anything. Its alerts begin again.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``) and `Conflict`
    (``changed_meanwhile``).
    """
    caller.require(Permission.PARTNER_WRITE)
    row = subject_row(session, caller, subject, for_change=True)
    if micros is not None and not 0 < micros <= MOST_MICROS:
        message = gettext(
            "Enter an amount above 0, up to %(most)s.", most=written(MOST_MICROS // rates.MICROS)
        )
        raise ValidationFailed.on("budget", "out_of_range", message)
    scope = scope_key(KINDS[type(row)], row.id)
    stored = session.get(SpendingLimit, scope, populate_existing=True)
    before = stored.budget_micros if stored else None
    if before == micros:
        return False
    refuse_stale(expected_version, stored.version if stored else 0, "budget")
    if stored is None:
        stored = new_limit(scope, row)
        session.add(stored)
    stored.budget_micros, stored.budget_alert = micros, None
    stored.version += 1
    session.flush()
    audit.record_change(
        session,
        caller,
        f"{KINDS[type(row)]}.budget_changed",
        row,
        before={"budgetAMonth": rates.audit_words(session, before)},
        after={"budgetAMonth": rates.audit_words(session, micros)},
    )
    return True


def reached(session: Session, caller: Caller, most: int) -> list[ReachedBudget]:
    """Return at most so many budgets of the caller's partner and its organizations of which 80
    percent are spent this month, in one query."""
    month, limit = month_of(utcnow()), SpendingLimit
    alerts = [f"{month}:{percent}" for percent in ALERTS if percent >= 80]
    query = (
        of_tenant(select(limit), caller, limit.partner_id, limit.organization_id)
        .add_columns(Organization)
        .outerjoin(Organization, Organization.id == limit.organization_id)
        .where(limit.budget_alert.in_(alerts))
        .order_by(limit.scope.desc())
        .limit(most)
    )
    return [
        ReachedBudget(organization, int((found.budget_alert or "").rpartition(":")[2]))
        for found, organization in session.execute(query)
    ]


def alert(session: Session, now: datetime) -> int:
    """Report budgets of which another percentage of `ALERTS` is spent: by mail to the partner
    admins, in the history and in the notifications; how many."""
    month, limit, total = month_of(now), SpendingLimit, SpendingTotal
    query = (
        select(limit, total.spent_micros)
        .join(total, total.scope == limit.scope)
        .where(
            total.period == month,
            100 * total.spent_micros >= ALERTS[0] * limit.budget_micros,
            or_(limit.budget_alert.is_(None), limit.budget_alert != f"{month}:{ALERTS[-1]}"),
        )
        .order_by(limit.scope)
        .with_for_update(of=limit)
        .execution_options(populate_existing=True)
    )
    count = 0
    for stored, spent in session.execute(query).all():
        budget = stored.budget_micros or 0
        percent = max(each for each in ALERTS if 100 * spent >= each * budget)
        if stored.budget_alert != f"{month}:{percent}":
            stored.budget_alert = f"{month}:{percent}"
            _report(session, stored, percent, spent)
            count += 1
    return count


def _report(session: Session, stored: SpendingLimit, percent: int, spent: int) -> None:
    whose: Partner | Organization = (
        session.get_one(Organization, stored.organization_id)
        if stored.organization_id
        else session.get_one(Partner, stored.partner_id)
    )
    action = f"{KINDS[type(whose)]}.budget_reached"
    after = {"percent": percent}
    audit.record_change(session, system_caller(WHO), action, whose, after=after)
    currency = rates.currency_of(session)
    for user in _admins(session, stored):
        mail_queue.hand_in(
            session,
            MailKind.BUDGET_REACHED,
            partner_id=stored.partner_id,
            user_id=user.id,
            details={
                "organization": whose.name if isinstance(whose, Organization) else None,
                "organizationId": str(whose.id),
                "percent": percent,
                "spent": f"{_rounded(spent)} {currency}",
                "budget": f"{_rounded(stored.budget_micros or 0)} {currency}",
            },
        )


def _admins(session: Session, stored: SpendingLimit) -> Sequence[User]:
    query = select(User).where(
        User.partner_id == stored.partner_id,
        User.status == UserStatus.ACTIVE,
        User.user_type == Role.PARTNER_ADMIN,
    )
    return session.scalars(query.order_by(User.id)).all()


def _rounded(micros: int) -> str:
    return f"{Decimal(micros) / rates.MICROS:,.2f}"
