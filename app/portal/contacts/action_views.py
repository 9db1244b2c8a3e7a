"""Actions on one contact with a confirmation: remove, restore, add to the do-not-call list."""

from uuid import UUID

from flask import redirect, url_for
from sqlalchemy.orm import Session

from app.errors import NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext, ngettext
from app.models import Campaign, Organization
from app.portal.contacts import blueprint
from app.portal.contacts.bulk import SOURCE
from app.portal.contacts.forms import ConsentForm
from app.portal.do_not_call.confirmation import DoNotCallReasonForm, added_message, never_calling
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import redirect_with
from app.schemas.contacts import StoredContact
from app.services import campaigns, contacts, do_not_call
from app.services.contacts import history, single_contact


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/remove")
def confirm_remove_contact(campaign_id: UUID, contact_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        contact = contacts.get(session, caller(), campaign_id, contact_id)
        return removal_confirmation(session, campaign, contact).page()


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/remove")
def remove_contact(campaign_id: UUID, contact_id: UUID) -> Page:
    """Redirect to the campaign, which offers to restore the contact."""
    with transaction() as session:
        single_contact.remove(session, caller(), campaign_id, contact_id)
    return redirect(
        url_for("portal.campaigns.show_campaign", campaign_id=campaign_id, removed=contact_id), 303
    )


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/restore")
def restore_contact(campaign_id: UUID, contact_id: UUID) -> Page:
    try:
        with transaction() as session:
            new_id = single_contact.undo_removal(session, caller(), campaign_id, contact_id)
    except ValidationFailed as error:
        message = gettext("The contact was not restored. %(reason)s", reason=error.message)
        return redirect_with(
            message, url_for("portal.campaigns.show_campaign", campaign_id=campaign_id), "warning"
        )
    url = url_for("portal.contacts.show_contact", campaign_id=campaign_id, contact_id=new_id)
    return redirect_with(gettext("Contact restored. Its cancelled calls stay cancelled."), url)


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/consent")
def save_consent(campaign_id: UUID, contact_id: UUID) -> Page:
    """Store the contact's consent, as metadata."""
    form = ConsentForm()
    url = url_for("portal.contacts.show_contact", campaign_id=campaign_id, contact_id=contact_id)
    if not form.validate():
        message = gettext("Choose whether the person may be called. Nothing was changed.")
        return redirect_with(message, url, "warning")
    with transaction() as session:
        single_contact.merge_metadata(
            session, caller(), campaign_id, contact_id, form.to_metadata()
        )
    return redirect_with(gettext("The consent was saved."), url)


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/do-not-call")
def confirm_do_not_call(campaign_id: UUID, contact_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign, organization = campaigns.get_with_organization(session, caller(), campaign_id)
        contact = contacts.get(session, caller(), campaign_id, contact_id)
        if contact.phone is None:
            raise NotFound
        waiting = do_not_call.waiting_calls_to(session, organization.id, [contact.phone])
        confirmation = listing_confirmation(campaign, organization, contact, waiting)
        return confirmation.page(DoNotCallReasonForm().reason)


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/do-not-call")
def add_to_do_not_call(campaign_id: UUID, contact_id: UUID) -> Page:
    form = DoNotCallReasonForm()
    url = url_for("portal.contacts.show_contact", campaign_id=campaign_id, contact_id=contact_id)
    with transaction() as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        contact = contacts.get(session, caller(), campaign_id, contact_id)
        if contact.phone is None:
            raise NotFound
        organization_id, reason = campaign.organization_id, form.reason.data
        do_not_call.add(
            session, caller(), organization_id, contact.phone, reason=reason, source=SOURCE
        )
    return redirect_with(added_message(contact.phone), url)


def removal_confirmation(
    session: Session, campaign: Campaign, contact: StoredContact
) -> ConfirmationPage:
    waiting = history.waiting_calls(session, contact.id)
    return ConfirmationPage(
        action=url_for(
            "portal.contacts.remove_contact", campaign_id=campaign.id, contact_id=contact.id
        ),
        title=gettext("Remove %(name)s?", name=single_contact.name_of(contact)),
        consequences=[
            gettext(
                "The contact leaves %(campaign)s with all its details.", campaign=campaign.name
            ),
            ngettext(
                "%(num)s waiting call is cancelled.",
                "%(num)s waiting calls are cancelled.",
                waiting,
            )
            if waiting
            else gettext("It has no waiting calls."),
            gettext("You can restore the contact for one day."),
        ],
        action_label=gettext("Remove contact"),
        keep_label=gettext("Keep contact"),
        keep_url=url_for(
            "portal.contacts.show_contact", campaign_id=campaign.id, contact_id=contact.id
        ),
        crumbs=_breadcrumbs(campaign, contact),
    )


def listing_confirmation(
    campaign: Campaign, organization: Organization, contact: StoredContact, waiting: int
) -> ConfirmationPage:
    return never_calling(
        organization,
        contact.phone or "",
        waiting,
        url_for(
            "portal.contacts.add_to_do_not_call", campaign_id=campaign.id, contact_id=contact.id
        ),
        _breadcrumbs(campaign, contact),
    )


def _breadcrumbs(campaign: Campaign, contact: StoredContact) -> list[tuple[str, str]]:
    """Return the breadcrumbs above a confirmation about the contact."""
    return [
        (gettext("Campaigns"), url_for("portal.campaigns.list_campaigns")),
        (campaign.name, url_for("portal.campaigns.show_campaign", campaign_id=campaign.id)),
        (
            single_contact.name_of(contact),
            url_for("portal.contacts.show_contact", campaign_id=campaign.id, contact_id=contact.id),
        ),
    ]
