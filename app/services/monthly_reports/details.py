"""The figures and words of a monthly report as a mail shows them, in the current language."""

from collections.abc import Callable
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.calendar_months import previous_month
from app.languages import gettext
from app.languages.dates import NO_BREAK, format_local_date
from app.languages.numbers import format_percentage, localize_number
from app.models import Organization, Partner
from app.policy.caller import Caller
from app.services import reporting
from app.services.billing.margin import MonthMargin
from app.services.billing.usage import ModelRate
from app.services.money_format import micros
from app.services.monthly_reports.pdf_content import named, pdf_content


def details_of(
    session: Session,
    caller: Caller,
    owner: Partner | Organization,
    organization_id: UUID | None,
    today: date,
    model: ModelRate,
) -> dict[str, Any]:
    """Return the content of the mail: figures with those of the previous month, and organizations;
    in the current language. Costs and margin are in the partner's own report only: an
    organization's may be sent to the customer."""
    month = reporting.last_month(today)
    report = reporting.monthly(session, caller, month.start, today, organization_id)
    now, before = report.now, report.before
    figures = [
        (
            gettext("Conversations"),
            localize_number(now.conversations),
            localize_number(before.conversations),
        ),
        (gettext("With a person"), localize_number(now.by_human), localize_number(before.by_human)),
        (
            gettext("Talk time (minutes)"),
            localize_number(now.seconds // 60),
            localize_number(before.seconds // 60),
        ),
        (
            gettext("Calls answered"),
            _answer_rate_label(report.calls),
            _answer_rate_label(report.calls_before),
        ),
    ]
    earned = None
    if organization_id is None:
        earned = reporting.month_earnings(session, caller, month.start, model)
        figures += _earnings_rows(session, caller, month.start, earned, model)
    return {
        "name": owner.name,
        "month": format_local_date(month.start, "yMMMM").replace(NO_BREAK, " "),
        "start": month.start.isoformat(),
        "organizationId": str(organization_id) if organization_id else None,
        "figures": figures,
        "growing": named(report.growing),
        "falling": named(report.falling),
        "near": [(near.name, near.message) for near in report.near],
        "paper": pdf_content(report, earned, owner.name, has_model=model != ModelRate()),
    }


def _earnings_rows(
    session: Session, caller: Caller, month: date, now: MonthMargin | None, model: ModelRate
) -> list[tuple[str, str, str]]:
    """Return price, costs and margin; nothing if nothing was charged or spent. Model costs are left
    out if the operator has set none."""
    if now is None or not (now.price or now.model or now.carrier):
        return []
    before = reporting.month_earnings(session, caller, previous_month(month), model)
    rows: list[tuple[str, Callable[[MonthMargin], str]]] = [
        (gettext("Price to customers"), lambda figures: micros(figures.price, figures.currency)),
        (gettext("Carrier cost"), _carrier_cost_label),
    ]
    if model != ModelRate():
        rows.append(
            (gettext("Model cost"), lambda figures: micros(figures.model, figures.model_currency))
        )
    rows.append((gettext("Margin"), _margin_label))
    return [(name, write(now), write(before) if before else "–") for name, write in rows]


def _carrier_cost_label(figures: MonthMargin) -> str:
    costs = [micros(each.reported + each.estimated, each.currency) for each in figures.carrier]
    return ", ".join(costs) or "–"


def _margin_label(figures: MonthMargin) -> str:
    return "–" if figures.margin is None else micros(figures.margin, figures.currency)


def _answer_rate_label(calls: reporting.AnsweredCalls) -> str:
    return format_percentage(calls.answered, calls.ended)
