"""The schedule by which the report of a month is emailed, and a preview of the mail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from flask import Response, g, render_template, request, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, figures, settings, transaction
from app.languages import LANGUAGES, best_tag, gettext, language_name
from app.models import Organization
from app.portal.billing.formats import model_rate
from app.portal.report import blueprint
from app.portal.report.schedule_form import ScheduleForm
from app.portal.web.blueprint import Page
from app.portal.web.formats import clock, day, number
from app.portal.web.forms import saving
from app.portal.web.mail_preview import mail_preview
from app.portal.web.messages import redirect_saved, redirect_with
from app.portal.web.organization_picker import organization_of_url
from app.portal.web.page_frame import read_frame
from app.portal.web.user_timezone import zone
from app.services import mails, monthly_reports, organizations, partners
from app.services.monthly_reports import ScheduleInput

MAX_NAMED = 3
"""Maximum recipients named in the message; if there are more, it says the number."""
MAX_OFFERED = 100
"""Maximum organizations that the schedule offers, newest first; the others are reached from their
reports."""


@dataclass(frozen=True, slots=True)
class Readers:
    """The recipients of a report in one ``language``, by its own name. ``first`` is the place of
    the first among all recipients; None if there are none."""

    tag: str
    language: str
    first: int | None
    addresses: list[str]

    @property
    def name_in_sentences(self) -> str:
        return language_name(self.tag)


@blueprint.get("/report/schedule")
def edit_schedule() -> str:
    with transaction(read_only=True) as session:
        read_frame(session, with_plans=False)
        organization = organization_of_url(session)
        form = _stored(session, organization)
        return _page(organization, form)


@blueprint.post("/report/schedule")
def save_schedule() -> Page:
    form, organization = ScheduleForm(), _requested_organization()
    organization_id = organization.id if organization else None
    page, stored = partial(_page, organization, form), partial(_stored, organization=organization)
    target = (
        ("organization", organization_id)
        if organization_id
        else ("partner", partners.own_partner_id(caller()))
    )
    with saving(form, page, stored=stored, target=target) as session:
        schedule, version = form.to_schedule(), form.version.data
        changed = monthly_reports.save(
            session, caller(), organization_id, schedule, expected_version=version
        )
        next_at = monthly_reports.get(session, caller(), organization_id)[2]
    url = url_for("portal.report.show_month", organization=organization_id)
    return redirect_saved(_saved_message(organization, schedule, next_at), url, changed)


def _saved_message(
    organization: Organization | None, saved: ScheduleInput, next_at: datetime | None
) -> str:
    """Return which report the saved schedule sends next, when, and to which users."""
    name = organization.name if organization else gettext("The whole portal")
    recipients = saved.recipients
    if not recipients:
        return gettext("Schedule saved. %(name)s: no recipients, so no email is sent.", name=name)
    addresses = ", ".join(recipients[:MAX_NAMED])
    if len(recipients) > MAX_NAMED:
        addresses = gettext("%(num)s recipients", num=number(len(recipients)))
    return gettext(
        "Schedule saved. %(name)s: the next report is sent on %(time)s to %(recipients)s.",
        name=name,
        time=_time_label(next_at, saved.timezone),
        recipients=addresses,
    )


def _time_label(moment: datetime | None, timezone: str) -> str | None:
    """Return 1 Dec 2026, 08:00 (Europe/Paris)."""
    if moment is None:
        return None
    return f"{day(moment, timezone)}, {clock(moment, timezone)} ({timezone})"


@blueprint.post("/report/schedule/test")
def send_test_report() -> Page:
    organization = _requested_organization()
    organization_id = organization.id if organization else None
    with transaction() as session:
        monthly_reports.send_test(session, caller(), organization_id, model_rate())
    return redirect_with(
        gettext("The report of last month is on its way to you."),
        url_for("portal.report.edit_schedule", organization=organization_id, _anchor="test-email"),
    )


@blueprint.get("/report/schedule/preview")
def preview_report() -> Response:
    language = request.args.get("language")
    with figures() as session:
        organization = organization_of_url(session)
        organization_id = organization.id if organization else None
        brand = g.brand, mails.origin_of(partners.get_own(session, caller()), settings())
        to = _requested_address(session, organization)
        mail = monthly_reports.preview(
            session, caller(), organization_id, language, model_rate(), brand, to
        )
    return mail_preview(mail.html)


def _requested_address(session: Session, organization: Organization | None) -> str | None:
    """Return the email at the position in the URL among the recipients, if there is one."""
    organization_id = organization.id if organization else None
    recipients = monthly_reports.get(session, caller(), organization_id)[0].recipients
    return dict(enumerate(recipients)).get(request.args.get("to", type=int, default=-1))


def _requested_organization() -> Organization | None:
    with transaction(read_only=True) as session:
        return organization_of_url(session)


def _stored(session: Session, organization: Organization | None) -> ScheduleForm:
    organization_id = organization.id if organization else None
    stored, version, _next_at = monthly_reports.get(session, caller(), organization_id)
    if not version:
        stored = replace(stored, timezone=zone())
    return ScheduleForm.showing(stored, version)


def _page(organization: Organization | None, form: ScheduleForm) -> str:
    organization_id = organization.id if organization else None
    with transaction(read_only=True) as session:
        stored, _version, next_at = monthly_reports.get(session, caller(), organization_id)
        rows = organizations.search(session, caller(), limit=MAX_OFFERED).items
        schedules = monthly_reports.listing(session, caller())
        language = _chosen_language(form) or None
        audiences = [(stored.recipients, language)]
        audiences += [(tuple(each.recipients), each.language) for each, _ in schedules]
        own_languages, *schedule_languages = monthly_reports.languages_of(
            session, caller(), audiences
        )
        partner_language = partners.get_own(session, caller()).language
    options = {row.id: row for row in [*filter(None, [organization]), *rows]}
    by_name = sorted(options.values(), key=lambda row: (row.name_key, row.id))
    subjects = [("", gettext("The whole portal")), *((str(row.id), row.name) for row in by_name)]
    return render_template(
        "portal/report/schedule.html",
        organization=organization,
        form=form,
        next_at=_time_label(next_at, stored.timezone),
        subjects=subjects,
        schedules=[
            (each, name, readers(of_each), _time_label(each.next_at, each.timezone))
            for (each, name), of_each in zip(schedules, schedule_languages, strict=True)
        ],
        selected_language=language,
        readers=readers(own_languages),
        previewed=_previewed_readers(
            readers(own_languages), best_tag((language, partner_language))
        ),
    )


def readers(languages: Mapping[str, str]) -> list[Readers]:
    """Return the recipients by the language of their report."""
    groups: dict[str, Readers] = {}
    for position, (address, tag) in enumerate(languages.items()):
        new = Readers(tag, LANGUAGES[tag], position, [])
        groups.setdefault(tag, new).addresses.append(address)
    return list(groups.values())


def _previewed_readers(groups: Sequence[Readers], fallback: str) -> Readers:
    """Return the recipients of the previewed mail: in the language of the URL, or the first;
    without recipients those who would get it in the fallback language."""
    requested_tag = request.args.get("shown")
    first = next(iter(groups), Readers(fallback, LANGUAGES[fallback], None, []))
    return next((each for each in groups if each.tag == requested_tag), first)


def _chosen_language(form: ScheduleForm) -> str:
    """Return the language of the URL, or that of the form; "" is the partner's."""
    tag = request.args.get("language", form.language.data or "")
    return tag if tag in LANGUAGES else ""
