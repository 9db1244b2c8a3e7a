"""The forms of a template: its parts, and the organizations that are created from it."""

from dataclasses import replace
from typing import ClassVar

from flask_wtf.file import FileField
from wtforms import EmailField, HiddenField, RadioField, SelectChoice, SelectField, StringField

from app.enums import Role, Tier
from app.languages import gettext, lazy_gettext
from app.models import Campaign
from app.portal.assistants.forms import AssistantForm
from app.portal.campaigns.plan_forms import CampaignPlanForm
from app.portal.organization_templates.labels import FIRST_ROLE_LABELS
from app.portal.organizations.forms import OrganizationLimitsForm
from app.portal.organizations.labels import MEMBER_HINTS
from app.portal.organizations.settings_forms import SettingsForm
from app.portal.web.fields import OnceField, VersionField, without_nul
from app.portal.web.forms import PortalForm
from app.portal.web.region_choices import named_regions
from app.portal.web.zone_choices import zone_choices
from app.services.assistants.settings import AssistantFields
from app.services.organization_templates import (
    OpenedTemplate,
    OrganizationDetails,
    PreparedCampaign,
    TemplateContent,
)
from app.validation.texts import whole_number

MAX_NAME_LENGTH = 200
NO_ONE = ""
FIRST_ROLES = [
    SelectChoice(role.value if role else NO_ONE, name) for role, name in FIRST_ROLE_LABELS.items()
]
FIRST_ROLE_HINTS = MEMBER_HINTS | {NO_ONE: lazy_gettext("Invite users later.")}
_NAME_ATTRIBUTES = {"maxlength": MAX_NAME_LENGTH, "autocomplete": "off"}


class FirstRole(PortalForm):
    """The role of the user who is invited into each new organization."""

    first_role = RadioField(
        lazy_gettext("First user"), choices=FIRST_ROLES, default=Role.OWNER.value
    )

    @property
    def role(self) -> Role | None:
        return Role(self.first_role.data) if self.first_role.data else None


class NewTemplateForm(PortalForm):
    once = OnceField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)


class SavedTemplateForm(FirstRole):
    once = OnceField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)
    campaign = SelectField(lazy_gettext("Campaign plan"), validate_choice=False)

    def set_choices(self, campaigns: list[Campaign]) -> None:
        self.campaign.choices = [
            SelectChoice("", gettext("None")),
            *(SelectChoice(str(campaign.id), campaign.name) for campaign in campaigns),
        ]


class TemplateForm(SettingsForm, OrganizationLimitsForm, FirstRole):
    """Name, plan, limits, first user and calling rules."""

    version = VersionField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)

    @classmethod
    def showing_template(cls, opened: OpenedTemplate) -> "TemplateForm":
        content, rules = opened.content, opened.content.rules
        values = {name: getattr(rules, name) for name in rules.__dataclass_fields__}
        values["allowed_regions"] = list(rules.allowed_regions)
        return cls.from_object(
            **values,
            name=opened.template.name,
            tier=content.payment_tier.value,
            assistant_limit=content.assistant_limit,
            user_limit=content.user_limit,
            first_role=content.first_role.value if content.first_role else NO_ONE,
            version=opened.template.version,
        )

    def changed(self, content: TemplateContent) -> TemplateContent:
        """Return the content with the input; for a validated form."""
        return replace(
            content,
            payment_tier=Tier(self.tier.data),
            assistant_limit=self.assistant_limit.data,
            user_limit=self.user_limit.data,
            rules=self.to_rules(),
            first_role=self.role,
        )

    def readable_part(self, content: TemplateContent) -> TemplateContent:
        """Return the content with the limits and rules of the input that are readable."""
        limits = {
            name: self[name].data
            for name in ("assistant_limit", "user_limit")
            if not self[name].errors
        }
        return replace(content, rules=self.readable(content.rules), **limits)


class TemplateAssistantForm(AssistantForm):
    """An assistant without a phone, which belongs to one organization."""

    version = VersionField()
    # None removes a field of the form above.
    phone_number = None  # type: ignore[assignment]
    phone_enabled = None  # type: ignore[assignment]
    phone_configured = None  # type: ignore[assignment]

    @classmethod
    def showing_fields(cls, fields: AssistantFields, version: int) -> "TemplateAssistantForm":
        names = fields.__dataclass_fields__
        values = {name: getattr(fields, name) for name in names}
        form_values = {name: "" if value is None else value for name, value in values.items()}
        return cls.from_object(**form_values, version=version)


class TemplateCampaignForm(CampaignPlanForm):
    """The campaign of a template; its assistant is a position among those of the template. Its days
    belong to a campaign of an organization."""

    starts_on = None
    ends_on = None

    version = VersionField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)

    @classmethod
    def showing_campaign(cls, campaign: PreparedCampaign, version: int) -> "TemplateCampaignForm":
        plan = campaign.plan
        return cls.from_object(
            name=campaign.name,
            assistant=str(campaign.speaker),
            weekdays=[str(day) for day in sorted(plan.weekdays)],
            hours_start=plan.hours_start,
            hours_end=plan.hours_end,
            calls_per_hour=plan.calls_per_hour,
            calls_at_once=plan.calls_at_once,
            **cls.message_of(plan),
            version=version,
        )

    def set_assistant_choices(self, content: TemplateContent) -> None:
        self.assistant.choices = [
            SelectChoice(str(position), fields.name)
            for position, fields in enumerate(content.assistants)
        ]

    def to_campaign(self) -> PreparedCampaign:
        """Return the campaign from the input; for a validated form."""
        assistant_index = whole_number(self.assistant.data, 3)
        speaker = -1 if assistant_index is None else assistant_index
        return PreparedCampaign(self.name.data or "", self.to_plan(), speaker)


class NewOrganizationForm(PortalForm):
    """A new organization from a template."""

    wire_fields: ClassVar = {"defaultRegion": "country"}

    once = OnceField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)
    country = SelectField(lazy_gettext("Country"), validate_choice=False)
    timezone = SelectField(lazy_gettext("Time zone of the assistants"), validate_choice=False)
    email = EmailField(
        lazy_gettext("Email of the first user"), filters=[without_nul], render_kw={"maxlength": 254}
    )
    user_name = StringField(
        lazy_gettext("Name of the first user"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES
    )

    def set_choices(self, content: TemplateContent) -> None:
        regions = named_regions()
        template_country = next(
            (str(c.label) for c in regions if c.value == content.rules.default_region), ""
        )
        self.country.choices = [
            SelectChoice("", gettext("%(country)s (template)", country=template_country)),
            *regions,
        ]
        self.timezone.choices = [SelectChoice("", gettext("By country")), *zone_choices()]

    def to_details(self) -> OrganizationDetails:
        return OrganizationDetails(
            name=self.name.data or "",
            email=self.email.data or None,
            user_name=self.user_name.data or None,
            country=self.country.data or None,
            timezone=self.timezone.data or None,
        )


class NewOrganizationsForm(PortalForm):
    """A file of organizations, or the rows of one that was checked."""

    once = OnceField()
    file = FileField(lazy_gettext("File"))
    rows = HiddenField()
