"""The forms of keys and clients."""

from datetime import timedelta
from typing import Any, ClassVar

from pydantic_core import PydanticCustomError
from wtforms import RadioField, SelectChoice, SelectField, StringField
from wtforms.widgets import DateInput

from app.calendar_months import midnight
from app.enums import Role
from app.languages import gettext, lazy_gettext, lazy_pgettext, ngettext, pgettext
from app.policy import Permission
from app.portal.web.fields import CheckboxesField, OnceField
from app.portal.web.forms import PortalForm
from app.portal.web.organization_choice import OfOrganization
from app.schemas.checks import parse_date
from app.services.credentials import api_keys, lifetimes
from app.validation.texts import whole_number

LIVE, TEST = "live", "test"
SCOPE_LABELS: dict[str, str] = {
    Permission.CONTACTS_READ: lazy_gettext("Read contacts"),
    Permission.CONTACTS_WRITE: lazy_gettext("Write contacts"),
    Permission.CALLS_READ: lazy_gettext("Read calls"),
    Permission.CALLS_CREATE: lazy_gettext("Place calls"),
}
SCOPES_IN_LIST: dict[str, str] = {
    Permission.CONTACTS_READ: lazy_gettext("read contacts"),
    Permission.CONTACTS_WRITE: lazy_gettext("write contacts"),
    Permission.CALLS_READ: lazy_gettext("read calls"),
    Permission.CALLS_CREATE: lazy_gettext("place calls"),
}
"""The same as a part of a list."""
SCOPE_HINTS: dict[str, str] = {
    Permission.CONTACTS_READ: lazy_gettext("See contacts in campaigns with all their details."),
    Permission.CONTACTS_WRITE: lazy_gettext("Add, update and remove contacts in campaigns."),
    Permission.CALLS_READ: lazy_gettext("See calls and their outcomes."),
    Permission.CALLS_CREATE: lazy_gettext("Place and cancel calls."),
}
KIND_HINTS = {
    LIVE: lazy_gettext("Contacts are real and calls are placed."),
    TEST: lazy_gettext(
        "Checks and stores everything. Its calls use the simulated carrier and aren’t counted. "
        "Contacts that it adds are real: a campaign that is running calls them."
    ),
}
KINDS = {LIVE: lazy_pgettext("API key", "Live"), TEST: lazy_pgettext("API key", "Test")}
LIVE_KINDS = {LIVE: True, TEST: False}
"""Filter value -> the service's argument; no value means both."""
ROLE_LABELS = {
    Role.PARTNER_ADMIN: lazy_gettext("Everything a partner admin may do"),
    Role.ADMIN: lazy_gettext("Customer administration"),
    Role.PARTNER_EDITOR: lazy_gettext("Brand and content"),
}
ROLE_HINTS: dict[str, str] = {
    Role.PARTNER_ADMIN: lazy_gettext("Organizations, users, brand, report and usage."),
    Role.ADMIN: lazy_gettext("Organizations, their users, report and usage. No brand or staff."),
    Role.PARTNER_EDITOR: lazy_gettext("Changes the brand and its texts; reads the rest."),
}
OVERLAPS = (1, 3, 7)
"""Days during which both the old and the new one work."""
BY_DATE, NEVER = "date", "never"
_DEFAULT_LIFETIME = str(lifetimes.DEFAULT.days)
LENGTHS = {str(length.days): length for length in lifetimes.CHOICES}


class EndingForm(PortalForm):
    """The end of a new credential or secret; without a choice it is `lifetimes.DEFAULT`."""

    wire_fields: ClassVar = {"expiresAt": "last_day"}

    lifetime = SelectField(lazy_gettext("Expires"), validate_choice=False)
    last_day = StringField(lazy_gettext("Last day"), widget=DateInput())

    expires_at: lifetimes.End = lifetimes.DEFAULT

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.lifetime.choices = [
            *(
                SelectChoice(
                    value, ngettext("After %(num)s day", "After %(num)s days", length.days)
                )
                for value, length in LENGTHS.items()
                if length != lifetimes.DEFAULT
            ),
            SelectChoice(_DEFAULT_LIFETIME, gettext("After 12 months")),
            SelectChoice(BY_DATE, gettext("After a day that you choose")),
            SelectChoice(NEVER, gettext("Never")),
        ]
        self.lifetime.data = self.lifetime.data or _DEFAULT_LIFETIME

    def validate(self, extra_validators: Any = None) -> bool:
        is_sound: bool = super().validate(extra_validators)
        lifetime = self.lifetime.data
        if lifetime in LENGTHS:
            self.expires_at = LENGTHS[lifetime]
        elif lifetime == NEVER:
            self.expires_at = None
        elif lifetime != BY_DATE:
            self.lifetime.errors = (gettext("Choose when it expires."),)
            return False
        else:
            return self._read_day() and is_sound
        return is_sound

    def _read_day(self) -> bool:
        """Set the end to that of the day (UTC); False with the problem at the field."""
        try:
            day = parse_date((self.last_day.data or "").strip())
            self.expires_at = midnight(day) + timedelta(days=1)
        except PydanticCustomError as error:
            self.last_day.errors = (error.message(),)
        except OverflowError:
            self.last_day.errors = (gettext("This day is too far away."),)
        return not self.last_day.errors


class NamedForm(EndingForm):
    name = StringField(lazy_gettext("Name"), render_kw={"maxlength": 200, "autocomplete": "off"})


class ApiKeyForm(NamedForm, OfOrganization):
    once = OnceField()
    kind = RadioField(
        lazy_gettext("Kind"),
        choices=[
            SelectChoice(TEST, lazy_gettext("Test")),
            SelectChoice(LIVE, lazy_gettext("Live")),
        ],
        default=TEST,
    )
    scopes = CheckboxesField(
        lazy_gettext("Permissions"),
        choices=[SelectChoice(str(scope), words) for scope, words in SCOPE_LABELS.items()],
    )

    def to_fields(self) -> dict[str, Any]:
        """Return the input, as the service's arguments."""
        return {
            "name": self.name.data or "",
            "scopes": self.scopes.data or [],
            "live": self.kind.data != TEST,
            "expires_at": self.expires_at,
        }

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the name and the permissions like the service, so that their problems are shown
        with that of the organization."""
        is_sound = super().validate(extra_validators)
        return (
            self.passes(lambda: api_keys.check(self.name.data or "", self.scopes.data or []))
            and is_sound
        )


class ClientForm(NamedForm):
    once = OnceField()
    role = RadioField(
        lazy_gettext("Permissions"),
        choices=[SelectChoice(role.value, words) for role, words in ROLE_LABELS.items()],
        default=Role.ADMIN.value,
    )

    def to_fields(self) -> dict[str, Any]:
        """Return the input, as the service's arguments."""
        role = Role(self.role.data)
        return {"name": self.name.data or "", "role": role, "expires_at": self.expires_at}


class RotateForm(EndingForm):
    once = OnceField()
    overlap = SelectField(
        lazy_gettext("Old one stops working"),
        default="1",
        validate_choice=False,
    )

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.overlap.choices = [
            SelectChoice("0", pgettext("end", "At once")),
            *(
                SelectChoice(str(days), ngettext("After %(num)s day", "After %(num)s days", days))
                for days in OVERLAPS
            ),
        ]

    @property
    def length(self) -> timedelta:
        """The input in days; the service raises `ValidationFailed` if it is out of range."""
        days = whole_number(self.overlap.data, 3)
        return timedelta(days=-1 if days is None else days)

    def to_period(self) -> dict[str, Any]:
        """Return the input, as the services' arguments."""
        return {"overlap": self.length, "expires_at": self.expires_at}
