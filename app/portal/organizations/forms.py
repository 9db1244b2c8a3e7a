"""The forms of an organization: adding and renaming it, its plan and limits."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from wtforms import EmailField, Field, RadioField, SelectChoice, SelectField, StringField

from app.enums import Role, Tier
from app.errors import raise_problems
from app.extensions import caller, transaction
from app.languages import lazy_gettext
from app.models import FIRST_REGION, Organization
from app.portal.web.billing_fields import BillingAddressFields
from app.portal.web.fields import OnceField, VersionField, WholeNumber, blank_is_none
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.forms import PortalForm
from app.portal.web.plan_names import plan_choices
from app.portal.web.region_choices import named_regions
from app.schemas.base import Wire
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.schemas.users import CreateAdminInput
from app.services import organizations, partners, users
from app.services.billing_address import BillingAddress
from app.services.organizations import USUAL_USER_LIMITS
from app.services.organizations.updating import validate_name

MAX_NAME_LENGTH = 200
_NAME_ATTRIBUTES = {"maxlength": MAX_NAME_LENGTH, "autocomplete": "off"}


class OrganizationForm(PortalForm):
    wire_fields: ClassVar = {"paymentTier": "tier"}

    def to_changes(self) -> UpdateOrganizationInput:
        """Return the changes. Raises `ValidationFailed`."""
        return self.to_input(UpdateOrganizationInput)

    def is_taken(self) -> bool:
        """Return whether the contract accepts the input; problems are shown at their fields.

        Readable fields are checked even if another isn't readable, so that all problems are shown
        at once.
        """
        named, values = self.fields_by_wire(), self.inputs(UpdateOrganizationInput)
        readable = {key: value for key, value in values.items() if not self[named[key]].errors}
        return self.passes(lambda: read(UpdateOrganizationInput, readable))


class OrganizationLimitsForm(OrganizationForm):
    """A blank user limit is the usual one of the plan."""

    tier = SelectField(lazy_gettext("Plan"), choices=plan_choices)
    assistant_limit = WholeNumber(lazy_gettext("Assistant limit"), required=True)
    user_limit = WholeNumber(lazy_gettext("User limit"))

    def inputs(self, schema: type[Wire]) -> dict[str, Any]:
        values = super().inputs(schema)
        if values.get("userLimit", 0) is None:
            values["userLimit"] = USUAL_USER_LIMITS.get(self.tier.data, 1)
        return values

    def validate(self, extra_validators: Any = None) -> bool:
        is_valid = bool(super().validate(extra_validators))
        return self.is_taken() and is_valid


class OrganizationPlanForm(OrganizationLimitsForm):
    version = VersionField()
    tier = RadioField(lazy_gettext("Plan"), choices=plan_choices)

    @classmethod
    def showing(cls, organization: Organization) -> "OrganizationPlanForm":
        tier = organization.payment_tier or Tier.FREE
        form = cls.from_object(organization, tier=tier)
        if organization.user_limit == USUAL_USER_LIMITS[tier]:
            form.user_limit.data = None
        return form


class OrganizationNamesForm(OrganizationForm):
    name = StringField(lazy_gettext("Name"), render_kw=_NAME_ATTRIBUTES)
    referral_code = StringField(
        lazy_gettext("Referral code"), filters=[blank_is_none], render_kw=_NAME_ATTRIBUTES
    )
    referred_by_code = StringField(
        lazy_gettext("Referred by"), filters=[blank_is_none], render_kw=_NAME_ATTRIBUTES
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
    wire_fields: ClassVar = {**OrganizationLimitsForm.wire_fields, "defaultRegion": "country"}

    once = OnceField()
    country = SelectField(lazy_gettext("Country"), choices=named_regions, validate_choice=False)
    email = EmailField(lazy_gettext("Email of the first user"), render_kw={"maxlength": 254})
    first_user_name = StringField(
        lazy_gettext("Name of the first user"), render_kw=_NAME_ATTRIBUTES
    )
    first_role = RadioField(lazy_gettext("Role of the first user"))
    _LATER = (
        "name",
        "country",
        "tier",
        "assistant_limit",
        "user_limit",
        "referral_code",
        "referred_by_code",
        "email",
        "first_user_name",
        "first_role",
    )

    def __iter__(self) -> Iterator[Field]:
        """Yield the fields in the order of the page, in which problems are listed."""
        later = {name: position for position, name in enumerate(self._LATER, 1)}
        return iter(sorted(super().__iter__(), key=lambda field: later.get(field.name, 0)))

    def set_choices(self, roles: Sequence[Role]) -> None:
        """Offer the roles that the caller may give, the first one by default; without any, the
        field is removed."""
        if not roles:
            del self.first_role
            return
        self.first_role.choices = [SelectChoice(role.value, ROLE_NAMES[role]) for role in roles]
        if not self.first_role.data:
            self.first_role.data = roles[0].value

    def validate(self, extra_validators: Any = None) -> bool:
        """Validate also what the services would refuse one by one, so that all problems are shown
        at once. Whether the name and the email are taken is checked only if there are other
        problems: a repeated form has taken them itself."""
        actor, partner_id, email = caller(), partners.own_partner_id(caller()), self.submitted_email
        is_valid = bool(super().validate(extra_validators))
        with transaction(read_only=True) as session:
            checks: list[Callable[[], object]] = [
                lambda: validate_name(self.name.data or ""),
                lambda: organizations.check_country(
                    session, actor, partner_id, self.selected_country()
                ),
            ]
            if email:
                checks.append(lambda: read(CreateAdminInput, {"email": email}))
            is_valid = all([is_valid, *map(self.passes, checks)])
            if not is_valid:
                self.passes(
                    lambda: raise_problems(
                        organizations.duplicate_name_problems(
                            session, partner_id, self.submitted_name
                        )
                    )
                )
                if email and not self.email.errors:
                    self.passes(lambda: users.refuse_known_address(session, partner_id, email))
        return is_valid

    @property
    def submitted_name(self) -> str:
        return (self.name.data or "").strip()

    @property
    def submitted_email(self) -> str:
        return (self.email.data or "").strip()

    def selected_role(self) -> Role:
        return Role(self.first_role.data) if "first_role" in self else Role.STANDARD

    def selected_country(self) -> str:
        return self.country.data or FIRST_REGION
