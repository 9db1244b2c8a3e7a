"""Contacts of a campaign: one contact with its history, and the forms that add and change it."""

from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, stream_with_context, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ends_outreach
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Campaign, Organization
from app.phone import country_name
from app.portal.contacts.action_views import ConsentForm, listing_confirmation, removing
from app.portal.contacts.forms import ContactForm, form_for, showing, shown
from app.portal.do_not_call.forms import ReasonForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.editing import Submission
from app.portal.web.forms import refused
from app.portal.web.lists import csv_file
from app.portal.web.messages import redirect_with
from app.services import audit, campaigns, contacts, do_not_call, organizations, users
from app.services.calls.rules import REFUSED, number_is_allowed
from app.services.contacts import consent, history, single
from app.services.destinations import destinations_of
from app.services.imports import export

SHOWN = 10
UPLOAD_ACTIONS = {
    "created": lazy_gettext("Added"),
    "updated": lazy_gettext("Updated"),
    "deleted": lazy_gettext("Removed"),
}


@portal.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>")
def contact(campaign_id: UUID, contact_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        found = contacts.get(session, caller(), campaign_id, contact_id)
        listed = bool(found.phone) and do_not_call.is_listed(
            session, campaign.organization_id, found.phone or ""
        )
        organization = organizations.get(session, caller(), campaign.organization_id)
        refused = _refusal(session, organization, found.phone)
        asked = consent.stated_by(found.contact_metadata)
        calls_to_it = history.calls_to(session, caller(), campaign, found, SHOWN)
        return render_template(
            "portal/contacts/detail.html",
            campaign=campaign,
            organization=organization,
            refusal=refused,
            callable=found.phone and not (refused or listed or asked.status == REFUSED),
            contact=found,
            name=single.name_of(found),
            listed=listed,
            ended=ends_outreach(found.status),
            facts=[(name, shown(value)) for name, value in found.contact_metadata.items()],
            calls=calls_to_it,
            requesters=users.names_by_email(
                session, caller(), {call.requested_by for call in calls_to_it}
            ),
            uploads=history.uploads_of(session, found, SHOWN),
            upload_actions=UPLOAD_ACTIONS,
            changes=audit.latest_of_target(session, caller(), "contact", found.id, SHOWN),
            removing=removing(session, campaign, found),
            reason=ReasonForm().reason,
            consent=asked,
            consent_form=ConsentForm(),
            listing=listing_confirmation(session, campaign, found) if found.phone else None,
        )


def _refusal(session: Session, organization: Organization, number: str | None) -> str | None:
    """Return why calls to the number are refused, whichever assistant calls it."""
    if not number:
        return None
    blocker = number_is_allowed(number, destinations_of(session, organization))
    return blocker.message if blocker else None


@portal.get("/campaigns/<uuid:campaign_id>/contacts/new")
def contact_new(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        form = form_for(list(campaigns.external_id_keys(session, campaign)))()
    return _new_page(campaign, form)


@portal.post("/campaigns/<uuid:campaign_id>/contacts/new")
def contact_create(campaign_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        form = form_for(list(campaigns.external_id_keys(session, campaign)))()
        wanted = form.to_fields()
    try:
        with transaction() as session:
            submission = Submission(session)
            made = single.add(session, caller(), campaign_id, wanted)
            form.require_readable()
            url = submission.led_to(
                url_for("portal.contact", campaign_id=campaign_id, contact_id=made)
            )
    except ValidationFailed as error:
        return refused(error, form, lambda: _new_page(campaign, form))
    return redirect_with(gettext("The contact was added."), url)


@portal.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/edit")
def contact_edit(campaign_id: UUID, contact_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        found = contacts.get(session, caller(), campaign_id, contact_id)
        form = showing(list(campaigns.external_id_keys(session, campaign)), found)
    return _edit_page(campaign, contact_id, form)


@portal.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/edit")
def contact_save(campaign_id: UUID, contact_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        found = contacts.get(session, caller(), campaign_id, contact_id)
        keys = list(campaigns.external_id_keys(session, campaign))
        form = form_for(keys)()
        wanted = form.to_fields(found)
    try:
        with transaction() as session:
            single.edit(
                session,
                caller(),
                campaign_id,
                contact_id,
                wanted,
                expected_version=form.version.data,
            )
            form.require_readable()
    except (ValidationFailed, Conflict) as error:
        return refused(
            error,
            form,
            lambda: _edit_page(campaign, contact_id, form),
            stored=lambda session: showing(
                keys, contacts.get(session, caller(), campaign_id, contact_id)
            ),
            target=("contact", contact_id),
        )
    return redirect_with(
        gettext("The contact was saved."),
        url_for("portal.contact", campaign_id=campaign_id, contact_id=contact_id),
    )


def _new_page(campaign: Campaign, form: ContactForm) -> str:
    with transaction(read_only=True) as session:
        return render_template("portal/contacts/new.html", **_form(session, campaign, form))


def _edit_page(campaign: Campaign, contact_id: UUID, form: ContactForm) -> str:
    with transaction(read_only=True) as session:
        found = contacts.get(session, caller(), campaign.id, contact_id)
        return render_template(
            "portal/contacts/edit.html",
            contact=found,
            name=single.name_of(found),
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


@portal.get("/campaigns/<uuid:campaign_id>/contacts.csv")
def contact_file(campaign_id: UUID) -> Response:
    """Export all contacts, oldest first; importing the file again gives the same contacts."""
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        columns = export.columns_of(session, campaign)
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in campaign.name).strip("-")
    parts = export.parts(partial(transaction, read_only=True), columns)
    return csv_file(f"contacts-of-{name or 'campaign'}", stream_with_context(parts))
