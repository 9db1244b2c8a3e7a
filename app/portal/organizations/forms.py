"""The forms of an organization: adding it, what it is called, its plan and limits."""

from collections.abc import Callable
from typing import Any

from wtforms import (
    EmailField,
    Form,
    IntegerField,
    SelectChoice,
    SelectField,
    StringField,
    ValidationError,
)
from wtforms.widgets import TextInput

from app.enums import TIER_NAMES, Tier
from app.errors import ValidationFailed
from app.models import Organization
from app.portal.web.form_problems import place_problems
from app.schemas.base import wire_name
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.reading import read
from app.schemas.users import CreateAdminInput
from app.services.organizations.changing import checked_name

MOST_NAME = 200
_NAME = {"maxlength": MOST_NAME, "autocomplete": "off"}
_LIMIT = {"inputmode": "numeric", "autocomplete": "off"}

PLACES = {"paymentTier": "tier"}
"""Where a problem of the contract's field is shown."""


class WholeNumber(IntegerField):
    """A whole number; blank is None where the form allows it.

    Written into a text field: what a browser finds no number it would otherwise not send.
    """

    widget = TextInput()  # type: ignore[assignment]  # the stub knows the base's widget alone

    def process_formdata(self, valuelist: list[str]) -> None:
        text = valuelist[0].strip() if valuelist else ""
        if not text:
            self.data = None
            return
        if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit():
            self.data = None
            message = "Enter a whole number in digits."
            raise ValueError(message)
        self.data = int(text) if len(text) < 12 else 10**12


def refuse_blank(field: WholeNumber) -> None:
    """Raises `ValidationError` where nothing was typed."""
    if field.data is None and not field.errors:
        message = "Enter a whole number."
        raise ValidationError(message)


def _is_taken(form: Form, values: dict[str, Any]) -> bool:
    """Whether the contract takes what was typed; what it refuses is told at its field.

    Asked for the fields that could be read, also where another could not, so that all is said at
    once.
    """
    named = {wire_name(name): name for name in form.data} | PLACES
    readable = {key: value for key, value in values.items() if not form[named[key]].errors}
    try:
        read(UpdateOrganizationInput, readable)
    except ValidationFailed as error:
        place_problems(form, error, PLACES)
        return False
    return True


class Limits(Form):
    tier = SelectField(
        "Plan", choices=[SelectChoice(tier.value, name) for tier, name in TIER_NAMES.items()]
    )
    agent_limit = WholeNumber("Assistant limit", render_kw=_LIMIT)
    user_limit = WholeNumber("User limit", render_kw=_LIMIT)

    def validate_agent_limit(self, field: WholeNumber) -> None:
        refuse_blank(field)

    def validate_user_limit(self, field: WholeNumber) -> None:
        refuse_blank(field)

    def validate(self, extra_validators: Any = None) -> bool:
        fine = bool(super().validate(extra_validators))
        return _is_taken(self, self.limits()) and fine

    def limits(self) -> dict[str, Any]:
        """The plan and limits in the contract's names."""
        return {
            "paymentTier": self.tier.data,
            "agentLimit": self.agent_limit.data,
            "userLimit": self.user_limit.data,
        }


class PlanForm(Limits):
    @classmethod
    def showing(cls, organization: Organization) -> "PlanForm":
        return cls(
            data={
                "tier": (organization.payment_tier or Tier.FREE).value,
                "agent_limit": organization.agent_limit,
                "user_limit": organization.user_limit,
            }
        )

    def to_changes(self) -> UpdateOrganizationInput:
        """Raises `ValidationFailed`."""
        return read(UpdateOrganizationInput, self.limits())


class Names(Form):
    name = StringField("Name", render_kw=_NAME)
    referral_code = StringField("Referral code", render_kw=_NAME)
    referred_by_code = StringField("Referred by", render_kw=_NAME)

    def codes(self) -> dict[str, Any]:
        """Both codes in the contract's names; blank is none."""
        return {
            "referralCode": (self.referral_code.data or "").strip() or None,
            "referredByCode": (self.referred_by_code.data or "").strip() or None,
        }


class EditForm(Names):
    @classmethod
    def showing(cls, organization: Organization) -> "EditForm":
        return cls(obj=organization)

    def to_changes(self) -> UpdateOrganizationInput:
        """Raises `ValidationFailed`."""
        return read(UpdateOrganizationInput, self.codes())


class NewForm(Names, Limits):
    email = EmailField("Email of the first user", render_kw={"maxlength": 254})
    person = StringField("Name of the first user", render_kw=_NAME)

    def validate(self, extra_validators: Any = None) -> bool:
        """Also what the services would refuse one after the other, so that all is said at once."""
        fine = bool(super().validate(extra_validators))
        fine = _is_taken(self, self.codes()) and fine
        checks: list[Callable[[], object]] = [lambda: checked_name(self.name.data or "")]
        if self.typed_email:
            checks.append(lambda: read(CreateAdminInput, {"email": self.typed_email}))
        for check in checks:
            try:
                check()
            except ValidationFailed as error:
                place_problems(self, error, PLACES)
                fine = False
        return fine

    @property
    def typed_email(self) -> str:
        return (self.email.data or "").strip()

    def to_changes(self) -> UpdateOrganizationInput:
        """Plan, limits and codes, checked. Raises `ValidationFailed`."""
        return read(UpdateOrganizationInput, self.limits() | self.codes())
