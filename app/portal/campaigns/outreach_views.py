"""The outreach of a campaign: starting and pausing it, its progress, the contacts left out."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import CampaignStatus, CarrierKind, OrganizationStatus
from app.errors import Conflict
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Call, Campaign, Organization, Outreach, utcnow
from app.policy import Permission
from app.portal.campaigns import blueprint
from app.portal.campaigns.labels import (
    LEFT_OUT_LABELS,
    blocker_message,
    calls_of_round,
    closed_link,
    consequences,
    how_lines,
    left_out_message,
    needs_action,
    reason_label,
    result_figures,
)
from app.portal.campaigns.plan_labels import plan_facts
from app.portal.campaigns.progress_labels import (
    ahead_message,
    finished_facts,
    paused_message,
    removed_message,
    status_message,
    waiting_message,
)
from app.portal.campaigns.views import campaign_page_data
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.campaign_statuses import steps_of_planned
from app.portal.web.closed_countries import closed_country_label
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import night_calls_warning
from app.portal.web.messages import changing, redirect_with
from app.services import assistants, audit, calls, campaigns, organizations, outreach, phone_numbers
from app.services.calls import CallSearch
from app.services.outreach import RecallChoice
from app.services.outreach.progress import NOT_ALLOWED, NOT_REACHED

LATEST_CALLS = 5


@blueprint.get("/campaigns/<uuid:campaign_id>/outreach")
def show_outreach(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        return render_template(
            "portal/campaigns/outreach.html",
            **campaign_page_data(session, campaign),
            **_outreach_context(session, campaign),
        )


@blueprint.get("/campaigns/<uuid:campaign_id>/outreach/live")
def show_outreach_progress(campaign_id: UUID) -> str:
    """Return the panel of a running campaign, which reloads itself."""
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        return render_template(
            "portal/campaigns/_progress.html",
            campaign=campaign,
            **_outreach_context(session, campaign),
        )


@blueprint.get("/campaigns/<uuid:campaign_id>/outreach/excluded")
def list_left_out_contacts(campaign_id: UUID) -> str:
    """Show the contacts that the current round leaves out, and why."""
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        return render_template(
            "portal/campaigns/left_out.html",
            **campaign_page_data(session, campaign),
            **_left_out(session, campaign),
        )


def _left_out(session: Session, campaign: Campaign) -> dict[str, Any]:
    """Return a page of the contacts, each with the reason and a link to what would change it."""
    position, reason = lists.current_position(), lists.text_filter("reason")
    page = outreach.left_out(session, campaign, reason=reason, **position.query_args)
    rows = [(row, *_reason(campaign, row)) for row in page.items]
    return {"rows": rows, "reasons": LEFT_OUT_LABELS, **position.pager(page.next_cursor, "reason")}


def _reason(campaign: Campaign, row: outreach.LeftOut) -> tuple[str, str | None]:
    """Return why a contact is left out, and a link to what would change that."""
    if row.country is None:
        return reason_label(row.reason), None
    return closed_country_label(row.country), closed_link(campaign, row.country)


@blueprint.get("/campaigns/<uuid:campaign_id>/outreach/start")
def confirm_start_calling(campaign_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        plan = outreach.stored_plan(session, campaign)
        if plan is None:
            return redirect(url_for("portal.campaigns.edit_plan", campaign_id=campaign_id), 303)
        if _is_calling(session, campaign, plan):
            context = campaign_page_data(session, campaign)
            return render_template("portal/campaigns/already_running.html", **context)
        return _start_confirmation(session, campaign, plan).page()


@blueprint.post("/campaigns/<uuid:campaign_id>/outreach/start")
def start_calling(campaign_id: UUID) -> Response:
    return _start(campaign_id)


@blueprint.get("/campaigns/<uuid:campaign_id>/outreach/call-again")
def confirm_call_again(campaign_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        plan = outreach.stored_plan(session, campaign)
        if plan is None or not outreach.progress_of(session, campaign).is_over:
            return redirect(url_for("portal.campaigns.show_outreach", campaign_id=campaign_id), 303)
        return _start_confirmation(session, campaign, plan, _recall_choice()).page()


@blueprint.post("/campaigns/<uuid:campaign_id>/outreach/call-again")
def call_again(campaign_id: UUID) -> Response:
    return _start(campaign_id, _recall_choice())


@blueprint.post("/campaigns/<uuid:campaign_id>/outreach/pause")
def pause_calling(campaign_id: UUID) -> Response:
    url = url_for("portal.campaigns.show_outreach", campaign_id=campaign_id)
    with changing(url, Conflict) as session:
        campaign = outreach.pause(session, caller(), campaign_id)
    message = gettext(
        "%(campaign)s is paused. Calls in progress continue to their end.", campaign=campaign.name
    )
    return redirect_with(message, url)


def _is_calling(session: Session, campaign: Campaign, plan: Outreach) -> bool:
    """Return whether the campaign runs and there is nothing to start or resume."""
    if plan.started_at is None or campaign.status is not CampaignStatus.ACTIVE:
        return False
    return not outreach.progress_of(session, campaign).is_over


def _recall_choice() -> RecallChoice:
    """Return which contacts the URL selects; all by default."""
    return lists.choice_filter("only", RecallChoice) or RecallChoice.ALL


def _start(campaign_id: UUID, recall: RecallChoice | None = None) -> Response:
    url = url_for("portal.campaigns.show_outreach", campaign_id=campaign_id)
    try:
        with transaction() as session:
            campaign = outreach.start(session, caller(), campaign_id, recall=recall)
    except Conflict as error:
        message = gettext("The campaign was not started. %(reason)s", reason=error.message)
        return redirect_with(message, url, "warning")
    return redirect_with(gettext("%(campaign)s is running.", campaign=campaign.name), url)


def _outreach_context(session: Session, campaign: Campaign) -> dict[str, Any]:
    """Return the data that the page and its live panel share."""
    plan = outreach.stored_plan(session, campaign)
    progress = outreach.progress_of(session, campaign)
    owner = session.get_one(Organization, campaign.organization_id)
    running = campaign.status is CampaignStatus.ACTIVE
    context: dict[str, Any] = {
        "plan": plan,
        "progress": progress,
        "running": running,
        "status": gettext("No calls while the organization is suspended.")
        if owner.status is OrganizationStatus.SUSPENDED and not progress.is_over
        else status_message(campaign, plan, progress, _opens_at(session, campaign, plan, progress)),
        "waiting": waiting_message(progress) if running else None,
        "results": result_figures(campaign, progress),
        "called_url": calls_of_round(campaign),
        "left_out": left_out_message(
            progress, _closed_countries(session, campaign, progress.left_out)
        ),
        "facts_of_plan": [],
        "confirmation": None,
        "recalls": [],
        "finished": None,
        "paused_by": None,
        "needs_contacts": False,
        "blocker": None,
        "latest": _latest_calls(session, campaign) if progress.called else [],
        "ahead": ahead_message(progress),
        "removed": removed_message(progress),
    }
    if plan is not None:
        assistant = assistants.get(session, caller(), plan.assistant_id)
        context["blocker"] = blocker_message(campaign, plan, _blocker(session, campaign, plan))
        context["facts_of_plan"] = plan_facts(plan, assistant)
        is_archived = owner.status is OrganizationStatus.ARCHIVED
        if campaign.status is not CampaignStatus.ARCHIVED and not is_archived:
            context |= _available_actions(session, campaign, plan, progress)
        context |= _results_context(session, campaign, plan, progress)
    return context


def _opens_at(
    session: Session, campaign: Campaign, plan: Outreach | None, progress: outreach.RoundProgress
) -> datetime | None:
    """Return when the plan's hours begin, if unchecked contacts wait for them."""
    if plan is None or campaign.status is not CampaignStatus.ACTIVE:
        return None
    if not progress.to_come or progress.in_progress:
        return None
    owner = session.get_one(Organization, campaign.organization_id)
    return outreach.opens_at(session, plan, campaign, owner, utcnow())


def _available_actions(
    session: Session, campaign: Campaign, plan: Outreach, progress: outreach.RoundProgress
) -> dict[str, Any]:
    """Return what a user can start now."""
    if not campaign.contact_count:
        return {"needs_contacts": True}
    if plan.started_at is not None and progress.is_over and progress.called:
        recalls = [RecallChoice.ALL]
        if progress.calls.get(NOT_REACHED):
            recalls.append(RecallChoice.NOT_REACHED)
        return {
            "recalls": [
                (each, _start_confirmation(session, campaign, plan, each)) for each in recalls
            ]
        }
    if campaign.status is CampaignStatus.ACTIVE and not progress.is_over:
        return {}
    return {"confirmation": _start_confirmation(session, campaign, plan)}


def _results_context(
    session: Session, campaign: Campaign, plan: Outreach, progress: outreach.RoundProgress
) -> dict[str, Any]:
    """Return the results of a finished round, or who has paused it."""
    if plan.started_at is not None and progress.is_over and progress.called:
        finished_round = outreach.finished(session, plan)
        is_staff = caller().organization_id is None
        return {"finished": finished_facts(progress, finished_round, shows_cost=is_staff)}
    if plan.started_at is not None and campaign.status is CampaignStatus.PAUSED:
        entry = audit.last_of_target(session, caller(), "campaign", campaign.id, "campaign.paused")
        return {"paused_by": paused_message(entry)}
    return {}


def _latest_calls(session: Session, campaign: Campaign) -> Sequence[Call]:
    """Return the newest calls of the round, if the user may read calls."""
    if not caller().may(Permission.CALLS_READ):
        return []
    filters = CallSearch(campaign=campaign.id, current_round=True)
    return calls.search(session, caller(), filters, limit=LATEST_CALLS).items


def _blocker(
    session: Session, campaign: Campaign, plan: Outreach
) -> outreach.CampaignBlocker | None:
    return outreach.blocker(session, campaign, plan, settings().call_settings)


def _closed_countries(
    session: Session, campaign: Campaign, left_out: dict[str, int]
) -> Counter[outreach.ClosedCountry]:
    """Count the contacts left out because of their country, if a number may not be called."""
    return outreach.closed_countries(session, campaign) if NOT_ALLOWED in left_out else Counter()


def night_warning(session: Session, campaign: Campaign, plan: Outreach) -> str | None:
    organization = organizations.get(session, caller(), campaign.organization_id)
    return night_calls_warning(*outreach.hours_of(plan, organization))


def _start_confirmation(
    session: Session, campaign: Campaign, plan: Outreach, recall: RecallChoice | None = None
) -> ConfirmationPage:
    forecast = outreach.forecast(session, campaign, recall=recall)
    blocker = _blocker(session, campaign, plan)
    title, act = _title_and_act(campaign, plan, recall)
    endpoint = "portal.campaigns.call_again" if recall else "portal.campaigns.start_calling"
    return ConfirmationPage(
        action=url_for(
            endpoint,
            campaign_id=campaign.id,
            only=recall if recall is RecallChoice.NOT_REACHED else None,
        ),
        title=title,
        consequences=consequences(
            campaign,
            forecast,
            _closed_countries(session, campaign, forecast.left_out),
            plan,
            _how_consequences(session, campaign, plan, forecast.called, blocker),
            blocker,
        ),
        action_label=act,
        keep_label=gettext("Not now"),
        keep_url=url_for("portal.campaigns.show_outreach", campaign_id=campaign.id),
        danger=False,
        warning=night_warning(session, campaign, plan),
        crumbs=(
            (gettext("Campaigns"), url_for("portal.campaigns.list_campaigns")),
            (campaign.name, url_for("portal.campaigns.show_outreach", campaign_id=campaign.id)),
        ),
        steps=steps_of_planned(session, campaign) or (),
    )


def _title_and_act(
    campaign: Campaign, plan: Outreach, recall: RecallChoice | None
) -> tuple[str, str]:
    """Return the title and the button of a confirmation."""
    if recall is RecallChoice.ALL:
        title = gettext("Call all contacts of %(campaign)s again?", campaign=campaign.name)
        return title, gettext("Call all again")
    if recall is RecallChoice.NOT_REACHED:
        title = gettext("Call those of %(campaign)s who weren’t reached?", campaign=campaign.name)
        return title, gettext("Call those not reached")
    if plan.started_at is not None:
        title = gettext("Resume %(campaign)s?", campaign=campaign.name)
        return title, gettext("Resume campaign")
    return gettext("Start %(campaign)s?", campaign=campaign.name), gettext("Start campaign")


def _how_consequences(
    session: Session,
    campaign: Campaign,
    plan: Outreach,
    contacts: int,
    blocker: outreach.CampaignBlocker | None,
) -> list[str]:
    organization = organizations.get(session, caller(), campaign.organization_id)
    route = phone_numbers.route_of(session, organization, CarrierKind(settings().carrier))
    return how_lines(
        plan,
        assistants.get(session, caller(), plan.assistant_id),
        estimate_of(session, plan, campaign, organization, contacts),
        simulated=route.carrier is CarrierKind.SIMULATOR,
        is_held=needs_action(blocker),
    )


def estimate_of(
    session: Session,
    plan: outreach.CampaignPlan | Outreach,
    campaign: Campaign,
    organization: Organization,
    contacts: int,
) -> outreach.RoundEstimate:
    limit = settings().calls_per_organization
    return outreach.estimate(session, plan, campaign, organization, contacts, utcnow(), limit)
