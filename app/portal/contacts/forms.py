"""The forms of one contact and of its consent. Metadata is a text with a line for each value:
``name = value``."""

from collections.abc import Mapping, Sequence
from typing import Any

from wtforms import EmailField, RadioField, SelectChoice, StringField, TelField, TextAreaField

from app.errors import DomainError, Problem, ValidationFailed
from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.models import utcnow
from app.portal.web.fields import OnceField, VersionField, without_nul
from app.portal.web.forms import PortalForm
from app.schemas.contacts import StoredContact
from app.services.contacts import consent
from app.services.contacts.rules import MAX_EXTERNAL_ID_VALUE, MAX_NAME, MAX_STATUS
from app.services.contacts.single_contact import ContactFields, version_of

_NAME_ATTRIBUTES = {"maxlength": MAX_NAME, "autocomplete": "off"}
_KEY_PREFIX = "external_"


class ContactForm(PortalForm):
    """Created by `form_for`, which adds a field for each external-id key of the campaign."""

    once = OnceField()
    version = VersionField()
    keys: tuple[str, ...] = ()
    unreadable: Problem | None = None
    """Problems of the metadata text; set by `to_fields`."""

    first_name = StringField(
        lazy_gettext("First name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES
    )
    last_name = StringField(
        lazy_gettext("Last name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES
    )
    phone = TelField(
        lazy_gettext("Phone"),
        filters=[without_nul],
        render_kw={"maxlength": 40, "autocomplete": "off"},
    )
    email = EmailField(
        lazy_gettext("Email"),
        filters=[without_nul],
        render_kw={"maxlength": 254, "autocomplete": "off"},
    )
    status = StringField(
        lazy_gettext("Status"),
        filters=[without_nul],
        render_kw={"maxlength": MAX_STATUS, "autocomplete": "off"},
    )
    more = TextAreaField(
        lazy_gettext("More details"), filters=[without_nul], render_kw={"spellcheck": "false"}
    )

    @property
    def external(self) -> list[Any]:
        """The fields of external ids, in the order of their keys."""
        return [self[f"{_KEY_PREFIX}{index}"] for index in range(len(self.keys))]

    def to_fields(self, stored: StoredContact | None = None) -> ContactFields:
        """Return the input, without unreadable lines of metadata: the rest is still checked, and
        `require_readable` refuses such lines afterwards."""
        previous = stored.contact_metadata if stored else {}
        metadata = self._metadata(previous)
        stored_ids = stored.external_ids if stored else {}
        submitted = {
            key: (field.data or "").strip()
            for key, field in zip(self.keys, self.external, strict=True)
        }
        return ContactFields(
            first_name=self.first_name.data or "",
            last_name=self.last_name.data or "",
            phone=self.phone.data or "",
            email=self.email.data or "",
            status=self.status.data or "",
            metadata=metadata,
            external_ids={
                key: value or None
                for key, value in submitted.items()
                if value != stored_ids.get(key, "")
            },
        )

    def require_readable(self) -> None:
        """Raise `ValidationFailed` if a line of the metadata can't be read."""
        if self.unreadable:
            raise ValidationFailed.of(self.unreadable)

    def _metadata(self, previous: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys to write, with None for those to remove."""
        metadata: dict[str, Any] = {}
        for number, line in enumerate((self.more.data or "").replace("\r", "").split("\n"), 1):
            if not line.strip():
                continue
            name, equals, value = (part.strip() for part in line.partition("="))
            if not equals or not name:
                return self._not_a_line(
                    gettext("Line %(number)s must be written name = value.", number=number)
                )
            if name in metadata:
                return self._not_a_line(
                    gettext("Line %(number)s repeats %(name)s. Keep one.", number=number, name=name)
                )
            metadata[name] = _convert_like(previous.get(name), _unescape(value))
        removed = {
            name: None for name in previous if _fits_on_line(name) and metadata.get(name, "") == ""
        }
        changed = {
            n: v for n, v in metadata.items() if v != "" and (n not in previous or previous[n] != v)
        }
        return {**removed, **changed}

    def _not_a_line(self, message: str) -> dict[str, Any]:
        self.unreadable = Problem("contactMetadata", "unreadable_line", message)
        return {}

    def apply_errors(self, error: DomainError) -> None:
        """Put each problem at its field, those of metadata at its text."""
        general: list[tuple[str, str]] = [] if error.problems else [("", error.message)]
        fields: dict[str, Any] = {
            "firstName": self.first_name,
            "lastName": self.last_name,
            "phone": self.phone,
            "email": self.email,
            "status": self.status,
        }
        fields |= {
            f"externalIds.{key}": field for key, field in zip(self.keys, self.external, strict=True)
        }
        unreadable = (
            [self.unreadable] if self.unreadable and self.unreadable not in error.problems else []
        )
        for problem in (*error.problems, *unreadable):
            is_metadata = problem.field.startswith("contactMetadata")
            field = self.more if is_metadata else fields.get(problem.field)
            if field is None:
                general.append(("", problem.message))
                continue
            key = problem.field.partition(".")[2] if is_metadata else ""
            message = problem.message
            if key:
                message = gettext("%(name)s: %(problem)s", name=key, problem=message)
            field.errors = (*field.errors, message)
        self.problems = general


def form_for(keys: Sequence[str]) -> type[ContactForm]:
    """Return the form with a field for each external-id key."""
    fields = {
        f"{_KEY_PREFIX}{index}": StringField(
            key,
            filters=[without_nul],
            render_kw={"maxlength": MAX_EXTERNAL_ID_VALUE, "autocomplete": "off"},
        )
        for index, key in enumerate(keys)
    }
    return type("FormOfCampaign", (ContactForm,), {**fields, "keys": tuple(keys)})


def showing(keys: Sequence[str], contact: StoredContact) -> ContactForm:
    data = {
        "first_name": contact.first_name or "",
        "last_name": contact.last_name or "",
        "phone": contact.phone or "",
        "email": contact.email or "",
        "status": contact.status or "",
        "version": version_of(contact),
        "more": "\n".join(
            f"{name} = {_escape(metadata_text(value))}"
            for name, value in contact.contact_metadata.items()
            if _fits_on_line(name)
        ),
    }
    data |= {f"{_KEY_PREFIX}{n}": contact.external_ids.get(key, "") for n, key in enumerate(keys)}
    return form_for(keys).from_object(data=data)


def metadata_text(value: Any) -> str:
    """Return a metadata value as users see it."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _fits_on_line(name: str) -> bool:
    return name == name.strip() and not set("=\r\n") & set(name)


def _convert_like(previous: Any, text: str) -> Any:
    """Return the text as the type of the previous value, if possible."""
    if isinstance(previous, bool):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(previous, int | float) and text:
        for kind in (int, float):
            try:
                number = kind(text)
            except ValueError:
                continue
            return number if number == number and abs(number) < 2**63 else text  # noqa: PLR0124 - NaN
    return text


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\r", "").replace("\n", "\\n")


def _unescape(text: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))


class ConsentForm(PortalForm):
    consent = RadioField(
        lazy_gettext("May they be called?"),
        choices=[
            SelectChoice("yes", lazy_gettext("Yes, they gave consent")),
            SelectChoice("no", lazy_gettext("No, they refused or withdrew it")),
        ],
        default="yes",
    )
    source = StringField(
        lazy_gettext("Source"),
        filters=[without_nul],
        render_kw={"maxlength": 200, "autocomplete": "off"},
    )

    def to_metadata(self) -> dict[str, Any]:
        """Return the consent as metadata of the contact, given now."""
        return {
            consent.KEY: self.consent.data,
            consent.SOURCE_KEY: (self.source.data or "").strip() or caller().label,
            consent.AT_KEY: utcnow().isoformat(timespec="seconds"),
        }
