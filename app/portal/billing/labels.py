"""The use of what a plan includes, the costs of a month and the state of a statement in
sentences."""

from dataclasses import dataclass
from datetime import date

from app.calendar_months import next_month
from app.enums import UsageUnit
from app.languages import gettext, ngettext
from app.models import utcnow
from app.portal.billing.formats import minor, month_name
from app.portal.pricing.labels import plan_overage, processor_message
from app.portal.web.blueprint import portal
from app.portal.web.formats import day, number, percent, range_end
from app.services.billing.margin import MonthMargin
from app.services.billing.month_end import IncludedUse, MonthForecast, MonthSoFar
from app.services.billing.rating import StatementLine
from app.services.billing.statements import Bill
from app.services.money_format import micros


@dataclass(frozen=True, slots=True)
class CostNotes:
    """What the tiles of a month's costs say below their amounts."""

    price: str
    carrier: str
    margin: str


@portal.app_template_global()
def cost_notes(row: MonthMargin, last: MonthMargin | None) -> CostNotes:
    """Return the notes of a month; ``last`` is the month before, compared if it has amounts in the
    same currency."""
    if last and (last.currency != row.currency or not (last.price or last.carrier)):
        last = None
    price = trial_message(row)
    if last:
        price = _with_previous_month(price, last.price, last.currency)
    return CostNotes(price, _carrier_note(row), _margin_note(row, last))


@portal.app_template_filter("trial_message")
def trial_message(row: MonthMargin) -> str:
    """Return the part of the price that organizations in trial mode pay."""
    if not row.trial_price:
        return ""
    return ngettext(
        "Includes %(amount)s of %(num)s organization in trial mode",
        "Includes %(amount)s of %(num)s organizations in trial mode",
        row.in_trial,
        amount=micros(row.trial_price, row.currency),
    )


def _carrier_note(row: MonthMargin) -> str:
    estimates = [micros(cost.estimated, cost.currency) for cost in row.carrier if cost.estimated]
    if estimates:
        return gettext("With %(amount)s estimated", amount=", ".join(estimates))
    return gettext("Reported by carriers") if row.carrier else ""


def _margin_note(row: MonthMargin, last: MonthMargin | None) -> str:
    if row.margin is None:
        return gettext("Costs are in another currency")
    share = ""
    if row.price:
        share = gettext("%(share)s of the price", share=percent(row.margin, row.price))
    if last is None or last.margin is None:
        return share
    return _with_previous_month(share, last.margin, last.currency)


def _with_previous_month(note: str, amount: int, currency: str) -> str:
    before = gettext("%(amount)s the month before", amount=micros(amount, currency))
    return f"{note}. {before}" if note else before


@portal.app_template_filter("used_of_included")
def used_of_included(use: IncludedUse | StatementLine) -> str:
    """Return "120 of 300 minutes"."""
    used = number(use.used)
    if use.unit == UsageUnit.MINUTE:
        return ngettext(
            "%(used)s of %(num)s minute", "%(used)s of %(num)s minutes", use.included, used=used
        )
    return ngettext(
        "%(used)s of %(num)s call", "%(used)s of %(num)s calls", use.included, used=used
    )


@portal.app_template_filter("used_up_label")
def used_up_label(use: IncludedUse) -> str:
    """Return when all that the plan includes is used up, or the use expected by the end of the
    month; nothing without a forecast."""
    forecast = use.expected
    if use.used >= use.included and use.used_up_on:
        return gettext("Used up on %(day)s", day=day(use.used_up_on))
    if use.used >= use.included:
        return gettext("Used up")
    if forecast and forecast.used_up_on:
        return gettext("Likely used up on %(day)s", day=day(forecast.used_up_on))
    return gettext("Expected: %(num)s", num=number(forecast.used)) if forecast else ""


@portal.app_template_filter("overage_message")
def overage_message(so_far: MonthSoFar) -> str:
    """Return the use beyond the plan with its costs, or what such use would cost."""
    usage, price = so_far.bill.usage, plan_overage(so_far.plan.terms)
    if usage and usage.included and usage.charged:
        excess = number(usage.charged)
        if not price:
            return gettext("%(num)s more than the plan includes, not charged.", num=excess)
        return gettext(
            "%(num)s more than the plan includes, at %(price)s: %(amount)s so far.",
            num=excess,
            price=price,
            amount=minor(usage.amount, so_far.bill.currency),
        )
    if not price:
        return ""
    if usage and usage.included:
        return gettext("Further usage costs %(price)s.", price=price)
    return gettext("Usage costs %(price)s.", price=price)


@portal.app_template_filter("forecast_message")
def forecast_message(forecast: MonthForecast | None, unit: str) -> str:
    """Return the usage expected by the end of the month, and the day on which that which the plan
    includes is used up."""
    if forecast is None:
        return gettext("A forecast for the month appears after three weeks of calls.")
    expected = _expected_message(forecast, unit)
    if not forecast.used_up_on:
        return expected
    used_up = gettext(
        "What the plan includes is expected to be used up on %(day)s.", day=day(forecast.used_up_on)
    )
    return f"{expected} {used_up}"


def _expected_message(forecast: MonthForecast, unit: str) -> str:
    last_day = day(forecast.last_day)
    low = number(forecast.low)
    high = range_end(number(forecast.high))
    match unit == UsageUnit.MINUTE, forecast.low == forecast.high:
        case True, True:
            return ngettext(
                "About %(num)s minute by %(day)s.",
                "About %(num)s minutes by %(day)s.",
                forecast.used,
                day=last_day,
            )
        case False, True:
            return ngettext(
                "About %(num)s call by %(day)s.",
                "About %(num)s calls by %(day)s.",
                forecast.used,
                day=last_day,
            )
        case True, False:
            return ngettext(
                "About %(num)s minute by %(day)s (likely %(low)s–%(high)s).",
                "About %(num)s minutes by %(day)s (likely %(low)s–%(high)s).",
                forecast.used,
                day=last_day,
                low=low,
                high=high,
            )
    return ngettext(
        "About %(num)s call by %(day)s (likely %(low)s–%(high)s).",
        "About %(num)s calls by %(day)s (likely %(low)s–%(high)s).",
        forecast.used,
        day=last_day,
        low=low,
        high=high,
    )


def costs_message(month: date, *, is_unfinished: bool) -> str:
    """Return what the page of all organizations shows."""
    name = month_name(month)
    if is_unfinished:
        return gettext(
            "%(month)s through today (partial), UTC. What customers pay and what their calls cost "
            "you.",
            month=name,
        )
    return gettext("%(month)s, UTC. What customers pay and what their calls cost you.", month=name)


def organization_costs_message(month: date, plan: str, *, is_unfinished: bool) -> str:
    """Return what the page of an organization shows."""
    name = month_name(month)
    if is_unfinished:
        return gettext(
            "%(month)s through today (partial), UTC. Plan: %(plan)s.", month=name, plan=plan
        )
    return gettext("%(month)s, UTC. Plan: %(plan)s.", month=name, plan=plan)


def status_message(bill: Bill) -> str:
    """Say whether the statement still changes."""
    if bill.closed_at:
        return gettext("This month is closed: the statement doesn’t change any more.")
    if next_month(bill.month) <= utcnow().date():
        return gettext("The month has ended. A preview until it is closed, a few hours later.")
    return gettext(
        "A preview until it is closed on %(day)s (UTC).", day=day(next_month(bill.month))
    )


def charge_message(bill: Bill, *, names_problem: bool) -> str:
    """Return how a plan is paid through Stripe, and on which of its invoices the usage is; nothing
    for other plans."""
    charge = bill.charge
    if charge is None:
        return ""
    sentences = [gettext("The plan is paid through Stripe.")]
    if charge.amount:
        amount = minor(charge.amount, bill.currency)
        sentences.append(
            gettext("%(amount)s for usage is on the next Stripe invoice.", amount=amount)
            if charge.is_done
            else gettext("%(amount)s for usage is not yet on a Stripe invoice.", amount=amount)
        )
        if charge.problem and names_problem:
            sentences.append(processor_message(charge.problem))
    return " ".join(sentences)
