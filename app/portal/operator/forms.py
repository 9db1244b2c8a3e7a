"""The forms of a new partner, of the domain of one, and of the outcome of a stuck call."""

from typing import Any, ClassVar

from wtforms import EmailField, SelectChoice, SelectField, StringField
from wtforms.validators import DataRequired, InputRequired, Length

from app.extensions import transaction
from app.languages import lazy_gettext
from app.portal.web.fields import OnceField, VersionField, blank_is_none, without_nul
from app.portal.web.formats import CALL_STATUS_LABELS
from app.portal.web.forms import PortalForm
from app.schemas.parsing import read
from app.schemas.partners import PRODUCT_NAME, CreatePartnerInput
from app.schemas.users import CreateAdminInput
from app.services.calls import resolve
from app.services.partners import domains

_NAME_ATTRIBUTES = {"maxlength": 200, "autocomplete": "off"}


def _domain_field() -> StringField:
    return StringField(
        lazy_gettext("Domain"),
        filters=[blank_is_none],
        render_kw=_NAME_ATTRIBUTES | {"spellcheck": "false", "inputmode": "url"},
    )


class DomainForm(PortalForm):
    version = VersionField()
    domain = _domain_field()


class OutcomeForm(PortalForm):
    """How a stuck call ended, and how the operator knows."""

    outcome = SelectField(
        lazy_gettext("Outcome"),
        [InputRequired(message=lazy_gettext("Choose an outcome."))],
        choices=[
            SelectChoice("", lazy_gettext("Choose")),
            *(SelectChoice(status.value, CALL_STATUS_LABELS[status]) for status in resolve.REASONS),
        ],
    )
    reason = StringField(
        lazy_gettext("Reason"),
        [
            DataRequired(message=lazy_gettext("Enter how you know it.")),
            Length(max=300, message=lazy_gettext("Use at most 300 characters.")),
        ],
        filters=[without_nul],
        render_kw={"maxlength": 300, "autocomplete": "off"},
    )


class PartnerForm(PortalForm):
    wire_fields: ClassVar = {"partnerName": "name"}

    once = OnceField()
    name = StringField(lazy_gettext("Company name"), render_kw=_NAME_ATTRIBUTES)
    product_name = StringField(
        lazy_gettext("Product name"), default=PRODUCT_NAME, render_kw=_NAME_ATTRIBUTES
    )
    domain = _domain_field()
    email = EmailField(lazy_gettext("Email"), render_kw={"maxlength": 254, "autocomplete": "off"})
    administrator_name = StringField(
        lazy_gettext("Administrator’s name"), filters=[blank_is_none], render_kw=_NAME_ATTRIBUTES
    )

    def to_partner(self) -> CreatePartnerInput:
        """Return the partner's input. Raises `ValidationFailed`."""
        return self.to_input(CreatePartnerInput)

    def first_user(self) -> dict[str, Any]:
        """Return the administrator, as arguments of `users.invite`. Raises `ValidationFailed`."""
        email = read(CreateAdminInput, {"email": (self.email.data or "").strip()}).email
        return {"email": email, "name": self.administrator_name.data}

    def validate(self, extra_validators: Any = None) -> bool:
        """Return whether the input is valid by the services' rules, so that all problems are shown
        at once."""
        is_valid = bool(super().validate(extra_validators))
        checks = (self.to_partner, self.first_user, self._check_domain)
        return all([is_valid, *map(self.passes, checks)])

    def _check_domain(self) -> None:
        with transaction(read_only=True) as session:
            domains.refuse_unusable(session, (self.domain.data or "").strip() or None)
