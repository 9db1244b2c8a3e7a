"""The format of amounts, months and the lines of a statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any

from flask import request

from app.calendar_months import last_day_of, month_of, previous_month
from app.enums import UsageUnit
from app.extensions import settings
from app.gateways.processors.currencies import decimals
from app.languages import gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK, format_local_date, standalone_month
from app.models import utcnow
from app.portal.calls.listing import IN_STATEMENTS, calls_url
from app.portal.web.blueprint import portal
from app.portal.web.formats import day, number
from app.services.billing import usage
from app.services.billing.months import requested_month
from app.services.billing.parties import StatementParties
from app.services.billing.rating import LineKind, StatementLine, in_micros
from app.services.billing.statements import Bill
from app.services.billing.usage import ModelRate
from app.services.money_format import exact_micros, micros
from app.services.spending import format_amount

MONTHS_OFFERED = 13


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a statement in words; ``quantity`` and ``price`` are blank if there are none."""

    name: str
    detail: str
    quantity: str
    price: str
    amount: str


@portal.app_template_global()
def billed_calls_url(month: date, **of: Any) -> str | None:
    """Return the URL of the list of the billed calls of a month, with further filters; None if the
    user may not open it."""
    return calls_url(counted=IN_STATEMENTS, start=month, end=last_day_of(month), **of)


def model_rate() -> ModelRate:
    """Return the operator's costs of voice and text generation."""
    return usage.model_rate(settings())


def month_of_url() -> date:
    """Return the month that the URL names; this one without it. Raises as `requested_month`."""
    return requested_month(request.args.get("month", ""), utcnow().date())


def decimal_of(amount: int) -> Decimal:
    """Return millionths as an exact amount for files, with at least two decimals."""
    return Decimal(format_amount(amount))


def amount_of(amount: int, currency: str) -> Decimal:
    """Return millionths for files, rounded to the smallest unit of the currency."""
    return round(Decimal(amount).scaleb(-6), decimals(currency))


@portal.app_template_filter("month")
def month_name(month: date) -> str:
    """Return October 2026."""
    return format_local_date(month, "yMMMM").replace(NO_BREAK, " ")


portal.app_template_filter("standalone_month")(standalone_month)


def offered_months(today: date, first: date | None, selected: date) -> list[tuple[str, str]]:
    """Return the months that a page offers, as values and words, this one first: those since the
    ``first``, and the one that is ``selected``."""
    months = [month_of(today)]
    while len(months) < MONTHS_OFFERED and first is not None and months[-1] > first:
        months.append(previous_month(months[-1]))
    if selected not in months:
        months.append(selected)
    return [(f"{month:%Y-%m}", month_name(month)) for month in months]


def statement_lines(bill: Bill) -> Sequence[tuple[StatementLine, ShownLine]]:
    """Return the lines with a charge, and usage in the trial; if there are none, the first line.
    Page, CSV file and PDF show the same."""
    charged = [line for line in bill.lines if line.amount or line.kind is LineKind.TRIAL]
    return [(line, _describe_line(line, bill)) for line in charged or bill.lines[:1]]


def included_message(bill: Bill) -> str:
    """Return the used part of what the plan includes; "" if a line shows it or nothing is
    included."""
    line = bill.usage
    if line is None or line.amount or not line.included:
        return ""
    values = {"used": number(line.used), "included": number(line.included)}
    match line.unit == UsageUnit.MINUTE, line.used > line.included:
        case True, False:
            return gettext("%(used)s of %(included)s included minutes used.", **values)
        case False, False:
            return gettext("%(used)s of %(included)s included calls used.", **values)
        case True, True:
            return gettext(
                "%(used)s minutes used, %(included)s included. The rest isn’t charged.", **values
            )
    return gettext("%(used)s calls used, %(included)s included. The rest isn’t charged.", **values)


@portal.app_template_filter("minor")
def minor(amount: int, currency: str) -> str:
    """Return an amount in the smallest unit of the currency as $12.50 or −$12.50."""
    return micros(in_micros(amount, currency), currency)


@portal.app_template_filter("bill_total")
def total_label(bill: Bill) -> str:
    return minor(bill.total, bill.currency)


def invoice_number(number: int | None) -> str:
    return "" if number is None else f"{number:06}"


def due_label(bill: Bill, parties: StatementParties) -> str:
    """Return when a statement is due; "" if that isn't set, or nothing is to be paid to the
    seller."""
    days = parties.payment.days if parties.payment else None
    if days is None:
        return ""
    if bill.closed_at is None:
        return ngettext("%(num)s day after it is issued", "%(num)s days after it is issued", days)
    return day(bill.closed_at.astimezone(UTC).date() + timedelta(days=days))


def _describe_line(line: StatementLine, bill: Bill) -> ShownLine:
    amount = minor(line.amount, bill.currency)
    in_minutes = line.unit == UsageUnit.MINUTE
    match line.kind:
        case LineKind.PLAN if line.charged == line.used:
            price = exact_micros(line.unit_micros, bill.currency)
            return ShownLine(bill.plan_label, gettext("Plan"), number(1), price, amount)
        case LineKind.PLAN:
            share = gettext("Plan, %(days)s of %(month)s days", days=line.charged, month=line.used)
            return ShownLine(bill.plan_label, share, "", "", amount)
        case LineKind.TRIAL:
            name = (
                gettext("Minutes in the free trial")
                if in_minutes
                else gettext("Calls in the free trial")
            )
            free = gettext("%(num)s free", num=number(line.used))
            return ShownLine(name, free, "", "", amount)
        case LineKind.USAGE:
            name = (
                gettext("Minutes beyond the plan")
                if in_minutes
                else gettext("Calls beyond the plan")
            )
            values = {"used": number(line.used), "included": number(line.included)}
            used = (
                pgettext("minutes", "%(used)s used, %(included)s included", **values)
                if in_minutes
                else pgettext("calls", "%(used)s used, %(included)s included", **values)
            )
            price = exact_micros(line.unit_micros, bill.currency)
            return ShownLine(name, used, number(line.charged), price, amount)
        case LineKind.CORRECTION:
            month = month_name(line.month) if line.month else ""
            late = (
                gettext("Minutes reported late") if in_minutes else gettext("Calls reported late")
            )
            correction = gettext("Correction for %(month)s", month=month)
            return ShownLine(correction, late, "", "", amount)
