"""The plan of a campaign: the form, and its consequences before it is saved."""

from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import OrganizationStatus
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Campaign, Organization
from app.policy import Permission
from app.portal.campaigns import blueprint
from app.portal.campaigns.outreach_views import estimate_of, night_warning
from app.portal.campaigns.plan_forms import MESSAGE_HINTS, CampaignPlanForm
from app.portal.campaigns.progress_labels import (
    duration_label,
    duration_message,
    first_call_message,
)
from app.portal.campaigns.views import campaign_page_data
from app.portal.web.blueprint import Page
from app.portal.web.campaign_statuses import is_new, steps_of_new
from app.portal.web.formats import night_calls_warning, number
from app.portal.web.forms import saving_edit, stored_page
from app.portal.web.messages import flash, redirect_saved
from app.portal.web.placeholders import texts_of, warn_of_placeholders
from app.services import campaigns, contacts, organizations, outreach
from app.services.outreach.estimates import zone_of
from app.services.outreach.plans import MAX_TEXT_LENGTH, plan_problems, speakers


@blueprint.get("/campaigns/<uuid:campaign_id>/outreach/plan")
def edit_plan(campaign_id: UUID) -> str:
    return stored_page(campaign_id, _plan_page, _stored)


@blueprint.post("/campaigns/<uuid:campaign_id>/outreach/plan")
def save_plan(campaign_id: UUID) -> Page:
    form = CampaignPlanForm()
    stored, check = partial(_stored, submitted=form), partial(_check_readable, campaign_id, form)
    with saving_edit(form, "campaign", campaign_id, _plan_page, stored, check=check) as session:
        is_changed = _save(session, campaign_id, form)
    return _to_next_step(campaign_id, is_changed=is_changed)


def _check_readable(campaign_id: UUID, form: CampaignPlanForm) -> None:
    """Check the rest of a form with unreadable values. Raises `ValidationFailed`."""
    at_once = settings().calls_per_organization
    with transaction(read_only=True) as session:
        outreach.check_plan(session, caller(), campaign_id, form.readable, max_at_once=at_once)


def _save(session: Session, campaign_id: UUID, form: CampaignPlanForm) -> bool:
    """Save the plan; return whether it differs from the stored one."""
    return outreach.change_plan(
        session,
        caller(),
        campaign_id,
        form.to_plan(),
        max_at_once=settings().calls_per_organization,
        expected_version=form.version.data,
    )


@blueprint.post("/campaigns/<uuid:campaign_id>/outreach/plan/outlook")
def show_plan_outlook(campaign_id: UUID) -> str:
    """Return the outlook of a plan that is being edited."""
    form = CampaignPlanForm()
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        return render_template(
            "portal/campaigns/_outlook.html",
            campaign=campaign,
            **_outlook(session, campaign, form.to_plan()),
        )


def _stored(
    session: Session, campaign_id: UUID, *, submitted: CampaignPlanForm | None = None
) -> CampaignPlanForm:
    """Return the form with the stored values; ``submitted`` values get the same choices."""
    campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
    form = CampaignPlanForm.showing(outreach.plan_of(session, campaign), campaign.version)
    for each in (form, submitted) if submitted else (form,):
        each.set_choices(speakers(session, campaign))
    return form


def _to_next_step(campaign_id: UUID, *, is_changed: bool) -> Response:
    """Redirect to the next step of a new campaign, or to the plan; warn about calls at night."""
    url = url_for("portal.campaigns.show_outreach", campaign_id=campaign_id)
    if is_new() and caller().may(Permission.CONTACTS_WRITE):
        url = url_for("portal.uploads.new_upload", campaign_id=campaign_id, new=1)
    response = redirect_saved(gettext("The plan was saved."), url, is_changed)
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        plan = outreach.stored_plan(session, campaign)
        if is_changed and plan and (at_night := night_warning(session, campaign, plan)):
            flash(at_night, "warning")
        if plan:
            warn_of_placeholders(
                texts_of(plan), partial(contacts.metadata_names, session, campaign)
            )
    return response


def _plan_page(campaign_id: UUID, form: CampaignPlanForm) -> str:
    with transaction(read_only=True) as session:
        campaign = campaigns.get_with_plan(session, caller(), campaign_id).campaign
        form.set_choices(speakers(session, campaign))
        return render_template(
            "portal/campaigns/plan.html",
            **campaign_page_data(session, campaign),
            **_outlook(session, campaign, form.to_plan()),
            form=form,
            hints=MESSAGE_HINTS,
            max_text_length=MAX_TEXT_LENGTH,
            max_at_once=settings().calls_per_organization,
            steps_of_new=steps_of_new() if is_new() else None,
        )


def _zone_of_days(session: Session, plan: outreach.CampaignPlan) -> list[tuple[str, str]]:
    """Return the time zone of the plan's first and last day, if it has one of them."""
    if not (plan.starts_on or plan.ends_on):
        return []
    return [(gettext("First and last day in"), zone_of(session, plan).key)]


def _time_rows(
    campaign: Campaign, organization: Organization, expected: outreach.RoundEstimate
) -> list[tuple[str, str]]:
    """Return when the first call would be placed and how long all take."""
    first = gettext("First call")
    message = duration_message(expected)
    duration = [(duration_label(expected), message)] if message else []
    if not campaign.contact_count:
        return duration
    if organization.status is OrganizationStatus.SUSPENDED:
        return [(first, gettext("Not while the organization is suspended"))]
    return [(first, first_call_message(expected)), *duration]


def _outlook(session: Session, campaign: Campaign, plan: outreach.CampaignPlan) -> dict[str, Any]:
    """Return the consequences of the plan for the campaign's contacts, and a warning about its
    hours."""
    organization = organizations.get(session, caller(), campaign.organization_id)
    has_hours = None not in (plan.hours_start, plan.hours_end)
    if not has_hours or any(plan_problems(plan, settings().calls_per_organization)):
        return {"outlook": [], "at_night": None}
    expected = estimate_of(session, plan, campaign, organization, campaign.contact_count)
    return {
        "outlook": [
            (gettext("Contacts"), number(campaign.contact_count)),
            (gettext("Concurrent calls"), gettext("At most %(most)s", most=expected.at_once)),
            *_time_rows(campaign, organization, expected),
            *_zone_of_days(session, plan),
        ],
        "at_night": night_calls_warning(*outreach.hours_of(plan, organization)),
    }
