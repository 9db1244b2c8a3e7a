"""The forms of the directory: a token, the default role, the role of a group."""

from typing import Any, ClassVar

from wtforms import SelectChoice, SelectField, StringField

from app.enums import Role
from app.errors import DomainError, ValidationFailed
from app.languages import lazy_gettext
from app.models import ScimGroup, ScimSettings
from app.portal.api_access.forms import EndingForm
from app.portal.web.fields import OnceField, VersionField, without_nul
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.forms import PortalForm
from app.services.scim.access import HIGHEST_FIRST
from app.services.scim.choices import DEFAULT_ROLES

_NAME_ATTRIBUTES = {"maxlength": 200, "autocomplete": "off"}


class TokenForm(EndingForm):
    once = OnceField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)


class ChoicesForm(PortalForm):
    wire_fields: ClassVar = {"defaultRole": "default_role"}

    version = VersionField()
    default_role = SelectField(lazy_gettext("Role without a group"), validate_choice=False)

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.default_role.choices = [
            SelectChoice("", lazy_gettext("No access")),
            *(SelectChoice(role.value, ROLE_NAMES[role]) for role in DEFAULT_ROLES),
        ]

    @classmethod
    def showing(cls, settings: ScimSettings) -> "ChoicesForm":
        role = settings.default_role.value if settings.default_role else ""
        return cls.from_object(default_role=role, version=settings.version)


class GroupForm(PortalForm):
    wire_fields: ClassVar = {"organizationId": "organization"}

    version = VersionField()
    role = SelectField(lazy_gettext("Role"), validate_choice=False)
    organization = StringField(
        lazy_gettext("Organization"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES
    )

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.role.choices = [
            SelectChoice("", lazy_gettext("No role")),
            *(SelectChoice(role.value, ROLE_NAMES[role]) for role in HIGHEST_FIRST),
        ]

    @classmethod
    def showing(cls, group: ScimGroup, organization: str | None) -> "GroupForm":
        role = group.role.value if group.role else ""
        return cls.from_object(role=role, organization=organization, version=group.version)

    def apply_errors(self, error: DomainError) -> None:
        """Put problems of a member's access at the role."""
        if not error.problems:
            error = ValidationFailed.on("role", error.code, error.message)
        super().apply_errors(error)

    def selected_role(self) -> Role | None:
        """Return the role that was sent; None for no role. An unknown one becomes the operator's,
        which the service refuses."""
        if not self.role.data:
            return None
        return Role(self.role.data) if self.role.data in set(Role) else Role.OPERATOR
