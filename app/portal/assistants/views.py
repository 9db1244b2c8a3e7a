"""Assistants: the list, one assistant with what it still needs, and the forms that set it up."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from flask import g, render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session

from app import extensions
from app.enums import CarrierKind
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Assistant, Call, Campaign, Organization
from app.policy import Permission
from app.portal.assistants import blueprint
from app.portal.assistants.forms import (
    MEANING_HINTS,
    MEANINGS,
    AssistantForm,
    KeyForm,
    NewAssistantForm,
)
from app.portal.assistants.listing import ASSISTANTS
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.campaign_statuses import STATUS_LABELS, with_statuses
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import phone
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.list_pages import list_page, without_empty
from app.portal.web.messages import redirect_with
from app.portal.web.navigation import may_open
from app.portal.web.organization_choice import new_page
from app.portal.web.page_frame import read_frame
from app.portal.web.placeholders import unknown_placeholders_message, warn_of_placeholders
from app.portal.web.readiness import READINESS_LABELS
from app.portal.web.user_timezone import last_days, zone
from app.services import (
    assistants,
    audit,
    calls,
    campaigns,
    organizations,
    partners,
    phone_numbers,
)
from app.services.assistants import settings
from app.services.assistants.queries import Readiness
from app.services.assistants.settings import MAX_TEXT
from app.services.calls import CallSearch
from app.services.calls.message_templates import fillable

LATEST_CALLS, LATEST_CAMPAIGNS, KNOWN_CALLS = 5, 5, 100
FIGURE_DAYS = 30
"""Days of the figures, as their heading names them."""
ACTS = {
    "organization": lazy_gettext("View organization"),
    "active": lazy_gettext("Switch on"),
    "phone_number": lazy_gettext("Add number"),
    "phone_enabled": lazy_gettext("Switch calls on"),
    "phone_configured": lazy_gettext("Mark as set up"),
    "default_intro": lazy_gettext("Write messages"),
    "default_voicemail": lazy_gettext("Write messages"),
}
OF_NUMBER = ("phone_enabled", "phone_configured")
"""Settings that can be made once an assistant has a number."""


@blueprint.get("/assistants")
def list_assistants() -> str:
    with transaction(read_only=True) as session:
        page = without_empty(list_page(session, ASSISTANTS), "service")
        organization = organization_picker.organization_in_filter(session)
        return render_template(
            "portal/assistants/list.html",
            list=page,
            organization=organization,
            partner=partners.named_in_filter(session, caller(), lists.id_filter("partner")),
        )


@blueprint.get("/assistants/<uuid:assistant_id>")
def show_assistant(assistant_id: UUID) -> str:
    return _page(assistant_id, KeyForm())


@blueprint.get("/assistants/new")
def new_assistant() -> Page:
    form = NewAssistantForm(data={"phone_enabled": True})
    crumb = (gettext("Assistants"), url_for("portal.assistants.list_assistants"))
    return new_page(form, _new_page, gettext("Add assistant"), crumb, for_assistant=True)


@blueprint.post("/assistants/new")
def create_assistant() -> Page:
    form = NewAssistantForm()
    organization = form.organization_or_page(_new_page)
    with saving(form, lambda: _new_page(organization, form), validate=False) as session:
        submission = FormSubmission(session)
        created = settings.create_assistant(
            session, caller(), organization, form.to_fields(), **_installation()
        )
        url = submission.finish(
            url_for("portal.assistants.show_assistant", assistant_id=created.id)
        )
    response = redirect_with(gettext("%(name)s was added.", name=created.name), url)
    warn_of_placeholders(form.messages)
    return response


@blueprint.get("/assistants/<uuid:assistant_id>/edit")
def edit_assistant(assistant_id: UUID) -> str:
    return stored_page(assistant_id, _edit_page, _stored)


@blueprint.post("/assistants/<uuid:assistant_id>/edit")
def save_assistant(assistant_id: UUID) -> Page:
    form = AssistantForm()
    with saving_edit(form, "agent", assistant_id, _edit_page, _stored, validate=False) as session:
        settings.update_assistant(
            session,
            caller(),
            assistant_id,
            form.to_fields(),
            expected_version=form.version.data,
            **_installation(),
        )
    message = gettext("%(name)s was saved.", name=form.name.data)
    response = redirect_with(
        message, url_for("portal.assistants.show_assistant", assistant_id=assistant_id)
    )
    warn_of_placeholders(form.messages, partial(_metadata_names, assistant_id))
    return response


@blueprint.post("/assistants/<uuid:assistant_id>/keys")
def add_assistant_key(assistant_id: UUID) -> Page:
    form = KeyForm()
    with saving(form, lambda: _page(assistant_id, form), validate=False) as session:
        assistants.get(session, caller(), assistant_id)
        submission, key = FormSubmission(session), form.key.data or ""
        identifies = form.identifies
        settings.add_external_id_key(session, caller(), assistant_id, key, identifies=identifies)
        url = submission.finish(
            url_for("portal.assistants.show_assistant", assistant_id=assistant_id)
        )
    return redirect_with(gettext("The key %(key)s was added.", key=key.strip()), url)


@blueprint.get("/assistants/<uuid:assistant_id>/keys/remove")
def confirm_remove_assistant_key(assistant_id: UUID) -> str:
    key = request.args.get("key", "")
    with transaction(read_only=True) as session:
        assistant = assistants.get(session, caller(), assistant_id)
        settings.get_key(session, assistant, key)
        return _removal_confirmation(session, assistant, key).page()


@blueprint.post("/assistants/<uuid:assistant_id>/keys/remove")
def remove_assistant_key(assistant_id: UUID) -> Page:
    key = request.args.get("key", "")
    with transaction() as session:
        settings.remove_external_id_key(session, caller(), assistant_id, key)
    message = gettext("The key %(key)s was removed.", key=key)
    return redirect_with(
        message, url_for("portal.assistants.show_assistant", assistant_id=assistant_id)
    )


def _stored(session: Session, assistant_id: UUID) -> AssistantForm:
    assistant, _ = assistants.get_with_organization(session, caller(), assistant_id)
    return AssistantForm.showing(assistant)


def _page(assistant_id: UUID, form: KeyForm) -> str:
    with transaction(read_only=True) as session:
        assistant, organization = assistants.get_with_organization(session, caller(), assistant_id)
        refusal = phone_numbers.refusals(session, [assistant], _carrier()).get(assistant.id)
        of = assistant.partner_id
        suspended = partners.suspended_of(session, caller(), [of]).get(of)
        readiness = assistants.readiness_of(assistant, organization, refusal, suspended)
        is_confirmed = phone_numbers.is_confirmed(session, assistant.phone_number)
        ready = readiness is Readiness.READY
        return render_template(
            "portal/assistants/detail.html",
            assistant=assistant,
            organization=organization,
            conditions=_conditions(
                assistant, organization, refusal, suspended, is_confirmed=is_confirmed
            ),
            trial=_trial(session, organization),
            keys=assistants.external_id_keys(session, assistant),
            meanings=MEANINGS,
            form=form,
            hints=MEANING_HINTS,
            readiness=readiness,
            readiness_label=READINESS_LABELS[readiness]
            if is_confirmed or not ready
            else gettext("Ready to call, confirmed by hand"),
            ready=ready,
            latest=_latest_calls(session, assistant),
            recent=_figures(session, assistant),
            used_by=_used_by(session, assistant),
            statuses=STATUS_LABELS,
            changes=audit.latest_of_target(session, caller(), "agent", assistant.id),
        )


def _latest_calls(
    session: Session, assistant: Assistant, limit: int = LATEST_CALLS
) -> Sequence[Call]:
    """Return the latest calls of the assistant, for users who may see calls."""
    if not caller().may(Permission.CALLS_READ):
        return []
    filters = CallSearch(assistant=assistant.id)
    return calls.search(session, caller(), filters, limit=limit).items


def _metadata_names(assistant_id: UUID) -> set[str]:
    """Return the names of metadata in the assistant's latest calls, which can fill placeholders."""
    with transaction(read_only=True) as session:
        assistant = assistants.get(session, caller(), assistant_id)
        latest = _latest_calls(session, assistant, KNOWN_CALLS)
        return {name for call in latest for name in fillable(call.call_metadata)}


def _figures(session: Session, assistant: Assistant) -> dict[str, Any] | None:
    """Return the figures of the assistant's calls of `FIGURE_DAYS`, with the filters that list
    them, for users who may see calls."""
    if not caller().may(Permission.CALLS_READ):
        return None
    first, last, since = last_days(FIGURE_DAYS, zone())
    filters = CallSearch(
        organization=assistant.organization_id, assistant=assistant.id, since=since
    )
    return {
        "figures": calls.figures_of(session, caller(), filters),
        "filters": {"agent": assistant.id, "start": first, "end": last},
    }


def _used_by(session: Session, assistant: Assistant) -> list[tuple[Campaign, str]]:
    """Return the campaigns that may use the assistant and their statuses, for users who may see
    campaigns."""
    if not caller().may(Permission.CAMPAIGNS_READ):
        return []
    return with_statuses(
        session, campaigns.of_assistant(session, caller(), assistant, LATEST_CAMPAIGNS)
    )


def _carrier() -> CarrierKind:
    """Return the installation's carrier."""
    return CarrierKind(extensions.settings().carrier)


def _installation() -> dict[str, Any]:
    """Return the installation's part in the settings of an assistant."""
    return {"carrier": _carrier(), "allow_private": extensions.settings().sip_allow_private}


def _conditions(
    assistant: Assistant,
    organization: Organization,
    refusal: str | None,
    suspended_partner: str | None,
    *,
    is_confirmed: bool,
) -> list[dict[str, Any]]:
    """Return the conditions, with links to fix them for users who may."""
    entries = []
    conditions = assistants.readiness(
        assistant,
        organization,
        refusal,
        suspended_partner=suspended_partner,
        is_confirmed=is_confirmed,
    )
    for each in conditions:
        title = each.message
        if assistant.phone_number:
            title = title.replace(assistant.phone_number, phone(assistant.phone_number))
        state = "passed" if each.met else "failed" if each.needed else "warning"
        if not each.met and not assistant.phone_number and each.section in OF_NUMBER:
            state = "later"
        entry: dict[str, Any] = {"state": state, "title": title}
        of_organization = each.section == "organization"
        needed = Permission.ORGANIZATIONS_WRITE if of_organization else Permission.ASSISTANTS_WRITE
        if not each.met and each.section == "phone_configured" and caller().organization_id:
            entry["text"] = gettext("%(partner)s does this.", partner=g.brand.partner_name)
        elif state in ("failed", "warning") and caller().may(needed):
            entry["url"] = (
                url_for("portal.organizations.show_organization", organization_id=organization.id)
                if of_organization
                else url_for(
                    "portal.assistants.edit_assistant",
                    assistant_id=assistant.id,
                    _anchor=each.section,
                )
            )
            has_number = each.section == "phone_number" and assistant.phone_number
            entry["act"] = gettext("Change number") if has_number else ACTS[each.section]
        entries.append(entry)
    return entries


def _trial(session: Session, organization: Organization) -> dict[str, Any] | None:
    """Return the consequences of trial mode for calls, with the page that verifies numbers; None
    without it."""
    if organizations.trial_of(session, organization, current_user.partner) is None:
        return None
    title = gettext("In trial mode only verified numbers can be called.")
    entry = {"title": title}
    if may_open(caller(), "portal.verified_numbers.list_numbers"):
        url = url_for("portal.verified_numbers.list_numbers", organization_id=organization.id)
        entry |= {"url": url, "act": gettext("Verify number")}
    return entry


def _removal_confirmation(session: Session, assistant: Assistant, key: str) -> ConfirmationPage:
    contact_count = settings.contacts_with_key(session, assistant, key)
    other_assistants = settings.defined_elsewhere(session, assistant, key)
    consequences = [
        ngettext(
            "%(num)s contact has a value for it. Contacts keep it.",
            "%(num)s contacts have a value for it. Contacts keep it.",
            contact_count,
        )
        if contact_count
        else gettext("No contact uses it.")
    ]
    if other_assistants:
        consequences.append(
            ngettext(
                "%(num)s other assistant defines it too.",
                "%(num)s other assistants define it too.",
                other_assistants,
            )
        )
    else:
        consequences.append(gettext("Files and scripts that send it will be refused."))
    return ConfirmationPage(
        action=url_for(
            "portal.assistants.remove_assistant_key", assistant_id=assistant.id, key=key
        ),
        title=gettext("Remove the key %(key)s?", key=key),
        consequences=consequences,
        action_label=gettext("Remove key"),
        keep_label=gettext("Keep key"),
        keep_url=url_for("portal.assistants.show_assistant", assistant_id=assistant.id),
    )


def _new_page(organization: Organization | None, form: NewAssistantForm) -> str:
    numbers: Sequence[str] = ()
    about = ""
    if organization is not None:
        with transaction(read_only=True) as session:
            read_frame(session)
            numbers = phone_numbers.unused_by_assistants(session, organization.id)
            use = organizations.usage_of(session, [organization.id])[organization.id]
            about = organization_picker.organization_hint(organization, use)
    return render_template(
        "portal/assistants/new.html",
        organization=organization,
        organization_hint=about,
        numbers=numbers,
        form=form,
        max_length=MAX_TEXT,
    )


def _edit_page(assistant_id: UUID, form: AssistantForm) -> str:
    with transaction(read_only=True) as session:
        assistant = assistants.get(session, caller(), assistant_id)
        organization = organizations.get(session, caller(), assistant.organization_id)
        numbers = phone_numbers.unused_by_assistants(session, assistant.organization_id)
    further = partial(_metadata_names, assistant_id)
    return render_template(
        "portal/assistants/edit.html",
        assistant=assistant,
        organization=organization,
        numbers=numbers,
        warnings=[unknown_placeholders_message([text], further) for text in form.messages],
        form=form,
        max_length=MAX_TEXT,
    )
