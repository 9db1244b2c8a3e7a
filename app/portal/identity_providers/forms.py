"""The form of a company account."""

from typing import Any

from wtforms import BooleanField, PasswordField, SelectField, StringField, TextAreaField
from wtforms.widgets import URLInput

from app.enums import Role
from app.errors import DomainError
from app.languages import gettext, lazy_gettext, lazy_pgettext
from app.models import IdentityProvider
from app.portal.web.fields import OnceField, VersionField, blank_is_none, without_nul
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.forms import PortalForm
from app.services.identity_providers.providers import NEW_ROLES, ProviderFields

NO_ROLE = lazy_gettext("None: only mapped roles")


def _text_field(label: str, **more: Any) -> StringField:
    return StringField(
        label,
        filters=[without_nul],
        render_kw={"spellcheck": "false", "autocomplete": "off"},
        **more,
    )


class _ProviderFields(PortalForm):
    name = _text_field(lazy_gettext("Name on the button"))
    issuer = _text_field(lazy_gettext("Issuer"), widget=URLInput())
    client_id = _text_field(lazy_pgettext("identity provider", "Client ID"))
    client_secret = PasswordField(
        lazy_gettext("Client secret"), render_kw={"autocomplete": "new-password"}
    )
    domains = TextAreaField(
        lazy_gettext("Email domains"), filters=[without_nul], render_kw={"spellcheck": "false"}
    )
    creates_users = BooleanField(lazy_gettext("Create a user at the first sign-in"))
    default_role = SelectField(
        lazy_gettext("Role of a new user"), validate_choice=False, filters=[blank_is_none]
    )
    role_claim = _text_field(lazy_gettext("Claim that maps to a role"))
    admin_value = _text_field(lazy_gettext("Value for customer admins"))
    editor_value = _text_field(lazy_gettext("Value for partner editors"))
    required_for_staff = BooleanField(lazy_gettext("Required for your staff"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles = [(role.value, ROLE_NAMES[role]) for role in NEW_ROLES]
        self.default_role.choices = [("", NO_ROLE), *roles]

    def apply_errors(self, error: DomainError) -> None:
        """Require the secret again, which the page doesn't show."""
        super().apply_errors(error)
        if self.client_secret.data and not self.client_secret.errors:
            self.client_secret.errors = (gettext("Enter the secret again."),)

    def to_fields(self, issuer: str | None = None) -> ProviderFields:
        """Return the input; ``issuer`` is the current one of an edit form."""
        values = {
            Role.ADMIN.value: self.admin_value.data,
            Role.PARTNER_EDITOR.value: self.editor_value.data,
        }
        return ProviderFields(
            name=self.name.data or "",
            issuer=issuer or self.issuer.data or "",
            client_id=self.client_id.data or "",
            secret=self.client_secret.data or "",
            domains=[
                domain.lower().lstrip("@")
                for domain in (self.domains.data or "").replace(",", " ").split()
            ],
            creates_users=bool(self.creates_users.data),
            default_role=self.default_role.data or None,
            role_claim=self.role_claim.data or None,
            role_values={role: value for role, value in values.items() if value},
            required_for_staff=bool(self.required_for_staff.data),
        )


class ProviderForm(_ProviderFields):
    once = OnceField()


class EditProviderForm(_ProviderFields):
    version = VersionField()

    @classmethod
    def showing(cls, provider: IdentityProvider) -> "EditProviderForm":
        return cls.from_object(
            name=provider.name,
            issuer=provider.issuer,
            client_id=provider.client_id,
            domains="\n".join(provider.domains),
            creates_users=provider.creates_users,
            default_role=provider.default_role or "",
            role_claim=provider.role_claim,
            admin_value=provider.role_values.get(Role.ADMIN.value),
            editor_value=provider.role_values.get(Role.PARTNER_EDITOR.value),
            required_for_staff=provider.required_for_staff,
            version=provider.version,
        )
