"""The forms of an organization: adding and renaming it, its plan and limits."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from wtforms import EmailField, RadioField, SelectField, StringField

from app.enums import Tier
from app.languages import lazy_gettext
from app.models import Organization
from app.portal.web.billing_fields import BillingAddressFields
from app.portal.web.fields import OnceField, VersionField, WholeNumber, blank_is_none
from app.portal.web.forms import PortalForm
from app.portal.web.plan_names import plan_choices
from app.schemas.base import Wire
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.schemas.users import CreateAdminInput, CreatePartialUserInput
from app.services.billing_address import BillingAddress
from app.services.organizations import USUAL_USER_LIMITS
from app.services.organizations.changing import checked_name

MOST_NAME = 200
_NAME = {"maxlength": MOST_NAME, "autocomplete": "off"}


class OrganizationForm(PortalForm):
    wire_fields: ClassVar = {"paymentTier": "tier"}

    def to_changes(self) -> UpdateOrganizationInput:
        """Raises `ValidationFailed`."""
        return self.to_input(UpdateOrganizationInput)

    def is_taken(self) -> bool:
        """Whether the contract accepts what was typed; problems are shown at their fields.

        Readable fields are checked even if another isn't readable, so that all problems are shown
        at once.
        """
        named, values = self.fields_by_wire(), self.inputs(UpdateOrganizationInput)
        readable = {key: value for key, value in values.items() if not self[named[key]].errors}
        return self.passes(lambda: read(UpdateOrganizationInput, readable))


class OrganizationLimitsForm(OrganizationForm):
    tier = SelectField(lazy_gettext("Plan"), choices=plan_choices)
    assistant_limit = WholeNumber(lazy_gettext("Assistant limit"), required=True)
    user_limit = WholeNumber(lazy_gettext("User limit"), required=True)

    def validate(self, extra_validators: Any = None) -> bool:
        fine = bool(super().validate(extra_validators))
        return self.is_taken() and fine


class PlanForm(OrganizationLimitsForm):
    version = VersionField()
    tier = RadioField(lazy_gettext("Plan"), choices=plan_choices)

    @classmethod
    def showing(cls, organization: Organization) -> "PlanForm":
        return cls.from_object(organization, {"tier": organization.payment_tier or Tier.FREE})


class OrganizationNamesForm(OrganizationForm):
    name = StringField(lazy_gettext("Name"), render_kw=_NAME)
    referral_code = StringField(
        lazy_gettext("Referral code"), filters=[blank_is_none], render_kw=_NAME
    )
    referred_by_code = StringField(
        lazy_gettext("Referred by"), filters=[blank_is_none], render_kw=_NAME
    )


class EditForm(BillingAddressFields, OrganizationNamesForm):
    version = VersionField()

    @classmethod
    def showing(cls, organization: Organization) -> "EditForm":
        address = BillingAddress.of(organization.billing_address)
        form = cls.from_object(organization)
        form.billing_address.data, form.tax_id.data = address.text, address.tax_id
        return form


class NewForm(OrganizationNamesForm, OrganizationLimitsForm):
    """A blank user limit is the usual one of the plan."""

    once = OnceField()
    user_limit = WholeNumber(lazy_gettext("User limit"))
    email = EmailField(lazy_gettext("Email of the first user"), render_kw={"maxlength": 254})
    first_user_name = StringField(lazy_gettext("Name of the first user"), render_kw=_NAME)

    def validate(self, extra_validators: Any = None) -> bool:
        """Check also what the services would refuse one by one, so that all problems are shown at
        once."""
        fine = bool(super().validate(extra_validators))
        checks: list[Callable[[], object]] = [lambda: checked_name(self.name.data or "")]
        if self.typed_email:
            checks.append(lambda: read(CreateAdminInput, {"email": self.typed_email}))
        return all([fine, *map(self.passes, checks)])

    def inputs(self, schema: type[Wire]) -> dict[str, Any]:
        values = super().inputs(schema)
        if values.get("userLimit", 0) is None:
            values["userLimit"] = USUAL_USER_LIMITS.get(self.tier.data, 1)
        return values

    @property
    def typed_email(self) -> str:
        return (self.email.data or "").strip()

    def to_first_user(self, organization_id: UUID) -> CreatePartialUserInput | None:
        """Return the first user of the organization, if one is named. Raises `ValidationFailed`."""
        if not self.typed_email:
            return None
        name = self.first_user_name.data or None
        values = {"email": self.typed_email, "orgId": str(organization_id), "name": name}
        return read(CreatePartialUserInput, values)
