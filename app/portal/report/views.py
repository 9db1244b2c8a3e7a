"""The admin report: the same users and figures as the JSON, with the list of members."""

from typing import Any

from flask import render_template

from app.extensions import caller, figures
from app.languages import gettext
from app.models.base import utcnow
from app.portal.report.listing import MEMBERS, chosen
from app.portal.users.listing import STATUS_NAMES
from app.portal.web.blueprint import Page, portal
from app.portal.web.charts import chart_of
from app.portal.web.list_pages import list_page
from app.services import partners, reporting
from app.services.reporting import SignUps


@portal.get("/report", endpoint="report")
def show_report() -> Page:
    wanted, problems = chosen()
    span = reporting.range_of_sign_ups(wanted.since, wanted.until, utcnow().date())
    with figures() as session:
        partner_id = partners.own(caller())
        page = list_page(session, MEMBERS)
        begun = reporting.sign_ups(session, caller(), partner_id, span)
        answer = render_template(
            "portal/report/page.html",
            list=page,
            summary=reporting.summary(session, caller(), partner_id),
            span=span,
            by_days=reporting.by_days(span),
            begun=begun,
            chart=_chart(begun, by_days=reporting.by_days(span)),
            statuses=STATUS_NAMES,
            problems=problems,
            counted_at=utcnow(),
        )
    return (answer, 422) if problems else answer


def _chart(begun: list[SignUps], *, by_days: bool) -> dict[str, Any]:
    counts = [entry.count for entry in begun]
    days, unit = [entry.start for entry in begun], "day" if by_days else "month"
    return chart_of(days, ("first", gettext("New users"), counts), unit=unit)
