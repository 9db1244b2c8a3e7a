"""Create templates, also from an organization, change their parts and delete them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.errors import Conflict, NotFound, ValidationFailed, check_all, check_version
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Organization, OrganizationTemplate, new_id
from app.models.base import name_key
from app.policy import Permission
from app.policy.caller import Caller
from app.services import assistants, audit, campaigns, organizations, outreach, partners
from app.services.assistants.creating import DEFAULT_NAME
from app.services.assistants.settings import AssistantFields
from app.services.organization_templates.checking import (
    MAX_ASSISTANTS,
    InstallationBounds,
    check_campaign,
    check_organization,
    validate_assistant,
)
from app.services.organization_templates.content import (
    PreparedCampaign,
    TemplateContent,
    audit_values,
    content_of,
    document_of,
    plain_content,
)
from app.services.organization_templates.loading import get
from app.services.organization_templates.organization_names import with_placeholder
from app.services.organizations.updating import validate_name
from app.services.tenancy import lock_owner
from app.services.uniqueness import unless_taken

MAX_TEMPLATES = 100
"""Maximum templates of a partner."""
TARGET = "organization_template"
"""The target type in the history."""


def create(session: Session, caller: Caller, name: str) -> OrganizationTemplate:
    """Create a template with the partner's default assistant and the rules of a new organization.

    Raises `Forbidden`, `NotFound` for an operator, and `ValidationFailed` (``blank``,
    ``too_long``, ``name_taken``, ``too_many``).
    """
    partner = partners.get(session, caller, _partner_of(caller))
    assistant = AssistantFields(
        name=partner.default_assistant_name or DEFAULT_NAME, service=partner.default_service
    )
    return _add_template(
        session, caller, name, plain_content(assistant, partner.default_assistant_limit)
    )


def save_organization(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    name: str,
    *,
    campaign_id: UUID | None = None,
    first_role: Role | None = None,
) -> OrganizationTemplate:
    """Create a template from an organization: plan, limits, calling rules, assistants without their
    numbers, and the name and the plan of a campaign. Where their texts name the organization, the
    template has a placeholder.

    Raises as `create`, and `NotFound` for the organization or the campaign.
    """
    _partner_of(caller)
    organization = organizations.get(session, caller, organization_id)
    own_assistants = assistants.of_organization(session, caller, organization.id)[:MAX_ASSISTANTS]
    campaign = None
    if campaign_id is not None:
        stored = campaigns.get(session, caller, campaign_id)
        if stored.organization_id != organization.id:
            raise NotFound
        plan = outreach.plan_of(session, stored)
        speakers = [row.id for row in own_assistants]
        speaker = speakers.index(plan.assistant_id) if plan.assistant_id in speakers else 0
        campaign = PreparedCampaign(
            stored.name,
            replace(plan, assistant_id=None, starts_on=None, ends_on=None),
            speaker,
            is_standard=outreach.stored_plan(session, stored) is None,
        )
    # A limit that was lowered below the assistants in use would refuse them to new organizations.
    limit = (
        max(organization.assistant_limit, len(own_assistants))
        if organization.assistant_limit
        else 0
    )
    content = TemplateContent(
        payment_tier=organization.payment_tier or Tier.FREE,
        assistant_limit=limit,
        user_limit=organization.user_limit,
        rules=organizations.rules_of(organization),
        assistants=tuple(
            AssistantFields(
                name=row.name,
                service=row.service,
                timezone=row.timezone,
                active=row.active,
                default_intro=row.default_intro,
                default_voicemail=row.default_voicemail,
                voice_address=row.voice_address,
            )
            for row in own_assistants
        ),
        campaign=campaign if own_assistants else None,
        first_role=first_role,
    )
    content = with_placeholder(content, organization.name)
    return _add_template(session, caller, name, content, source=organization)


def change(
    session: Session,
    caller: Caller,
    template_id: UUID,
    name: str,
    changed: Callable[[TemplateContent], TemplateContent],
    bounds: InstallationBounds,
    *,
    expected_version: int | None = None,
) -> OrganizationTemplate:
    """Change the name, the plan, the limits, the rules and the first user. ``changed`` returns the
    new content for the stored one.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` with every problem, and `Conflict`
    (``changed_meanwhile``).
    """
    template, before = _lock_template(session, caller, template_id, expected_version)
    after = changed(before)
    check_changes(session, caller, template, name, after, bounds)
    name = validate_name(name)
    return _store(session, caller, template, before, after, name=name)


def check_changes(
    session: Session,
    caller: Caller,
    template: OrganizationTemplate,
    name: str,
    content: TemplateContent,
    bounds: InstallationBounds,
) -> None:
    """Check the name, and what of the content `change` may change. Raises `ValidationFailed` with
    every problem."""
    partner_id, rules = template.partner_id, content_of(template).rules
    check_all(
        partial(_check_name, session, template, name),
        partial(check_organization, session, caller, partner_id, content, bounds, rules),
    )


def _check_name(session: Session, template: OrganizationTemplate, name: str) -> None:
    name = validate_name(name)
    if template.name != name:
        _refuse_duplicate_name(session, template.partner_id, name, template.id)


def save_assistant(
    session: Session,
    caller: Caller,
    template_id: UUID,
    position: int | None,
    fields: AssistantFields,
    bounds: InstallationBounds,
    *,
    expected_version: int | None = None,
) -> OrganizationTemplate:
    """Replace the assistant at the position, or add one if it is None. Its phone is left out.

    Raises as `change`, and `ValidationFailed` (``agent_limit_reached``, ``too_many``).
    """
    template, before = _lock_template(session, caller, template_id, expected_version)
    checked = validate_assistant(session, template.partner_id, before, fields, bounds)
    new_assistants = list(before.assistants)
    if position is None:
        _refuse_more_assistants(before)
        new_assistants.append(checked)
    else:
        _assistant_at(before, position)
        new_assistants[position] = checked
    after = replace(before, assistants=tuple(new_assistants))
    if after.campaign is not None and after.campaign.speaker == position:
        check_campaign(after, after.campaign, bounds)
    return _store(session, caller, template, before, after)


def remove_assistant(
    session: Session,
    caller: Caller,
    template_id: UUID,
    position: int,
    *,
    expected_version: int | None = None,
) -> OrganizationTemplate:
    """Remove the assistant at the position. Raises `Forbidden`, `NotFound`, and `Conflict`
    (``changed_meanwhile``, ``calls_for_campaign``)."""
    template, before = _lock_template(session, caller, template_id, expected_version)
    name = _assistant_at(before, position).name
    campaign = before.campaign
    if campaign is not None and campaign.speaker == position:
        message = gettext(
            "%(name)s calls for the campaign. Choose another assistant there first.", name=name
        )
        raise Conflict(message, "calls_for_campaign")
    if campaign is not None and campaign.speaker > position:
        campaign = replace(campaign, speaker=campaign.speaker - 1)
    remaining = before.assistants[:position] + before.assistants[position + 1 :]
    after = replace(before, assistants=remaining, campaign=campaign)
    return _store(session, caller, template, before, after)


def save_campaign(
    session: Session,
    caller: Caller,
    template_id: UUID,
    campaign: PreparedCampaign | None,
    bounds: InstallationBounds,
    *,
    expected_version: int | None = None,
) -> OrganizationTemplate:
    """Set the campaign, or remove it with None. Raises as `change`."""
    template, before = _lock_template(session, caller, template_id, expected_version)
    if campaign is not None:
        check_campaign(before, campaign, bounds)
        campaign = replace(campaign, name=validate_name(campaign.name))
    return _store(session, caller, template, before, replace(before, campaign=campaign))


def delete(session: Session, caller: Caller, template_id: UUID) -> OrganizationTemplate:
    """Delete the template; its organizations stay. Raises `Forbidden` and `NotFound`."""
    template, before = _lock_template(session, caller, template_id, None)
    _record_change(session, caller, "deleted", template, before=before)
    session.delete(template)
    session.flush()
    return template


def _partner_of(caller: Caller) -> UUID:
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if caller.partner_id is None:
        raise NotFound
    return caller.partner_id


def _lock_template(
    session: Session, caller: Caller, template_id: UUID, expected_version: int | None
) -> tuple[OrganizationTemplate, TemplateContent]:
    template = get(session, caller, template_id, for_change=True)
    check_version(expected_version, template.version, "template")
    return template, content_of(template)


def _assistant_at(content: TemplateContent, position: int) -> AssistantFields:
    if not 0 <= position < len(content.assistants):
        raise NotFound(code="agent_not_found")
    return content.assistants[position]


def _refuse_more_assistants(content: TemplateContent) -> None:
    count = len(content.assistants)
    if count >= MAX_ASSISTANTS:
        message = gettext("A template has at most %(most)s assistants.", most=MAX_ASSISTANTS)
        raise ValidationFailed.on("name", "too_many", message)
    if content.assistant_limit and count >= content.assistant_limit:
        message = gettext(
            "The template has %(used)s of %(limit)s assistants. Raise its assistant limit first.",
            used=localize_number(count),
            limit=localize_number(content.assistant_limit),
        )
        raise ValidationFailed(message, "agent_limit_reached")


def _add_template(
    session: Session,
    caller: Caller,
    name: str,
    content: TemplateContent,
    *,
    source: Organization | None = None,
) -> OrganizationTemplate:
    partner_id = _partner_of(caller)
    name = validate_name(name)
    lock_owner(session, partner_id)
    of_partner = OrganizationTemplate.partner_id == partner_id
    count = select(func.count()).select_from(OrganizationTemplate).where(of_partner)
    if (session.scalar(count) or 0) >= MAX_TEMPLATES:
        message = gettext("You have %(most)s templates. Delete one first.", most=MAX_TEMPLATES)
        raise ValidationFailed.on("name", "too_many", message)
    _refuse_duplicate_name(session, partner_id, name)
    template = OrganizationTemplate(
        id=new_id(), partner_id=partner_id, name=name, content=document_of(content)
    )
    with unless_taken(session, _name_taken(name)):
        session.add(template)
    _record_change(session, caller, "created", template, after=content, source=source)
    return template


def _refuse_duplicate_name(
    session: Session, partner_id: UUID, name: str, own_id: UUID | None = None
) -> None:
    """Raise `ValidationFailed` (``name_taken``) if another template has the name."""
    same_name = select(OrganizationTemplate.name).where(
        OrganizationTemplate.partner_id == partner_id,
        OrganizationTemplate.name_key == name_key(name),
    )
    if own_id is not None:
        same_name = same_name.where(OrganizationTemplate.id != own_id)
    if (taken_name := session.scalar(same_name)) is not None:
        raise _name_taken(taken_name)


def _name_taken(name: str) -> ValidationFailed:
    message = gettext("There is a template %(name)s already.", name=name)
    return ValidationFailed.on("name", "name_taken", message)


def _store(
    session: Session,
    caller: Caller,
    template: OrganizationTemplate,
    before: TemplateContent,
    after: TemplateContent,
    *,
    name: str | None = None,
) -> OrganizationTemplate:
    old_name = template.name
    if before == after and name in (None, old_name):
        return template
    template.content = document_of(after)
    template.name = name or old_name
    template.version += 1
    with unless_taken(session, _name_taken(name or old_name)):
        session.flush()
    _record_change(
        session, caller, "updated", template, before=before, after=after, old_name=old_name
    )
    return template


def _record_change(
    session: Session,
    caller: Caller,
    verb: str,
    template: OrganizationTemplate,
    *,
    before: TemplateContent | None = None,
    after: TemplateContent | None = None,
    old_name: str | None = None,
    source: Organization | None = None,
) -> None:
    old = {"name": old_name or template.name, **audit_values(before)} if before else None
    new = {"name": template.name, **audit_values(after)} if after else None
    if new is not None and source is not None:
        new["organization"] = source.name
    audit.record_change(session, caller, f"{TARGET}.{verb}", template, before=old, after=new)
