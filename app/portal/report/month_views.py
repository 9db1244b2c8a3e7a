"""The report of a month, and its schedule by email."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.extensions import caller, figures, transaction
from app.languages import gettext
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.access.missing import may
from app.portal.billing.words import model_rate, month_alone
from app.portal.report.schedule_form import ScheduleForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.charts import chart_of
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved, redirect_with
from app.portal.web.organization_picker import organization_named
from app.portal.web.user_timezone import zone
from app.services import monthly_reports, organizations, partners, pdf, reporting
from app.services.billing import margin
from app.services.billing.margin import Earned
from app.services.reporting import Day, MonthlyReport

OLDEST = timedelta(days=731)
MOST_OFFERED = 100
"""The newest organizations that the schedule offers; the others are reached from their reports."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The report of a month with what it earned, for those who may know it."""

    organization: Organization | None
    month: date
    report: MonthlyReport
    earned: Earned | None

    @property
    def whose(self) -> UUID | None:
        return self.organization.id if self.organization else None


def asked_report(session: Session, today: date) -> Shown:
    """Return the report of the month and the organization of the URL. Raises `Forbidden` and
    `NotFound`."""
    organization = organization_named(session)
    month = _month(today)
    whose = organization.id if organization else None
    found = reporting.monthly(session, caller(), month, today, whose)
    earned = None
    if may(Permission.ORGANIZATIONS_WRITE):
        earned = reporting.earned(session, caller(), month, model_rate(), whose)
    return Shown(organization, month, found, earned)


@portal.get("/report/month")
def report_month() -> str:
    today = utcnow().date()
    with figures() as session:
        shown = asked_report(session, today)
        _schedule, _version, next_at = monthly_reports.get(session, caller(), shown.whose)
    return _month_page(shown, next_at, today)


def _month_page(shown: Shown, next_at: datetime | None, today: date) -> str:
    return render_template(
        "portal/report/month.html",
        organization=shown.organization,
        report=shown.report,
        month=shown.month,
        unfinished=shown.report.span.end == today,
        **_neighbours(shown.month, today, shown.whose),
        schedule_url=url_for("portal.report_schedule", organization=shown.whose),
        next_at=next_at,
        chart=_chart(shown.report),
        earned=shown.earned,
        has_model=model_rate() != margin.ModelRate(),
        has_pdf=pdf.is_installed(),
    )


@portal.get("/report/schedule")
def report_schedule() -> str:
    with transaction(read_only=True) as session:
        organization = organization_named(session)
        form = _stored(session, organization)
    return _page(organization, form)


@portal.post("/report/schedule")
def report_schedule_save() -> Page:
    form, organization = ScheduleForm(), _organization()
    whose = organization.id if organization else None
    target = ("organization", whose) if whose else ("partner", partners.own(caller()))
    page, stored = partial(_page, organization, form), partial(_stored, organization=organization)
    with saving(form, page, stored=stored, target=target) as session:
        wanted, version = form.to_schedule(), form.version.data
        changed = monthly_reports.save(session, caller(), whose, wanted, expected_version=version)
    url = url_for("portal.report_month", organization=whose)
    return redirect_saved(gettext("Schedule saved."), url, changed)


@portal.post("/report/schedule/test")
def report_schedule_test() -> Page:
    organization = _organization()
    whose = organization.id if organization else None
    with transaction() as session:
        monthly_reports.send_test(session, caller(), whose, model_rate())
    return redirect_with(
        gettext("The report of last month is on its way to you."),
        url_for("portal.report_schedule", organization=whose, _anchor="test-email"),
    )


def _organization() -> Organization | None:
    with transaction(read_only=True) as session:
        return organization_named(session)


def _stored(session: Session, organization: Organization | None) -> ScheduleForm:
    whose = organization.id if organization else None
    stored, version, _next_at = monthly_reports.get(session, caller(), whose)
    if not version:
        stored = replace(stored, timezone=zone())
    return ScheduleForm.showing(stored, version)


def _page(organization: Organization | None, form: ScheduleForm) -> str:
    whose = organization.id if organization else None
    with transaction(read_only=True) as session:
        _schedule, _version, next_at = monthly_reports.get(session, caller(), whose)
        listed = organizations.search(session, caller(), limit=MOST_OFFERED).items
        schedules = monthly_reports.listing(session, caller())
    offered = {row.id: row.name for row in [*filter(None, [organization]), *listed]}
    about = [("", gettext("The whole portal")), *((str(key), offered[key]) for key in offered)]
    return render_template(
        "portal/report/schedule.html",
        organization=organization,
        form=form,
        next_at=next_at,
        about=about,
        schedules=schedules,
    )


def _month(today: date) -> date:
    """Return the first day of the month of the URL, otherwise of this month. Raises `NotFound`."""
    text = request.args.get("month", "")
    try:
        month = date.fromisoformat(f"{text}-01") if text else today.replace(day=1)
    except ValueError as error:
        raise NotFound from error
    if not today - OLDEST <= month <= today:
        raise NotFound
    return month


def _url(month: date, organization_id: UUID | None) -> str:
    return url_for("portal.report_month", month=f"{month:%Y-%m}", organization=organization_id)


def _neighbours(month: date, today: date, organization_id: UUID | None) -> dict[str, str | None]:
    """Return the addresses of the months before and after; None for one without a report."""
    earlier, later = month - timedelta(days=1), month + timedelta(days=31)
    return {
        "earlier_url": _url(earlier, organization_id) if today - earlier < OLDEST else None,
        "later_url": _url(later, organization_id) if later <= today else None,
    }


def _chart(report: MonthlyReport) -> dict[str, Any]:
    def values(days: list[Day]) -> list[int | None]:
        found: list[int | None] = [day.conversations for day in days]
        return [*found, *[None] * (len(report.days) - len(found))][: len(report.days)]

    return chart_of(
        [day.day for day in report.days],
        ("first", month_alone(report.span.start), values([*report.days])),
        ("compare", gettext("Month before"), values([*report.days_before])),
        unfinished=report.span.end == utcnow().date(),
    )
