"""The schedule by which the report of a month is emailed, and a preview of the mail."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from flask import Response, g, render_template, request, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, figures, settings, transaction
from app.languages import LANGUAGES, gettext
from app.models import Organization
from app.portal.billing.words import model_rate
from app.portal.report.schedule_form import ScheduleForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving
from app.portal.web.mail_preview import mail_preview
from app.portal.web.messages import redirect_saved, redirect_with
from app.portal.web.organization_picker import organization_named
from app.portal.web.user_timezone import zone
from app.services import mails, monthly_reports, organizations, partners

MOST_OFFERED = 100
"""The newest organizations that the schedule offers; the others are reached from their reports."""


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
    page, stored = partial(_page, organization, form), partial(_stored, organization=organization)
    target = ("organization", whose) if whose else ("partner", _partner_id())
    with saving(form, page, stored=stored, target=target) as session:
        wanted, seen = form.to_schedule(), form.version.data
        changed = monthly_reports.save(session, caller(), whose, wanted, expected_version=seen)
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


@portal.get("/report/schedule/preview")
def report_schedule_preview() -> Response:
    wanted = request.args.get("language")
    with figures() as session:
        organization = organization_named(session)
        whose = organization.id if organization else None
        brand = g.brand, mails.origin_of(partners.get_own(session, caller()), settings())
        shown = monthly_reports.preview(session, caller(), whose, wanted, model_rate(), brand)
    return mail_preview(shown.html, "light")


def _organization() -> Organization | None:
    with transaction(read_only=True) as session:
        return organization_named(session)


def _partner_id() -> UUID:
    return partners.own(caller())


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
        preview_language=_preview_language(form),
    )


def _preview_language(form: ScheduleForm) -> str:
    """Return the language of the URL, or that of the form; "" is the partner's."""
    wanted = request.args.get("language", form.language.data or "")
    return wanted if wanted in LANGUAGES else ""
