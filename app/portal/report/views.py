"""The admin report: the same users and figures as the JSON, with the list of members."""

from typing import Any

from sqlalchemy.orm import Session

from app.extensions import caller, figures
from app.languages import gettext
from app.models.base import utcnow
from app.portal.report import blueprint
from app.portal.report.listing import MEMBERS, chosen_filters
from app.portal.users.listing import STATUS_LABELS
from app.portal.web.blueprint import Page
from app.portal.web.charts import chart_of
from app.portal.web.fragments import render_checked
from app.portal.web.list_pages import list_page
from app.services import partners, reporting
from app.services.reporting import DaySpan, SignUps


@blueprint.get("/report")
def show_report() -> Page:
    filters, problems = chosen_filters()
    span = reporting.range_of_sign_ups(filters.since, filters.until, utcnow().date())
    with figures() as session:
        return render_checked(
            "portal/report/page.html",
            problems,
            **_figures_context(session, span),
            list=list_page(session, MEMBERS),
            statuses=STATUS_LABELS,
        )


def _figures_context(session: Session, span: DaySpan) -> dict[str, Any]:
    """Return the figures of today and those who signed up in the span."""
    partner_id, by_days = partners.own_partner_id(caller()), reporting.by_days(span)
    sign_ups = reporting.sign_ups(session, caller(), partner_id, span)
    return {
        "summary": reporting.summary(session, caller(), partner_id),
        "span": span,
        "by_days": by_days,
        "begun": sign_ups,
        "chart": _sign_up_chart(sign_ups, by_days=by_days),
        "counted_at": utcnow(),
    }


def _sign_up_chart(sign_ups: list[SignUps], *, by_days: bool) -> dict[str, Any]:
    counts = [entry.count for entry in sign_ups]
    days, unit = [entry.start for entry in sign_ups], "day" if by_days else "month"
    return chart_of(days, ("first", gettext("New users"), counts), unit=unit)
