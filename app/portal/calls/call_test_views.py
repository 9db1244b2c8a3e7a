"""The test call: its form, the pre-call checks, and the call while it is active."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from app.enums import CallSource, OrganizationStatus
from app.errors import Conflict, Forbidden, NotFound
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext, pgettext
from app.models import Assistant, Call, Organization, utcnow
from app.models.folding import fold
from app.phone import region_of, timezones_of
from app.policy import Permission
from app.portal.calls import blueprint
from app.portal.calls.forms import HINTS, TestCallForm, typed_number
from app.portal.calls.labels import live_panel_data
from app.portal.web.blueprint import Page
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import long_datetime, phone, short_datetime, typographic
from app.portal.web.forms import saving
from app.portal.web.navigation import may_open
from app.portal.web.placeholders import unknown_placeholders_message
from app.portal.web.region_choices import region_title
from app.portal.web.user_timezone import zone
from app.services import assistants, calls, campaigns, contacts
from app.services.calls import CallTexts
from app.services.contacts import single_contact
from app.services.outreach.plans import MAX_TEXT_LENGTH, speakers
from app.validation.uuids import as_uuid

MAX_ASSISTANTS = 200
FIELDS = {"number": "#number", "messages": "#message_kind-0"}
PAGES = {
    "organization": ("portal.organizations.show_organization", lazy_gettext("View organization")),
    "assistant": ("portal.assistants.show_assistant", lazy_gettext("View assistant")),
    "do-not-call": ("portal.do_not_call.list_numbers", lazy_gettext("View list")),
    "regions": ("portal.organizations.edit_settings", lazy_gettext("View settings")),
    "portal-regions": ("portal.destinations.edit_partner_destinations", ""),
    "operator-regions": ("portal.destinations.edit_installation_destinations", ""),
    "calling-hours": ("portal.organizations.edit_settings", lazy_gettext("View settings")),
    "limits": ("portal.organizations.edit_settings", lazy_gettext("View settings")),
    "trial": ("portal.verified_numbers.list_numbers", lazy_gettext("Verify number")),
    "spending": ("portal.spending.edit_organization_spending", lazy_gettext("View spending")),
}
"""Pages that fix checks outside of the form. Those that open a region are given the region."""
OF_NUMBER = {"number", "regions", "portal-regions", "operator-regions", "trial", "do-not-call"}
"""Names of checks of the number, which are fixed in its field."""


@blueprint.get("/test-call")
def show_test_call() -> Page:
    """Show the form, filled like ``call`` and next to it, or to call ``again``."""
    call_id = as_uuid(request.args.get("call"))
    repeated_id = call_id or _again_id()
    if repeated_id is None:
        return _test_page(_new_form(), None)
    with transaction(read_only=True) as session:
        call = calls.get(session, caller(), repeated_id)
        assistant = assistants.get(session, caller(), call.assistant_id)
        form = TestCallForm.repeating(call, assistant)
    return _test_page(form, call_id)


def _again_id() -> UUID | None:
    return as_uuid(request.args.get("again"))


def _earlier_call(session: Session) -> Call | None:
    """Return the call after which this one is placed, from the URL."""
    again_id = _again_id()
    with suppress(NotFound):
        return calls.get(session, caller(), again_id) if again_id else None
    return None


def _new_form() -> TestCallForm:
    """Return the form for the assistant or the contact of the URL."""
    contact_id, campaign_id = (as_uuid(request.args.get(name)) for name in ("contact", "campaign"))
    if not (contact_id and campaign_id) or not caller().may(Permission.CONTACTS_READ):
        return TestCallForm(data={"assistant": request.args.get("agent")})
    with transaction(read_only=True) as session:
        campaign, _, plan, _ = campaigns.get_with_plan(session, caller(), campaign_id)
        contact = contacts.get(session, caller(), campaign.id, contact_id)
        available = speakers(session, campaign)
        speaker = plan.assistant_id if plan else available[0].id if available else None
        name = single_contact.name_of(contact) if contact.first_name or contact.last_name else None
    return TestCallForm(
        data={
            "assistant": str(speaker or ""),
            "number": typed_number(contact.phone),
            "name": name,
        }
    )


@blueprint.post("/test-call/checks")
def check_test_call() -> str:
    """Return the pre-call checks for the current values of the form."""
    form = TestCallForm()
    with transaction(read_only=True) as session:
        checks = _checks(session, form)
    return render_template(
        "portal/calls/_checks.html",
        checks=checks,
        button_label=_button_label(checks),
        no_number=not form.called_number,
        is_fragment=True,
    )


@blueprint.post("/test-call")
def place_test_call() -> Page:
    form, shown_errors = TestCallForm(), (Conflict, Forbidden, NotFound)
    page = partial(_test_page, form, None, is_refused=True)
    with saving(form, page, validate=False, shows=shown_errors) as session:
        submission = FormSubmission(session)
        again_id = _again_id()
        placed = calls.schedule(
            session,
            caller(),
            form.to_request(),
            settings().call_settings,
            source=CallSource.TEST,
            live=True,
            after=again_id,
        )
        url = submission.finish(
            url_for("portal.calls.show_test_call", call=placed.call_id, again=again_id)
        )
    return redirect(url, 303)


def _test_page(form: TestCallForm, call_id: UUID | None, *, is_refused: bool = False) -> str:
    with transaction(read_only=True) as session:
        choices = assistants.with_organizations(
            session, caller(), MAX_ASSISTANTS, also=form.assistant.data
        )
        choices.sort(key=_ready_first)
        if not form.assistant.data and choices:
            form.assistant.data = str(choices[0][0].id)
        form.assistant.choices = [
            SelectChoice(
                str(assistant.id),
                _assistant_label(assistant, organization),
                # Browsers don't send a disabled choice, so its checks would be lost.
                {}
                if _can_call(assistant, organization) or str(assistant.id) == form.assistant.data
                else {"disabled": True},
                None if _can_call(assistant, organization) else gettext("Can’t call yet"),
            )
            for assistant, organization in choices
        ]
        panel = live_panel_data(session, calls.get(session, caller(), call_id)) if call_id else {}
        checks = _checks(session, form, is_placed=call_id is not None, is_sent=is_refused)
        if is_refused:
            _show_failed_checks(form, checks)
        return render_template(
            "portal/calls/test.html",
            form=form,
            hints=HINTS,
            max_text_length=MAX_TEXT_LENGTH,
            checks=checks,
            button_label=_button_label(checks),
            no_number=not (form.called_number or is_refused),
            has_assistants=bool(choices),
            has_more=len(choices) >= MAX_ASSISTANTS,
            earlier=_earlier_call(session),
            **panel,
        )


def _ready_first(choice: tuple[Assistant, Organization]) -> tuple[bool, str, str]:
    """Sort the assistants that can call before the others, each by name and then organization."""
    assistant, organization = choice
    return not _can_call(*choice), fold(assistant.name), fold(organization.name)


def _can_call(assistant: Assistant, organization: Organization) -> bool:
    is_active = organization.status is OrganizationStatus.ACTIVE
    return assistant.active and assistant.phone_ready and is_active


def _assistant_label(assistant: Assistant, organization: Organization) -> str:
    """Return the name with the number, or with the reason why the assistant can't call. With the
    name of the organization, the checks next to the form show the number."""
    is_member, number = caller().organization_id is not None, assistant.phone_number
    name = assistant.name if is_member else f"{assistant.name}, {organization.name}"
    if organization.status is OrganizationStatus.SUSPENDED:
        return gettext("%(name)s (organization suspended)", name=name)
    if organization.status is OrganizationStatus.ARCHIVED:
        return gettext("%(name)s (organization archived)", name=name)
    if not assistant.active:
        return gettext("%(name)s (switched off)", name=name)
    if not number:
        return gettext("%(name)s (no number)", name=name)
    if not assistant.phone_ready:
        return gettext("%(name)s (%(number)s is not ready)", name=name, number=phone(number))
    return f"{name} ({phone(number)})" if is_member else name


def _checks(
    session: Session, form: TestCallForm, *, is_placed: bool = False, is_sent: bool = False
) -> list[dict[str, Any]]:
    """Return the pre-call checks; of a call that is placed, its panel shows a pause and that the
    calling service is offline. Fields that are still blank aren't failures before the form
    ``is_sent``."""
    try:
        assistant = assistants.get(session, caller(), form.assistant.data or "")
    except NotFound:
        return []
    caller_id, number = assistant.phone_number, form.called_number
    results = calls.preflight(
        session,
        caller(),
        assistant,
        number,
        form.texts,
        installation=settings().call_settings,
    )
    checks = [
        {
            "state": check.status,
            "fix_at": check.fix_at,
            "title": _check_message(check, caller_id),
            "text": _local_time(number) if check.code == "within_calling_hours" else "",
            "until": check.until,
            **(_fix_link(check.fix_at, assistant, number) if check.status != "passed" else {}),
        }
        for check in results
        if not (is_placed and check.status != "passed" and _is_in_panel(check))
        and not (not is_sent and check.status == "failed" and _is_untouched(form, check.fix_at))
    ]
    return [*checks, *_unknown_placeholders(assistant, form)]


def _unknown_placeholders(assistant: Assistant, form: TestCallForm) -> list[dict[str, Any]]:
    """Return a warning if the assistant's own messages are used and refer to data that no contact
    has."""
    messages = (assistant.default_intro, assistant.default_voicemail)
    warning = unknown_placeholders_message(messages) if form.texts == CallTexts() else ""
    if not warning:
        return []
    link = _fix_link("assistant", assistant, "")
    return [{"state": "warning", "fix_at": "assistant", "title": warning, "until": None, **link}]


def _check_message(check: calls.PreflightCheck, caller_id: str | None) -> str:
    """Return the sentence with numbers and times in the format of the call's panel."""
    message = check.message.replace(caller_id, phone(caller_id)) if caller_id else check.message
    if check.until is not None:
        message = message.replace(calls.in_utc(check.until), long_datetime(check.until, zone()))
    return typographic(message)


def _local_time(number: str) -> str:
    """Return the local time of the person called, in each time zone that the number may be in."""
    now = utcnow()
    local = sorted(
        (now.astimezone(ZoneInfo(name)) for name in timezones_of(number)),
        key=lambda time: time.replace(tzinfo=None),
    )
    times = list(dict.fromkeys(f"{time:%H:%M}" for time in local))
    if not times:
        return ""
    if len(times) == 1:
        return gettext("It is %(time)s for the person called.", time=times[0])
    return gettext(
        "It is %(first)s to %(last)s for the person called, who may be in several time zones.",
        first=times[0],
        last=times[-1],
    )


def _button_label(checks: Sequence[dict[str, Any]]) -> str:
    """Return the label of the button: call now, or at the time that the checks return."""
    waits = [check["until"] for check in checks if check["until"]]
    if not waits or any(check["state"] == "failed" for check in checks):
        return pgettext("button", "Call")
    starts_at, now = (each.astimezone(ZoneInfo(zone())) for each in (max(waits), utcnow()))
    time = (
        f"{starts_at:%H:%M}"
        if starts_at.date() == now.date()
        else short_datetime(starts_at, zone())
    )
    return gettext("Schedule for %(time)s", time=time)


def _is_in_panel(check: calls.PreflightCheck) -> bool:
    return check.fix_at == "worker" or check.code == "calling_goes_on"


def _is_untouched(form: TestCallForm, fix_at: str) -> bool:
    """Return whether the fields of a check are blank."""
    if fix_at == "number":
        return not form.called_number
    texts = (form.intro.data, form.voicemail.data, form.instructions.data)
    return fix_at == "messages" and not any(texts)


def _show_failed_checks(form: TestCallForm, checks: Sequence[dict[str, Any]]) -> None:
    """Show everything that stops the call as a problem of the form; the service reports only the
    first."""
    failed = [check for check in checks if check["state"] == "failed"]
    if not failed:
        return
    of_number = tuple(check["title"] for check in failed if check["fix_at"] in OF_NUMBER)
    form.number.errors = of_number or form.number.errors
    other_checks = (check for check in failed if check["fix_at"] not in {*OF_NUMBER, *FIELDS})
    form.problems = [("", check["title"]) for check in other_checks]


def _fix_link(fix_at: str, assistant: Assistant, number: str) -> dict[str, str]:
    """Return the link to the page that fixes a check, for users who may open it."""
    if fix_at in FIELDS:
        return {"url": FIELDS[fix_at], "act": gettext("Go to field")}
    endpoint, act = PAGES.get(fix_at, ("", ""))
    if not endpoint or not may_open(caller(), endpoint):
        return {}
    if fix_at == "assistant":
        return {"url": url_for(endpoint, assistant_id=assistant.id), "act": str(act)}
    if fix_at in {"portal-regions", "operator-regions"}:
        country = region_title(region_of(number) or "")
        return {"url": url_for(endpoint), "act": gettext("Open %(country)s", country=country)}
    return {"url": url_for(endpoint, organization_id=assistant.organization_id), "act": str(act)}
