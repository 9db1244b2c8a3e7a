"""The forms of users: inviting one or many, and changing one."""

from collections.abc import Sequence
from typing import Any, ClassVar

from flask_wtf.file import FileField
from wtforms import (
    EmailField,
    HiddenField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
    ValidationError,
)

from app.enums import Role
from app.errors import DomainError
from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.models import User
from app.portal.web.fields import OnceField, VersionField, without_nul
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.forms import PortalForm
from app.schemas.parsing import read
from app.schemas.users import CreateAdminInput, UpdateUserInput
from app.services.users.loading import MEMBERS

_NAME_ATTRIBUTES = {"maxlength": 200, "autocomplete": "off"}


def _without_nul(value: str | None) -> str | None:
    """Return the text without characters that databases refuse."""
    return value.replace("\0", "") if value else value


def role_choices(roles: Sequence[Role]) -> list[SelectChoice]:
    return [SelectChoice(role.value, ROLE_NAMES[role]) for role in roles]


class InviteForm(PortalForm):
    wire_fields: ClassVar = {
        "userType": "role",
        "organizationId": "organization",
        "orgId": "organization",
    }

    once = OnceField()
    email = EmailField(lazy_gettext("Email"), render_kw={"maxlength": 254, "autocomplete": "off"})
    name = StringField(lazy_gettext("Name"), filters=[_without_nul], render_kw=_NAME_ATTRIBUTES)
    role = RadioField(lazy_gettext("Role"))
    organization = StringField(lazy_gettext("Organization"), render_kw=_NAME_ATTRIBUTES)
    full: str | None = None
    """The sentence that the organization has no place for another user."""

    def validate_organization(self, field: StringField) -> None:
        if (
            self.role.data in MEMBERS
            and caller().organization_id is None
            and not (field.data or "").strip()
        ):
            message = gettext("Enter the organization of this member.")
            raise ValidationError(message)

    def validate(self, extra_validators: Any = None) -> bool:
        """Validate the address also by the service's rules, so that all problems are shown at
        once."""
        is_valid = bool(super().validate(extra_validators))
        return (
            self.passes(lambda: read(CreateAdminInput, {"email": self.submitted_email}))
            and is_valid
        )

    def apply_errors(self, error: DomainError) -> None:
        """Also keep the message of the user limit, if it is reached."""
        super().apply_errors(error)
        self.full = error.message if error.code == "user_limit_reached" else None

    @property
    def submitted_email(self) -> str:
        return (self.email.data or "").strip()

    def set_choices(self, roles: Sequence[Role]) -> None:
        """Offer the roles that the caller may give; a single one is selected."""
        self.role.choices = role_choices(roles)
        if not self.role.data and roles:
            self.role.data = roles[0].value


class InviteManyForm(PortalForm):
    """Lines or a file of users, or the checked lines."""

    once = OnceField()
    users = TextAreaField(lazy_gettext("Users"))
    file = FileField(lazy_gettext("Or choose a file"))
    organization = StringField(
        lazy_gettext("Organization"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES
    )
    rows = HiddenField()
    checked = HiddenField()
    role = SelectField(lazy_gettext("Role"), default=Role.STANDARD.value)

    def set_choices(self, roles: Sequence[Role]) -> None:
        """Offer the roles of members that the caller may give."""
        self.role.choices = role_choices([role for role in roles if role in MEMBERS])


class UserForm(PortalForm):
    wire_fields: ClassVar = {"userType": "role"}

    version = VersionField()
    email = EmailField(
        lazy_gettext("Email"),
        filters=[lambda value: (value or "").strip()],
        render_kw={"maxlength": 254, "autocomplete": "off"},
    )
    name = StringField(lazy_gettext("Name"), render_kw=_NAME_ATTRIBUTES)
    role = RadioField(lazy_gettext("Role"), validate_choice=False)

    @classmethod
    def showing(cls, user: User) -> "UserForm":
        return cls.from_object(user, role=user.role.value)

    def set_choices(self, roles: Sequence[Role]) -> None:
        """Offer the allowed roles; without any, the field is hidden."""
        self.role.choices = role_choices(roles)

    def to_changes(self) -> UpdateUserInput:
        """Return the changes. Raises `ValidationFailed`."""
        return self.to_input(UpdateUserInput)

    def selected_role(self) -> Role | None:
        """Return the role that was sent; None if the form has no such field."""
        return Role(self.role.data) if self.role.data in set(Role) else None
