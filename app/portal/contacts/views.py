"""Contacts of a campaign: one contact with its history, and the forms that add and change it."""

from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, stream_with_context, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import OrganizationStatus, ends_outreach
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Campaign, Organization
from app.phone import country_name
from app.portal.contacts import blueprint
from app.portal.contacts.action_views import listing_confirmation, removal_confirmation
from app.portal.contacts.forms import ConsentForm, ContactForm, form_for, metadata_text, showing
from app.portal.do_not_call.confirmation import DoNotCallReasonForm
from app.portal.web.author_names import author_names
from app.portal.web.blueprint import Page
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit
from app.portal.web.lists import csv_file, file_name_part
from app.portal.web.messages import redirect_with
from app.schemas.contacts import StoredContact
from app.services import audit, campaigns, contacts, do_not_call, organizations
from app.services.calls.rules import REFUSED, number_blocker
from app.services.contacts import consent, history, single_contact
from app.services.destinations import destinations_of
from app.services.imports import export

SHOWN = 10
UPLOAD_ACTIONS = {
    "created": lazy_gettext("Added"),
    "updated": lazy_gettext("Updated"),
    "deleted": lazy_gettext("Removed"),
}


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>")
def show_contact(campaign_id: UUID, contact_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign, organization = campaigns.get_with_organization(session, caller(), campaign_id)
        contact = contacts.get(session, caller(), campaign_id, contact_id)
        return render_template(
            "portal/contacts/detail.html",
            **_details(campaign, contact),
            **_history(session, contact),
            removing=removal_confirmation(session, campaign, contact),
            **_calling_context(session, campaign, organization, contact),
        )


def _details(campaign: Campaign, contact: StoredContact) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "contact": contact,
        "name": single_contact.name_of(contact),
        "ended": ends_outreach(contact.status),
        "facts": [(name, metadata_text(value)) for name, value in contact.contact_metadata.items()],
    }


def _history(session: Session, contact: StoredContact) -> dict[str, Any]:
    """Return the latest uploads and changes of a contact."""
    return {
        "uploads": history.uploads_of(session, contact, SHOWN),
        "upload_actions": UPLOAD_ACTIONS,
        "changes": audit.latest_of_target(session, caller(), "contact", contact.id, SHOWN),
    }


def _calling_context(
    session: Session, campaign: Campaign, organization: Organization, contact: StoredContact
) -> dict[str, Any]:
    """Return the calls to a contact, and whether it can be called, by whichever assistant."""
    number, stated = contact.phone, consent.stated_by(contact.contact_metadata)
    blocker = number_blocker(number, destinations_of(session, organization)) if number else None
    is_listed, waiting = (
        do_not_call.listed_or_waiting(session, organization.id, number) if number else (False, 0)
    )
    calls_to_it = history.calls_to(session, caller(), campaign, contact, SHOWN)
    return {
        "organization": organization,
        "refusal": blocker.message if blocker else None,
        "is_listed": is_listed,
        "callable": number
        and organization.status is OrganizationStatus.ACTIVE
        and not (blocker or is_listed or stated.status == REFUSED),
        "calls": calls_to_it,
        "requesters": author_names(session, {call.requested_by for call in calls_to_it}),
        "consent": stated,
        "consent_form": ConsentForm(),
        "reason": DoNotCallReasonForm().reason,
        "listing": listing_confirmation(campaign, organization, contact, waiting)
        if number
        else None,
    }


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/new")
def new_contact(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaigns.get_for_new_contacts(session, caller(), campaign_id)
        return _new_page(*_open_form(campaign_id))


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/new")
def create_contact(campaign_id: UUID) -> Page:
    campaign, form = _open_form(campaign_id)
    with saving(form, lambda: _new_page(campaign, form), validate=False) as session:
        submission = FormSubmission(session)
        contact_id = single_contact.add(session, caller(), campaign_id, form.to_fields())
        form.require_readable()
        url = submission.finish(_url(campaign_id, contact_id))
    return redirect_with(gettext("The contact was added."), url)


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/edit")
def edit_contact(campaign_id: UUID, contact_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign, _ = campaigns.get_with_organization(session, caller(), campaign_id)
        form = _stored(session, contact_id, campaign=campaign)
        return _edit_page(contact_id, form, campaign=campaign)


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/edit")
def save_contact(campaign_id: UUID, contact_id: UUID) -> Page:
    campaign, form = _open_form(campaign_id)
    with transaction(read_only=True) as session:
        fields = form.to_fields(contacts.get(session, caller(), campaign_id, contact_id))
    page, stored = partial(_edit_page, campaign=campaign), partial(_stored, campaign=campaign)
    with saving_edit(form, "contact", contact_id, page, stored, validate=False) as session:
        version = form.version.data
        single_contact.edit(
            session, caller(), campaign_id, contact_id, fields, expected_version=version
        )
        form.require_readable()
    return redirect_with(gettext("The contact was saved."), _url(campaign_id, contact_id))


def _open_form(campaign_id: UUID) -> tuple[Campaign, ContactForm]:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        return campaign, form_for(list(campaigns.external_id_keys(session, campaign)))()


def _stored(session: Session, contact_id: UUID, *, campaign: Campaign) -> ContactForm:
    contact = contacts.get(session, caller(), campaign.id, contact_id)
    return showing(list(campaigns.external_id_keys(session, campaign)), contact)


def _url(campaign_id: UUID, contact_id: UUID) -> str:
    return url_for("portal.contacts.show_contact", campaign_id=campaign_id, contact_id=contact_id)


def _new_page(campaign: Campaign, form: ContactForm) -> str:
    with transaction(read_only=True) as session:
        return render_template("portal/contacts/new.html", **_form(session, campaign, form))


def _edit_page(contact_id: UUID, form: ContactForm, *, campaign: Campaign) -> str:
    with transaction(read_only=True) as session:
        contact = contacts.get(session, caller(), campaign.id, contact_id)
        return render_template(
            "portal/contacts/edit.html",
            contact=contact,
            name=single_contact.name_of(contact),
            **_form(session, campaign, form),
        )


def _form(session: Session, campaign: Campaign, form: ContactForm) -> dict[str, Any]:
    organization = organizations.get(session, caller(), campaign.organization_id)
    meanings = campaigns.external_id_keys(session, campaign)
    return {
        "campaign": campaign,
        "form": form,
        "region": country_name(organization.default_region),
        "external": [
            (field, meanings.get(key, False))
            for key, field in zip(form.keys, form.external, strict=True)
        ],
    }


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts.csv")
def download_contacts(campaign_id: UUID) -> Response:
    """Export all contacts, oldest first; importing the file again gives the same contacts."""
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        columns = export.columns_of(session, campaign)
    chunks = export.parts(partial(transaction, read_only=True), columns)
    name = f"contacts-of-{file_name_part(campaign.name, 'campaign')}"
    return csv_file(name, stream_with_context(chunks))
