"""The forms of a new partner, and of the domain of one."""

from typing import Any, ClassVar

from wtforms import EmailField, StringField

from app.errors import ValidationFailed
from app.languages import lazy_gettext
from app.portal.web.fields import OnceField, VersionField, blank_is_none
from app.portal.web.forms import PortalForm
from app.schemas.parsing import read
from app.schemas.partners import PRODUCT_NAME, CreatePartnerInput
from app.schemas.users import CreateAdminInput

_NAME = {"maxlength": 200, "autocomplete": "off"}


def _domain() -> StringField:
    return StringField(
        lazy_gettext("Domain"),
        filters=[blank_is_none],
        render_kw=_NAME | {"spellcheck": "false", "inputmode": "url"},
    )


class DomainForm(PortalForm):
    version = VersionField()
    domain = _domain()


class PartnerForm(PortalForm):
    wire_fields: ClassVar = {"partnerName": "name"}

    once = OnceField()
    name = StringField(lazy_gettext("Name"), render_kw=_NAME)
    product_name = StringField(lazy_gettext("Product name"), default=PRODUCT_NAME, render_kw=_NAME)
    domain = _domain()
    email = EmailField(lazy_gettext("Email"), render_kw={"maxlength": 254, "autocomplete": "off"})
    administrator_name = StringField(lazy_gettext("Name"), filters=[blank_is_none], render_kw=_NAME)

    def to_partner(self) -> CreatePartnerInput:
        """Raises `ValidationFailed`."""
        return self.to_input(CreatePartnerInput)

    def to_email(self) -> str:
        """Raises `ValidationFailed`."""
        return read(CreateAdminInput, {"email": (self.email.data or "").strip()}).email

    def validate(self, extra_validators: Any = None) -> bool:
        """Check like the services, so that all problems are shown at once."""
        fine = bool(super().validate(extra_validators))
        for check in (self.to_partner, self.to_email):
            try:
                check()
            except ValidationFailed as error:
                self.apply_errors(error)
                fine = False
        return fine
