"""The forms of an assistant and of its external id keys."""

from typing import Any

from wtforms import (
    BooleanField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TelField,
    TextAreaField,
)

from app.errors import DomainError
from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.languages.dates import NO_BREAK
from app.models import Assistant, Organization
from app.portal.web.fields import OnceField, VersionField
from app.portal.web.formats import phone
from app.portal.web.forms import PortalForm
from app.portal.web.organization_choice import OfOrganization, is_refreshed
from app.portal.web.zone_choices import zone_choices
from app.services.assistants import settings
from app.services.assistants.settings import MAX_KEY, MAX_NAME, MAX_TEXT, AssistantFields

_LIMIT_REACHED = "agent_limit_reached"
IDENTIFIES, ROUTES = "identifies", "routes"
MEANINGS = {
    IDENTIFIES: lazy_gettext("Identifies the contact"),
    ROUTES: lazy_gettext("Routes to a CRM account"),
}
MEANING_HINTS = {
    IDENTIFIES: lazy_gettext(
        "Each value belongs to one contact of a campaign. Sending it again updates that contact."
    ),
    ROUTES: lazy_gettext("Many contacts may share a value, such as a CRM account."),
}


class AssistantForm(PortalForm):
    once = OnceField()
    version = VersionField()
    name = StringField(
        lazy_gettext("Name"), render_kw={"maxlength": MAX_NAME, "autocomplete": "off"}
    )
    service = StringField(
        lazy_gettext("Service"), render_kw={"maxlength": MAX_NAME, "autocomplete": "off"}
    )
    timezone = SelectField(lazy_gettext("Time zone"), validate_choice=False)
    active = BooleanField(lazy_gettext("Switched on"), default=True)
    phone_number = TelField(
        lazy_gettext("Phone number"), render_kw={"maxlength": 40, "autocomplete": "off"}
    )
    phone_enabled = BooleanField(lazy_gettext("Calls from its number"))
    phone_configured = BooleanField(lazy_gettext("The number is set up with the carrier"))
    default_intro = TextAreaField(lazy_gettext("Intro"), render_kw={"maxlength": MAX_TEXT})
    default_voicemail = TextAreaField(
        lazy_gettext("Voicemail message"), render_kw={"maxlength": MAX_TEXT}
    )
    voice_address = StringField(
        lazy_gettext("Voice address"),
        render_kw={"maxlength": 2000, "autocomplete": "off", "inputmode": "url"},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_for_members:
            self.phone_configured.label.text = gettext("The number is ready for calls")
        zones = zone_choices(self.timezone.data)
        self.timezone.choices = [SelectChoice("", gettext("Not set")), *zones]

    @property
    def is_for_members(self) -> bool:
        """Whether members of an organization read the form, who don't know carriers and SIP."""
        return caller().organization_id is not None

    @classmethod
    def showing(cls, assistant: Assistant) -> "AssistantForm":
        form = cls.from_object(obj=assistant)
        for field in form:
            if field.data is None:
                field.data = ""
        if "phone_number" in form and form.phone_number.data:
            form.phone_number.data = phone(form.phone_number.data).replace(NO_BREAK, " ")
        return form

    @property
    def messages(self) -> tuple[str | None, ...]:
        return self.default_intro.data, self.default_voicemail.data

    def to_fields(self) -> AssistantFields:
        return AssistantFields(**self.data)


class NewAssistantForm(AssistantForm, OfOrganization):
    """The form of a new assistant, which also names its organization."""

    limit: str | None = None
    """The sentence that the organization has no place for another assistant."""

    def apply_errors(self, error: DomainError) -> None:
        """Move the message of the limit, if it is reached, into a separate notice."""
        if error.code == _LIMIT_REACHED:
            self.limit = error.message
        else:
            super().apply_errors(error)

    def selected_organization(self) -> Organization | None:
        """As the base class; without an organization, the problems of the other fields are also
        reported."""
        organization = super().selected_organization()
        if organization is None and not is_refreshed():
            self.passes(lambda: settings.check_texts(self.to_fields()))
        return organization

    def to_fields(self) -> AssistantFields:
        return AssistantFields(**{k: v for k, v in self.data.items() if k != "organization"})


class KeyForm(PortalForm):
    once = OnceField()
    key = StringField(lazy_gettext("Key"), render_kw={"maxlength": MAX_KEY, "autocomplete": "off"})
    meaning = RadioField(
        lazy_gettext("What a value means"),
        choices=[SelectChoice(value, words) for value, words in MEANINGS.items()],
        default=ROUTES,
    )

    @property
    def identifies(self) -> bool:
        return bool(self.meaning.data == IDENTIFIES)
