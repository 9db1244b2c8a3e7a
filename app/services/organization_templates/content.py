"""The content of a template, stored as one document."""

from dataclasses import dataclass, fields, replace
from datetime import time
from typing import Any

from pydantic import TypeAdapter

from app.enums import Role, Tier
from app.models import FIRST_REGION, OrganizationTemplate
from app.services.assistants.settings import AssistantFields
from app.services.organizations import USUAL_USER_LIMITS, CallingRules
from app.services.outreach import CampaignPlan


@dataclass(frozen=True, slots=True)
class PreparedCampaign:
    """A campaign without contacts. ``speaker`` is the position of its assistant in the template;
    the plan names none. ``is_standard``: the campaign that it was copied from had no plan yet."""

    name: str
    plan: CampaignPlan
    speaker: int = 0
    is_standard: bool = False


@dataclass(frozen=True, slots=True)
class TemplateContent:
    """Everything of a template besides its name.

    The assistants have no phone numbers. ``rules.default_region`` is the country of an organization
    for which none is given. ``first_role`` is the role of the first user; None invites no one.
    """

    payment_tier: Tier
    assistant_limit: int
    user_limit: int
    rules: CallingRules
    assistants: tuple[AssistantFields, ...]
    campaign: PreparedCampaign | None = None
    first_role: Role | None = Role.OWNER


_DOCUMENT = TypeAdapter(TemplateContent)

PLAIN_RULES = CallingRules(
    calling_hours_on=False,
    calling_hours_start=time(8),
    calling_hours_end=time(21),
    default_region=FIRST_REGION,
    allowed_regions=(FIRST_REGION,),
    max_calls_at_once=None,
    max_calls_a_day=None,
    retry_times=0,
    retry_minutes=30,
    number_spacing_minutes=None,
    number_most_calls=None,
    number_most_days=None,
    refuse_do_not_call=False,
    consent_required=False,
)
"""The calling rules of a new organization."""
_PLAIN_DOCUMENT: dict[str, Any] = TypeAdapter(CallingRules).dump_python(PLAIN_RULES, mode="json")


def plain_content(assistant: AssistantFields, assistant_limit: int) -> TemplateContent:
    """Return the content of a new template."""
    tier = Tier.FREE
    return TemplateContent(
        tier, assistant_limit, USUAL_USER_LIMITS[tier], PLAIN_RULES, (assistant,)
    )


def content_of(template: OrganizationTemplate) -> TemplateContent:
    """Return the content of a template that came from its loader. A rule that was introduced after
    the template has the value of a new organization."""
    document = template.content
    rules = _PLAIN_DOCUMENT | document["rules"]
    return _DOCUMENT.validate_python(document | {"rules": rules})


def document_of(content: TemplateContent) -> dict[str, Any]:
    """Return the content as it is stored."""
    document: dict[str, Any] = _DOCUMENT.dump_python(content, mode="json")
    return document


def audit_values(content: TemplateContent) -> dict[str, Any]:
    """Return the content as the history shows it, by field."""
    rules = content.rules
    return {
        "paymentTier": content.payment_tier,
        "agentLimit": content.assistant_limit,
        "userLimit": content.user_limit,
        **{
            field.name: _to_json_value(getattr(rules, field.name)) for field in fields(CallingRules)
        },
        "agents": [assistant.name for assistant in content.assistants],
        "campaign": content.campaign.name if content.campaign else None,
        "userType": content.first_role,
    }


def _to_json_value(value: object) -> object:
    if isinstance(value, time):
        return f"{value:%H:%M}"
    return list(value) if isinstance(value, tuple) else value


def without_phone(fields_: AssistantFields) -> AssistantFields:
    """Return the settings without the number, which belongs to one organization."""
    return replace(fields_, phone_number=None, phone_enabled=False, phone_configured=False)
