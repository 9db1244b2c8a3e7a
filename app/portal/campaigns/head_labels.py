"""The line below a campaign's name: its contacts, and when calls begin."""

from flask import request, url_for
from markupsafe import Markup

from app.enums import CampaignStatus, OrganizationStatus
from app.languages import gettext, ngettext
from app.models import Campaign, Organization
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing

PLAN_PAGES = ("portal.campaigns.edit_plan", "portal.campaigns.save_plan")


def head_message(
    campaign: Campaign, organization: Organization, *, has_plan: bool, is_started: bool
) -> Markup:
    """Return the line below the campaign's name: its contacts, and when calls begin or why there
    are none."""
    contacts = gettext(
        "A campaign of %(organization)s without contacts.", organization=organization.name
    )
    if campaign.contact_count:
        contacts = ngettext(
            "A campaign of %(organization)s with %(num)s contact.",
            "A campaign of %(organization)s with %(num)s contacts.",
            campaign.contact_count,
            organization=organization.name,
        )
    calls = _no_calls_message(campaign, organization, has_plan=has_plan, is_started=is_started)
    return Markup("{} {}").format(contacts, calls)


def _no_calls_message(
    campaign: Campaign, organization: Organization, *, has_plan: bool, is_started: bool
) -> str:
    if has_plan and request.endpoint == "portal.campaigns.show_outreach":
        return ""  # the page says it
    if campaign.status is CampaignStatus.ARCHIVED:
        return gettext("Archived.")
    if organization.status is OrganizationStatus.ARCHIVED:
        return gettext("%(organization)s is archived.", organization=organization.name)
    is_suspended = organization.status is OrganizationStatus.SUSPENDED  # the notice says it
    if campaign.status is CampaignStatus.ACTIVE or is_suspended:
        return ""
    if is_started:
        return gettext("No calls while it is paused.")
    return _start_message(campaign, has_plan=has_plan)


def _start_message(campaign: Campaign, *, has_plan: bool) -> str:
    if has_plan and not campaign.contact_count:
        return gettext("The plan is ready. Add contacts to start.")
    if request.endpoint in PLAN_PAGES or not may_or_note_missing(Permission.CAMPAIGNS_WRITE):
        return gettext("Calls begin when you start it.")
    if has_plan:
        message = gettext(
            'Calls begin when you <a class="inline" href="%(url)s">start it</a>.',
            url=url_for("portal.campaigns.show_outreach", campaign_id=campaign.id),
        )
    else:
        message = gettext(
            'Calls begin when you <a class="inline" href="%(url)s">create a plan</a> and start it.',
            url=url_for("portal.campaigns.edit_plan", campaign_id=campaign.id),
        )
    return Markup(message)  # noqa: S704 - from a catalogue
