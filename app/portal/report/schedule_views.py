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
from app.portal.billing.words import model_rate
from app.portal.report.schedule_form import ScheduleForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.formats import clock, day, number
from app.portal.web.forms import saving
from app.portal.web.mail_preview import mail_preview
from app.portal.web.messages import redirect_saved, redirect_with
from app.portal.web.organization_picker import organization_named
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
    target = ("organization", whose) if whose else ("partner", partners.own(caller()))
    with saving(form, page, stored=stored, target=target) as session:
        wanted, seen = form.to_schedule(), form.version.data
        changed = monthly_reports.save(session, caller(), whose, wanted, expected_version=seen)
        next_at = monthly_reports.get(session, caller(), whose)[2]
    url = url_for("portal.report_month", organization=whose)
    return redirect_saved(_saved_words(organization, wanted, next_at), url, changed)


def _saved_words(
    organization: Organization | None, saved: ScheduleInput, next_at: datetime | None
) -> str:
    """Return which report the saved schedule sends next, when, and to which users."""
    name = organization.name if organization else gettext("The whole portal")
    recipients = saved.recipients
    if not recipients:
        return gettext("Schedule saved. %(name)s: no recipients, so no email is sent.", name=name)
    to = ", ".join(recipients[:MAX_NAMED])
    if len(recipients) > MAX_NAMED:
        to = gettext("%(num)s recipients", num=number(len(recipients)))
    return gettext(
        "Schedule saved. %(name)s: the next report is sent on %(time)s to %(recipients)s.",
        name=name,
        time=_time_words(next_at, saved.timezone),
        recipients=to,
    )


def _time_words(at: datetime | None, timezone: str) -> str | None:
    """Return 1 Dec 2026, 08:00 (Europe/Paris)."""
    if at is None:
        return None
    return f"{day(at, timezone)}, {clock(at, timezone)} ({timezone})"


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
        to = _address(session, organization)
        shown = monthly_reports.preview(session, caller(), whose, wanted, model_rate(), brand, to)
    return mail_preview(shown.html)


def _address(session: Session, organization: Organization | None) -> str | None:
    """Return the email at the position in the URL among the recipients, if there is one."""
    whose = organization.id if organization else None
    recipients = monthly_reports.get(session, caller(), whose)[0].recipients
    return dict(enumerate(recipients)).get(request.args.get("to", type=int, default=-1))


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
        stored, _version, next_at = monthly_reports.get(session, caller(), whose)
        listed = organizations.search(session, caller(), limit=MAX_OFFERED).items
        schedules = monthly_reports.listing(session, caller())
        chosen = _chosen_language(form) or None
        asked = [(stored.recipients, chosen)]
        asked += [(tuple(each.recipients), each.language) for each, _ in schedules]
        own, *others = monthly_reports.languages_of(session, caller(), asked)
        partner_language = partners.get_own(session, caller()).language
    offered = {row.id: row for row in [*filter(None, [organization]), *listed]}
    by_name = sorted(offered.values(), key=lambda row: (row.name_key, row.id))
    about = [("", gettext("The whole portal")), *((str(row.id), row.name) for row in by_name)]
    return render_template(
        "portal/report/schedule.html",
        organization=organization,
        form=form,
        next_at=_time_words(next_at, stored.timezone),
        about=about,
        schedules=[
            (each, name, readers(of_each), _time_words(each.next_at, each.timezone))
            for (each, name), of_each in zip(schedules, others, strict=True)
        ],
        chosen=chosen,
        readers=readers(own),
        shown=_shown(readers(own), best_tag((chosen, partner_language))),
    )


def readers(languages: Mapping[str, str]) -> list[Readers]:
    """Return the recipients by the language of their report."""
    found: dict[str, Readers] = {}
    for place, (address, tag) in enumerate(languages.items()):
        new = Readers(tag, LANGUAGES[tag], place, [])
        found.setdefault(tag, new).addresses.append(address)
    return list(found.values())


def _shown(groups: Sequence[Readers], fallback: str) -> Readers:
    """Return the recipients of the previewed mail: in the language of the URL, or the first;
    without recipients those who would get it in the fallback language."""
    wanted = request.args.get("shown")
    first = next(iter(groups), Readers(fallback, LANGUAGES[fallback], None, []))
    return next((each for each in groups if each.tag == wanted), first)


def _chosen_language(form: ScheduleForm) -> str:
    """Return the language of the URL, or that of the form; "" is the partner's."""
    wanted = request.args.get("language", form.language.data or "")
    return wanted if wanted in LANGUAGES else ""
