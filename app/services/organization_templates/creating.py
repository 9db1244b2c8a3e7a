"""Create an organization from a template: all of it, or nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import Problem, ValidationFailed, raise_problems
from app.languages import gettext
from app.models import Organization, OrganizationTemplate
from app.phone import country_name, regions
from app.phone.timezones import has_time_of, only_zone_of
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, campaigns, organizations, outreach, partners, users
from app.services.assistants.settings import create_assistant
from app.services.organization_templates.checking import InstallationBounds, openable_for
from app.services.organization_templates.content import PLAIN_RULES, TemplateContent, content_of
from app.services.organization_templates.loading import get
from app.services.organization_templates.organization_names import for_organization
from app.services.organization_templates.updating import TARGET
from app.services.organizations import CallingRules, OpenableRegions
from app.services.organizations.creating import NewOrganization
from app.services.organizations.creating import add as add_organization
from app.services.organizations.updating import MAX_NAME, validate_name
from app.services.users.creating import MAX_KEY
from app.validation.emails import is_email
from app.validation.time_zones import time_zones, unknown_zone


@dataclass(frozen=True, slots=True)
class OrganizationDetails:
    """The organization's own values. The default country is the template's, the default time zone
    that of `zone_for`; the country is a region code."""

    name: str
    email: str | None = None
    user_name: str | None = None
    country: str | None = None
    timezone: str | None = None


def create_organization(
    session: Session,
    caller: Caller,
    template_id: UUID,
    details: OrganizationDetails,
    bounds: InstallationBounds,
    *,
    in_trial: bool = True,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    with_notice: bool = True,
) -> Organization:
    """Create the organization with its calling rules, assistants, paused campaign and the
    invitation of its first user. The transaction is the caller's: an error leaves nothing.

    ``carrier`` is the installation's; ``in_trial`` is as for `organizations.create`,
    ``with_notice`` as for `users.invite`. Raises `Forbidden`, `NotFound`, and `ValidationFailed`
    with the problems of the organization, or with what a service refuses (``agent_limit_reached``,
    ``user_limit_reached``, ``email_exists``, ``name_taken`` …).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    template = get(session, caller, template_id)
    content = content_of(template)
    openable = openable_for(session, caller, template.partner_id)
    problems = organizations.duplicate_name_problems(session, template.partner_id, details.name)
    raise_problems([*problems, *problems_of_details(content, details, openable, bounds)])
    name = validate_name(details.name)
    content = for_organization(content, name)
    organization = add_organization(
        session,
        caller,
        partners.get(session, caller, template.partner_id),
        NewOrganization(name, content.payment_tier, content.assistant_limit, content.user_limit),
        in_trial=in_trial,
    )
    organizations.change_settings(
        session,
        caller,
        organization.id,
        rules_for(content, details),
        max_at_once=bounds.max_at_once,
    )
    zone = zone_for(content, details)
    speakers = [
        create_assistant(
            session,
            caller,
            organization,
            replace(fields, timezone=zone or fields.timezone),
            stored=[replace(fields, voice_address=None)],  # it is checked for each organization
            carrier=carrier,
            allow_private=bounds.allow_private,
        ).id
        for fields in content.assistants
    ]
    _add_campaign(session, caller, organization, content, speakers, bounds)
    if content.first_role is not None and details.email:
        users.invite(
            session,
            caller,
            email=details.email,
            user_type=content.first_role,
            organization_id=organization.id,
            name=details.user_name,
            with_notice=with_notice,
        )
    _record_use(session, caller, template, organization)
    return organization


def problems_of_details(
    content: TemplateContent,
    details: OrganizationDetails,
    openable: OpenableRegions,
    bounds: InstallationBounds,
) -> Iterator[Problem]:
    """Yield the problems of the organization that need no database."""
    try:
        validate_name(details.name)
    except ValidationFailed as error:
        yield from error.problems
    if content.first_role is not None:
        yield from _email_problems(details.email)
        if len(details.user_name or "") > MAX_NAME:
            message = gettext("Too long. Use at most %(most)s characters.", most=MAX_NAME)
            yield Problem("userName", "too_long", message)
    if details.timezone is not None and details.timezone not in time_zones():
        message = unknown_zone(details.timezone)
        yield Problem("timezone", "unknown_timezone", message)
    if details.country is not None and details.country not in {code for code, _name in regions()}:
        message = gettext(
            "Unknown country %(country)s. Use its name or a code like GB.", country=details.country
        )
        yield Problem("defaultRegion", "unknown_region", message)
        return
    country = country_of(content, details)
    is_elsewhere = country != content.rules.default_region
    if is_elsewhere and details.timezone is None and not zone_fits(content, details):
        message = gettext(
            "Choose a time zone. The template’s isn’t used in %(country)s.",
            country=country_name(country),
        )
        yield Problem("timezone", "required", message)
    try:
        rules = rules_for(content, details)
        organizations.check_rules(rules, PLAIN_RULES, openable, bounds.max_at_once)
    except ValidationFailed as error:
        yield from error.problems


def country_of(content: TemplateContent, details: OrganizationDetails) -> str:
    """Return the organization's own country, else that of the template."""
    return details.country or content.rules.default_region


def zone_for(content: TemplateContent, details: OrganizationDetails) -> str | None:
    """Return the time zone of an organization's assistants: the given one, or that of its country
    if this is another one than the template's. None: as in the template."""
    if details.timezone or country_of(content, details) == content.rules.default_region:
        return details.timezone
    return only_zone_of(country_of(content, details))


def zone_fits(content: TemplateContent, details: OrganizationDetails) -> bool:
    """Return whether the organization's assistants have the time of its country."""
    zone, country = zone_for(content, details), country_of(content, details)
    zones = {zone or assistant.timezone for assistant in content.assistants}
    return all(each is None or has_time_of(each, country) for each in zones)


def rules_for(content: TemplateContent, details: OrganizationDetails) -> CallingRules:
    """Return the calling rules of the organization: its country replaces the template's."""
    rules = content.rules
    country = country_of(content, details)
    other_regions = {region for region in rules.allowed_regions if region != rules.default_region}
    return replace(
        rules, default_region=country, allowed_regions=tuple(sorted({*other_regions, country}))
    )


def _email_problems(email: str | None) -> Iterator[Problem]:
    if not email:
        yield Problem("email", "required", gettext("Enter the email of the first user."))
    elif not is_email(email) or len(email.lower()) > MAX_KEY:
        message = gettext("Enter an email like name@example.com.")
        yield Problem("email", "invalid_email", message)


def _add_campaign(
    session: Session,
    caller: Caller,
    organization: Organization,
    content: TemplateContent,
    speakers: list[UUID],
    bounds: InstallationBounds,
) -> None:
    prepared = content.campaign
    if prepared is None:
        return
    campaign = campaigns.create(
        session, caller, organization.id, name=prepared.name, all_assistants=True
    )
    plan = replace(prepared.plan, assistant_id=speakers[prepared.speaker])
    outreach.change_plan(session, caller, campaign.id, plan, max_at_once=bounds.max_at_once)


def _record_use(
    session: Session, caller: Caller, template: OrganizationTemplate, organization: Organization
) -> None:
    audit.record(
        session,
        caller,
        action=f"{TARGET}.used",
        target_type=TARGET,
        target_id=template.id,
        partner_id=template.partner_id,
        organization_id=organization.id,
        target=template.name,
        after={"organization": organization.name},
    )
