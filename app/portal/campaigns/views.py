"""Campaigns: the list, and one campaign with its contacts, uploads and settings."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, OrganizationStatus
from app.extensions import caller, transaction
from app.languages import gettext, ngettext
from app.models import Campaign, Organization
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing
from app.portal.campaigns import blueprint
from app.portal.campaigns.forms import WHO_HINTS, CampaignForm, NewCampaignForm
from app.portal.campaigns.head_labels import PLAN_PAGES, head_message
from app.portal.campaigns.labels import calls_of_round
from app.portal.campaigns.listing import CAMPAIGNS, CampaignRow
from app.portal.campaigns.plan_labels import plan_facts
from app.portal.contacts.listing import CONTACTS
from app.portal.uploads.listing import CAMPAIGN_UPLOADS
from app.portal.uploads.views import uploads_page
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.campaign_statuses import STATUS_LABELS, status_of, steps_of_new
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.list_pages import ListPage, list_page, without_empty
from app.portal.web.messages import redirect_with
from app.portal.web.organization_choice import new_page
from app.services import assistants, audit, campaigns, contacts, outreach
from app.services.contacts import removed_contacts, single_contact

FILLED_LATER = frozenset({"answered", "assistant", "next-call", "started", "ended"})
"""Columns of the list that are empty until campaigns have started."""


@blueprint.get("/campaigns")
def list_campaigns() -> str:
    with transaction(read_only=True) as session:
        page = _without_empty(list_page(session, CAMPAIGNS))
        organization = organization_picker.organization_of_url(session)
        return render_template(
            "portal/campaigns/list.html",
            list=page,
            organization=organization,
            calls_of_round=calls_of_round,
        )


def _without_empty(page: ListPage[CampaignRow]) -> ListPage[CampaignRow]:
    """Return the page without the columns that are empty for each of its campaigns."""
    page = without_empty(page, *FILLED_LATER)
    return replace(page, hidden=page.hidden | {"progress"}) if "started" in page.hidden else page


@blueprint.get("/campaigns/new")
def new_campaign() -> Page:
    crumb = (gettext("Campaigns"), url_for("portal.campaigns.list_campaigns"))
    return new_page(NewCampaignForm(), _new_page, gettext("Create campaign"), crumb)


@blueprint.post("/campaigns/new")
def create_campaign() -> Page:
    form = NewCampaignForm()
    organization = form.organization_or_page(_new_page, besides=form.has_no_problems)
    with saving(form, lambda: _new_page(organization, form), validate=False) as session:
        submission = FormSubmission(session)
        created = campaigns.create(session, caller(), organization.id, **form.to_fields())
        url = submission.finish(
            url_for("portal.campaigns.edit_plan", campaign_id=created.id, new=1)
        )
    return redirect_with(gettext("%(campaign)s was created.", campaign=created.name), url)


@blueprint.get("/campaigns/<uuid:campaign_id>")
def show_campaign(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        page = without_empty(list_page(session, CONTACTS), "last-call", "status")
        return render_template(
            "portal/campaigns/detail.html",
            **campaign_page_data(session, campaign),
            list=page,
            statuses=_statuses(session, campaign),
            removed=_removed_contact(session),
        )


def _statuses(session: Session, campaign: Campaign) -> dict[str, str]:
    """Return the statuses of the campaign's contacts, and the one of the URL."""
    selected = lists.text_filter("status") or contacts.NO_STATUS
    statuses = {*contacts.statuses_of(session, campaign), selected} - {contacts.NO_STATUS}
    return {contacts.NO_STATUS: gettext("No status")} | {each: each for each in sorted(statuses)}


@blueprint.get("/campaigns/<uuid:campaign_id>/uploads")
def list_campaign_uploads(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        context = uploads_page(session, CAMPAIGN_UPLOADS)
        return render_template(
            "portal/campaigns/uploads.html",
            **campaign_page_data(session, campaign),
            **context,
        )


@blueprint.get("/campaigns/<uuid:campaign_id>/settings")
def edit_campaign(campaign_id: UUID) -> str:
    return stored_page(campaign_id, _settings_page, _stored)


@blueprint.post("/campaigns/<uuid:campaign_id>/settings")
def save_campaign(campaign_id: UUID) -> Page:
    form = CampaignForm()
    with saving_edit(
        form, "campaign", campaign_id, _settings_page, _stored, validate=False
    ) as session:
        _save(session, campaign_id, form)
    url = url_for("portal.campaigns.edit_campaign", campaign_id=campaign_id)
    return redirect_with(gettext("The campaign was saved."), url)


def _save(session: Session, campaign_id: UUID, form: CampaignForm) -> None:
    name, version = form.name.data or "", form.version.data
    campaigns.rename(session, caller(), campaign_id, name, expected_version=version)
    campaigns.assign_assistants(
        session, caller(), campaign_id, form.assistant_ids, all_assistants=form.all_assistants
    )


@blueprint.get("/campaigns/<uuid:campaign_id>/archive")
def confirm_archive_campaign(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        return _archive_confirmation(campaigns.get(session, caller(), campaign_id)).page()


@blueprint.post("/campaigns/<uuid:campaign_id>/archive")
def archive_campaign(campaign_id: UUID) -> Page:
    with transaction() as session:
        archived = campaigns.archive(session, caller(), campaign_id)
    message = gettext("%(campaign)s is archived.", campaign=archived.name)
    return redirect_with(
        message, url_for("portal.campaigns.show_campaign", campaign_id=campaign_id)
    )


def campaign_page_data(session: Session, campaign: Campaign) -> dict[str, Any]:
    _, organization, plan, assistant = campaigns.get_with_plan(session, caller(), campaign.id)
    plans = [(plan, assistant)] if plan and assistant else []
    planned = outreach.summaries_of(session, [campaign], plans).get(campaign.id)
    summary = planned or outreach.RoundSummary()
    status = status_of(campaign, summary)
    archived = campaign.status is CampaignStatus.ARCHIVED
    takes_new = not archived and organization.status is not OrganizationStatus.ARCHIVED
    has_plan, is_started = planned is not None, summary.started_at is not None
    return {
        "campaign": campaign,
        "campaign_status": status,
        "campaign_status_label": STATUS_LABELS[status],
        "head_message": head_message(
            campaign, organization, has_plan=has_plan, is_started=is_started
        ),
        "has_plan": has_plan,
        "started": is_started,
        "may_start": takes_new and _may_start(campaign, status),
        "on_plan_page": request.endpoint in PLAN_PAGES,
        "archived": archived,
        "takes_new": takes_new,
        "organization": organization,
    }


def _may_start(campaign: Campaign, status: str) -> bool:
    """Return whether the campaign has someone to call and the user may start it."""
    is_waiting = campaign.contact_count > 0 and status in ("paused", "not-started")
    return is_waiting and may_or_note_missing(Permission.CAMPAIGNS_WRITE)


def _removed_contact(session: Session) -> tuple[str, str] | None:
    """Return the contact that was just removed and can be restored: its name and id."""
    try:
        contact_id = UUID(request.args.get("removed", ""))
    except ValueError:
        return None
    contact = removed_contacts.find(session, caller(), contact_id)
    return (single_contact.name_of(contact), str(contact_id)) if contact else None


def _archive_confirmation(campaign: Campaign) -> ConfirmationPage:
    contacts_message = gettext("It has no contacts.")
    final_message = gettext("This can’t be undone.")
    if campaign.contact_count:
        contacts_message = ngettext(
            "Its %(num)s contact can still be viewed.",
            "Its %(num)s contacts can still be viewed.",
            campaign.contact_count,
        )
        upload_hint = gettext("Its contacts can be uploaded to another campaign.")
        final_message = f"{final_message} {upload_hint}"
    return ConfirmationPage(
        action=url_for("portal.campaigns.archive_campaign", campaign_id=campaign.id),
        title=gettext("Archive %(campaign)s?", campaign=campaign.name),
        consequences=[
            contacts_message,
            gettext("It is removed from the list and accepts no more uploads."),
            final_message,
        ],
        action_label=gettext("Archive campaign"),
        keep_label=gettext("Keep campaign"),
        keep_url=url_for("portal.campaigns.edit_campaign", campaign_id=campaign.id),
        crumbs=(
            (gettext("Campaigns"), url_for("portal.campaigns.list_campaigns")),
            (campaign.name, url_for("portal.campaigns.show_campaign", campaign_id=campaign.id)),
        ),
    )


def _stored(session: Session, campaign_id: UUID) -> CampaignForm:
    campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
    return CampaignForm.showing(campaign, campaigns.assistants_of(session, campaign))


def _new_page(organization: Organization | None, form: NewCampaignForm) -> str:
    if organization is not None:
        with transaction(read_only=True) as session:
            form.set_choices(assistants.of_organization(session, caller(), organization.id))
    return render_template(
        "portal/campaigns/new.html",
        organization=organization,
        organization_hint=(
            organization_picker.organization_hint(organization) if organization else ""
        ),
        form=form,
        hints=WHO_HINTS,
        steps_of_new=steps_of_new(),
        defaults=plan_facts(outreach.CampaignPlan(None)),
    )


def _settings_page(campaign_id: UUID, form: CampaignForm) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        form.set_choices(assistants.of_organization(session, caller(), campaign.organization_id))
        return render_template(
            "portal/campaigns/settings.html",
            **campaign_page_data(session, campaign),
            keys=campaigns.external_id_keys(session, campaign),
            form=form,
            hints=WHO_HINTS,
            archiving=_archive_confirmation(campaign),
            changes=audit.latest_of_target(session, caller(), "campaign", campaign.id),
        )
