"""Checks of a template, by the services that will use it."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import Problem, ValidationFailed, raise_problems
from app.languages import gettext, ngettext
from app.models import Assistant, Organization
from app.policy.caller import Caller
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.services import organizations
from app.services.assistants.settings import AssistantFields, validate_fields
from app.services.calls import CallRequest
from app.services.calls.request import messaging_problems
from app.services.organization_templates.content import (
    PLAIN_RULES,
    PreparedCampaign,
    TemplateContent,
    without_phone,
)
from app.services.organizations import CallingRules, OpenableRegions
from app.services.organizations.updating import validate_name
from app.services.outreach.plans import plan_problems

MAX_ASSISTANTS = 20


@dataclass(frozen=True, slots=True)
class InstallationBounds:
    """Limits of the installation: of an organization's calls at once, and whether a voice URL may
    have a private host."""

    max_at_once: int
    allow_private: bool = False


def unsaved_organization(partner_id: UUID, rules: CallingRules) -> Organization:
    """Return an organization with these rules that is not stored, for checks that need one."""
    return Organization(
        partner_id=partner_id,
        default_region=rules.default_region,
        allowed_regions=list(rules.allowed_regions),
    )


def openable_for(session: Session, caller: Caller, partner_id: UUID) -> OpenableRegions:
    """Return the regions that new organizations of the partner can call."""
    from_start = unsaved_organization(partner_id, PLAIN_RULES)
    return organizations.openable_of(session, caller, from_start)


def validate_assistant(
    session: Session,
    partner_id: UUID,
    content: TemplateContent,
    fields: AssistantFields,
    bounds: InstallationBounds,
) -> AssistantFields:
    """Return the assistant as it is stored. Raises `ValidationFailed` with every problem."""
    organization = unsaved_organization(partner_id, content.rules)
    assistant = without_phone(fields)
    return validate_fields(
        session, assistant, organization, content.assistants, bounds.allow_private
    )


def check_organization(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    content: TemplateContent,
    bounds: InstallationBounds,
    stored: CallingRules,
) -> None:
    """Check the plan, the limits and the rules, which replace those ``stored``. Raises
    `ValidationFailed` with every problem."""
    openable = openable_for(session, caller, partner_id)
    problems = list(_limit_problems(content))
    try:
        organizations.check_rules(content.rules, stored, openable, bounds.max_at_once)
    except ValidationFailed as error:
        problems += error.problems
    raise_problems(problems)


def check_campaign(
    content: TemplateContent, campaign: PreparedCampaign, bounds: InstallationBounds
) -> None:
    """Check the campaign plan. Raises `ValidationFailed` with every problem."""
    raise_problems(_campaign_problems(content, campaign, bounds))


def _limit_problems(content: TemplateContent) -> Iterator[Problem]:
    data = {
        "paymentTier": content.payment_tier,
        "agentLimit": content.assistant_limit,
        "userLimit": content.user_limit,
    }
    try:
        read(UpdateOrganizationInput, data)
    except ValidationFailed as error:
        yield from error.problems
        return
    count = len(content.assistants)
    if content.assistant_limit and count > content.assistant_limit:
        message = ngettext(
            "The template has %(num)s assistant. Enter %(num)s or more, or 0 for no limit.",
            "The template has %(num)s assistants. Enter %(num)s or more, or 0 for no limit.",
            count,
        )
        yield Problem("agentLimit", "agent_limit_reached", message)


def _campaign_problems(
    content: TemplateContent, campaign: PreparedCampaign, bounds: InstallationBounds
) -> Iterator[Problem]:
    try:
        validate_name(campaign.name)
    except ValidationFailed as error:
        yield from error.problems
    if not 0 <= campaign.speaker < len(content.assistants):
        message = gettext("Choose an assistant of the template.")
        yield Problem("agentId", "agent_not_found", message)
    else:
        fields = content.assistants[campaign.speaker]
        request = CallRequest(
            assistant_id="",
            phone_number="",
            intro_message=campaign.plan.intro_message,
            voicemail_message=campaign.plan.voicemail_message,
            call_instructions=campaign.plan.call_instructions,
        )
        speaker = Assistant(
            name=fields.name,
            default_intro=fields.default_intro,
            default_voicemail=fields.default_voicemail,
        )
        yield from messaging_problems(request, speaker)
    yield from plan_problems(campaign.plan, bounds.max_at_once)
