"""The report of a month, and the same as a PDF."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from flask import Response, g, render_template, request, url_for
from sqlalchemy.orm import Session

from app.calendar_months import month_of, next_month, previous_month
from app.errors import NotFound
from app.extensions import caller, figures
from app.languages import gettext
from app.languages.dates import standalone_month
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing
from app.portal.billing.formats import model_rate
from app.portal.report import blueprint
from app.portal.web.charts import chart_of
from app.portal.web.lists import file_name_part, pdf_file
from app.portal.web.organization_picker import organization_of_url
from app.portal.web.page_frame import read_frame
from app.services import monthly_reports, organizations, partners, pdf, reporting
from app.services.billing import margin
from app.services.billing.margin import MonthMargin
from app.services.branding.letterhead import letterhead
from app.services.reporting import MonthlyReport

OLDEST = timedelta(days=731)


@dataclass(frozen=True, slots=True)
class MonthReportView:
    """The report of a month with its earnings, for users who may see them."""

    organization: Organization | None
    month: date
    report: MonthlyReport
    earned: MonthMargin | None

    @property
    def is_empty(self) -> bool:
        """Whether neither month has calls."""
        report = self.report
        conversations = any(day.conversations for day in (*report.days, *report.month_before))
        return not (conversations or report.calls.ended or report.calls_before.ended)

    @property
    def organization_id(self) -> UUID | None:
        return self.organization.id if self.organization else None


def _requested_report(session: Session, today: date) -> MonthReportView:
    """Return the report of the month and the organization of the URL. Raises `Forbidden` and
    `NotFound`."""
    organization = organization_of_url(session)
    month = _requested_month(today)
    organization_id = organization.id if organization else None
    report = reporting.monthly(session, caller(), month, today, organization_id)
    earned = None
    if may_or_note_missing(Permission.ORGANIZATIONS_WRITE, "margin"):
        earned = reporting.month_earnings(session, caller(), month, model_rate(), organization_id)
    return MonthReportView(organization, month, report, earned)


@blueprint.get("/report/month")
def show_month() -> str:
    today = utcnow().date()
    with figures() as session:
        read_frame(session)
        view = _requested_report(session, today)
        _schedule, _version, next_at = monthly_reports.get(session, caller(), view.organization_id)
        may_need = view.is_empty and view.earned is None
        needs_organization = may_need and not _has_organizations(session)
    return _month_page(view, next_at, today, needs_organization=needs_organization)


def _has_organizations(session: Session) -> bool:
    filters = organizations.OrganizationFilter(with_archived=True)
    return bool(organizations.search(session, caller(), filters, sort="name", limit=1).items)


def _month_page(
    view: MonthReportView, next_at: datetime | None, today: date, *, needs_organization: bool
) -> str:
    return render_template(
        "portal/report/month.html",
        organization=view.organization,
        report=view.report,
        is_empty=view.is_empty,
        needs_organization=needs_organization,
        month=view.month,
        unfinished=view.report.span.end == today,
        **_neighbour_urls(view.month, today, view.organization_id),
        schedule_url=url_for("portal.report.edit_schedule", organization=view.organization_id),
        next_at=next_at,
        chart=_conversation_chart(view.report),
        earned=view.earned,
        has_model=model_rate() != margin.ModelRate(),
        has_pdf=pdf.is_installed(),
    )


@blueprint.get("/report/month.pdf")
def download_month() -> Response:
    today = utcnow().date()
    with figures() as session:
        view = _requested_report(session, today)
        content = _pdf_content(session, view)
    suffix = (
        f"-{file_name_part(view.organization.name, 'organization')}" if view.organization else ""
    )
    return pdf_file(f"report{suffix}-{view.month:%Y-%m}", pdf.render("report", content))


def _pdf_content(session: Session, view: MonthReportView) -> dict[str, Any]:
    """Return the content of the PDF, with the partner's letterhead."""
    partner = partners.get_own(session, caller())
    name = view.organization.name if view.organization else partner.name
    has_model = model_rate() != margin.ModelRate()
    content = monthly_reports.pdf_content(view.report, view.earned, name, has_model=has_model)
    return {**letterhead(session, g.brand), **content}


def _requested_month(today: date) -> date:
    """Return the first day of the month in the URL, else of this month. Raises `NotFound`."""
    text = request.args.get("month", "")
    try:
        month = date.fromisoformat(f"{text}-01") if text else month_of(today)
    except ValueError as error:
        raise NotFound from error
    if not today - OLDEST <= month <= today:
        raise NotFound
    return month


def _month_url(month: date, organization_id: UUID | None) -> str:
    return url_for("portal.report.show_month", month=f"{month:%Y-%m}", organization=organization_id)


def _neighbour_urls(
    month: date, today: date, organization_id: UUID | None
) -> dict[str, str | None]:
    """Return the URLs of the previous and the next month; None for one without a report."""
    earlier, later = previous_month(month), next_month(month)
    return {
        "earlier_url": _month_url(earlier, organization_id) if today - earlier <= OLDEST else None,
        "later_url": _month_url(later, organization_id) if later <= today else None,
    }


def _conversation_chart(report: MonthlyReport) -> dict[str, Any]:
    before = [day.conversations for day in report.month_before]
    return chart_of(
        reporting.whole_month(report.span.start).dates,
        ("first", standalone_month(report.span.start), [day.conversations for day in report.days]),
        ("compare", gettext("Previous month"), before),
        unfinished=report.span.end == utcnow().date(),
    )
