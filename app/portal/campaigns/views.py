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
from app.portal.access.missing import may_or_note_missing
from app.portal.campaigns.forms import WHO_HINTS, CampaignForm, NewCampaignForm
from app.portal.campaigns.head_words import PLAN_PAGES, head_words
from app.portal.campaigns.labels import calls_of_round
from app.portal.campaigns.listing import CAMPAIGNS, CampaignRow
from app.portal.campaigns.plan_words import plan_facts
from app.portal.contacts.listing import CONTACTS
from app.portal.uploads.listing import CAMPAIGN_UPLOADS
from app.portal.uploads.views import uploads_page
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page, portal
from app.portal.web.campaign_states import STATE_WORDS, state_of, steps_of_new
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.list_pages import ListPage, list_page, without_empty
from app.portal.web.messages import redirect_with
from app.portal.web.organization_choice import new_page
from app.services import assistants, audit, campaigns, contacts, outreach
from app.services.contacts import single

FILLED_LATER = frozenset({"answered", "assistant", "next-call", "started", "ended"})
"""Columns of the list that are empty until campaigns have started."""


@portal.get("/campaigns", endpoint="campaigns")
def list_campaigns() -> str:
    with transaction(read_only=True) as session:
        page = _without_empty(list_page(session, CAMPAIGNS))
        organization = organization_picker.organization_named(session)
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


@portal.get("/campaigns/new")
def campaign_new() -> Page:
    back = (gettext("Campaigns"), url_for("portal.campaigns"))
    return new_page(NewCampaignForm(), _new_page, gettext("Create campaign"), back)


@portal.post("/campaigns/new")
def campaign_create() -> Page:
    form = NewCampaignForm()
    organization = form.organization_or_page(_new_page, besides=form.has_no_problems)
    with saving(form, lambda: _new_page(organization, form), validate=False) as session:
        submission = FormSubmission(session)
        made = campaigns.create(session, caller(), organization.id, **form.wanted)
        url = submission.led_to(url_for("portal.campaign_plan", campaign_id=made.id, new=1))
    return redirect_with(gettext("%(campaign)s was created.", campaign=made.name), url)


@portal.get("/campaigns/<uuid:campaign_id>")
def campaign(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        page = without_empty(list_page(session, CONTACTS), "last-call", "status")
        return render_template(
            "portal/campaigns/detail.html",
            **about(session, found),
            list=page,
            statuses=_statuses(session, found),
            removed=_removed(session),
        )


def _statuses(session: Session, campaign: Campaign) -> dict[str, str]:
    """Return the statuses of the campaign's contacts, and the one of the URL."""
    chosen = lists.text_filter("status") or contacts.NO_STATUS
    found = {*contacts.statuses_of(session, campaign), chosen} - {contacts.NO_STATUS}
    return {contacts.NO_STATUS: gettext("No status")} | {each: each for each in sorted(found)}


@portal.get("/campaigns/<uuid:campaign_id>/uploads")
def campaign_uploads(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        shown = uploads_page(session, CAMPAIGN_UPLOADS)
        return render_template("portal/campaigns/uploads.html", **about(session, found), **shown)


@portal.get("/campaigns/<uuid:campaign_id>/settings")
def campaign_settings(campaign_id: UUID) -> str:
    return stored_page(campaign_id, _settings_page, _stored)


@portal.post("/campaigns/<uuid:campaign_id>/settings")
def campaign_save(campaign_id: UUID) -> Page:
    form = CampaignForm()
    with saving_edit(
        form, "campaign", campaign_id, _settings_page, _stored, validate=False
    ) as session:
        _save(session, campaign_id, form)
    url = url_for("portal.campaign_settings", campaign_id=campaign_id)
    return redirect_with(gettext("The campaign was saved."), url)


def _save(session: Session, campaign_id: UUID, form: CampaignForm) -> None:
    name, version = form.name.data or "", form.version.data
    campaigns.rename(session, caller(), campaign_id, name, expected_version=version)
    campaigns.assign_assistants(
        session, caller(), campaign_id, form.chosen, all_assistants=form.all_assistants
    )


@portal.get("/campaigns/<uuid:campaign_id>/archive")
def campaign_archive_confirm(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        return _archiving(campaigns.get(session, caller(), campaign_id)).page()


@portal.post("/campaigns/<uuid:campaign_id>/archive")
def campaign_archive(campaign_id: UUID) -> Page:
    with transaction() as session:
        found = campaigns.archive(session, caller(), campaign_id)
    words = gettext("%(campaign)s is archived.", campaign=found.name)
    return redirect_with(words, url_for("portal.campaign", campaign_id=campaign_id))


def about(session: Session, found: Campaign) -> dict[str, Any]:
    _, organization, plan, assistant = campaigns.get_with_plan(session, caller(), found.id)
    plans = [(plan, assistant)] if plan and assistant else []
    planned = outreach.summaries_of(session, [found], plans).get(found.id)
    summary = planned or outreach.RoundSummary()
    state = state_of(found, summary)
    archived = found.status is CampaignStatus.ARCHIVED
    takes_new = not archived and organization.status is not OrganizationStatus.ARCHIVED
    has_plan, is_started = planned is not None, summary.started_at is not None
    return {
        "campaign": found,
        "state": state,
        "state_words": STATE_WORDS[state],
        "head_words": head_words(found, organization, has_plan=has_plan, is_started=is_started),
        "has_plan": has_plan,
        "started": is_started,
        "may_start": takes_new and _may_start(found, state),
        "on_plan_page": request.endpoint in PLAN_PAGES,
        "archived": archived,
        "takes_new": takes_new,
        "organization": organization,
    }


def _may_start(found: Campaign, state: str) -> bool:
    """Return whether the campaign has someone to call and the user may start it."""
    is_waiting = found.contact_count > 0 and state in ("paused", "not-started")
    return is_waiting and may_or_note_missing(Permission.CAMPAIGNS_WRITE)


def _removed(session: Session) -> tuple[str, str] | None:
    """Return the contact that was just removed and can be restored: its name and id."""
    try:
        contact_id = UUID(request.args.get("removed", ""))
    except ValueError:
        return None
    gone = single.removed_lately(session, caller(), contact_id)
    return (single.name_of(gone), str(contact_id)) if gone else None


def _archiving(found: Campaign) -> ConfirmationPage:
    kept, undone = gettext("It has no contacts."), gettext("This can’t be undone.")
    if found.contact_count:
        kept = ngettext(
            "Its %(num)s contact can still be viewed.",
            "Its %(num)s contacts can still be viewed.",
            found.contact_count,
        )
        moved = gettext("Its contacts can be uploaded to another campaign.")
        undone = f"{undone} {moved}"
    return ConfirmationPage(
        action=url_for("portal.campaign_archive", campaign_id=found.id),
        title=gettext("Archive %(campaign)s?", campaign=found.name),
        consequences=[
            kept,
            gettext("It is removed from the list and accepts no more uploads."),
            undone,
        ],
        act=gettext("Archive campaign"),
        safe=gettext("Keep campaign"),
        safe_url=url_for("portal.campaign_settings", campaign_id=found.id),
    )


def _stored(session: Session, campaign_id: UUID) -> CampaignForm:
    found = campaigns.get(session, caller(), campaign_id)
    return CampaignForm.showing(found, campaigns.assistants_of(session, found))


def _new_page(organization: Organization | None, form: NewCampaignForm) -> str:
    if organization is not None:
        with transaction(read_only=True) as session:
            form.offer(assistants.of_organization(session, caller(), organization.id))
    return render_template(
        "portal/campaigns/new.html",
        organization=organization,
        about=organization_picker.organization_hint(organization) if organization else "",
        form=form,
        hints=WHO_HINTS,
        steps_of_new=steps_of_new(),
        defaults=plan_facts(outreach.CampaignPlan(None)),
    )


def _settings_page(campaign_id: UUID, form: CampaignForm) -> str:
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        form.offer(assistants.of_organization(session, caller(), found.organization_id))
        return render_template(
            "portal/campaigns/settings.html",
            **about(session, found),
            keys=campaigns.external_id_keys(session, found),
            form=form,
            hints=WHO_HINTS,
            archiving=_archiving(found),
            changes=audit.latest_of_target(session, caller(), "campaign", found.id),
        )
