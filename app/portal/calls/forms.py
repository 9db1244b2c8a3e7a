"""The form of a test call, and the fields that it shares with a campaign's plan."""

from typing import ClassVar

from wtforms import RadioField, SelectChoice, SelectField, StringField, TelField, TextAreaField

from app.languages import lazy_gettext
from app.languages.dates import NO_BREAK
from app.models import Assistant, Call
from app.portal.web.fields import OnceField
from app.portal.web.formats import phone
from app.portal.web.forms import PortalForm
from app.services.calls import CallRequest, CallTexts
from app.services.calls.message_templates import fill
from app.services.calls.request import clean
from app.services.outreach import CampaignPlan
from app.services.outreach.plans import MAX_TEXT_LENGTH

EXACT, INSTRUCTIONS, DEFAULT = "exact", "instructions", "default"
HINTS = {
    EXACT: lazy_gettext("Both are needed."),
    INSTRUCTIONS: lazy_gettext("The assistant writes the message."),
    DEFAULT: lazy_gettext("The messages in the assistant’s settings."),
}


class MessageForm(PortalForm):
    """The messages of a call: exact texts, instructions to write them from, or the
    assistant's own."""

    wire_fields: ClassVar = {
        "agentId": "assistant",
        "introMessage": "intro",
        "voicemailMessage": "voicemail",
    }

    message_kind = RadioField(
        lazy_gettext("Message"),
        choices=[
            SelectChoice(EXACT, lazy_gettext("Exact intro and voicemail")),
            SelectChoice(INSTRUCTIONS, lazy_gettext("Instructions")),
            SelectChoice(DEFAULT, lazy_gettext("Default messages")),
        ],
        default=DEFAULT,
    )
    intro = TextAreaField(lazy_gettext("Intro"), render_kw={"maxlength": MAX_TEXT_LENGTH})
    voicemail = TextAreaField(lazy_gettext("Voicemail"), render_kw={"maxlength": MAX_TEXT_LENGTH})
    instructions = TextAreaField(
        lazy_gettext("Instructions"), render_kw={"maxlength": MAX_TEXT_LENGTH}
    )

    @staticmethod
    def message_of(stored: Call | CampaignPlan) -> dict[str, str | None]:
        """Return the fields' data for the stored messages."""
        if stored.call_instructions:
            return {"message_kind": INSTRUCTIONS, "instructions": stored.call_instructions}
        if not stored.intro_message:
            return {"message_kind": DEFAULT}
        return {
            "message_kind": EXACT,
            "intro": stored.intro_message,
            "voicemail": stored.voicemail_message,
        }

    @property
    def texts(self) -> CallTexts:
        """Return the texts of the chosen kind; texts entered for another kind are left out."""
        match self.message_kind.data:
            case "exact":
                return CallTexts(intro=clean(self.intro.data), voicemail=clean(self.voicemail.data))
            case "instructions":
                return CallTexts(instructions=clean(self.instructions.data))
            case _:
                return CallTexts()

    def fields_by_wire(self) -> dict[str, str]:
        """Missing texts are reported where the user chose their kind."""
        missing = {EXACT: "intro", DEFAULT: "message_kind"}.get(
            self.message_kind.data or "", "instructions"
        )
        return super().fields_by_wire() | {"callInstructions": missing}


def typed_number(e164: str | None) -> str | None:
    """Return a number with spaces, as people write it."""
    return phone(e164).replace(NO_BREAK, " ") if e164 else None


class TestCallForm(MessageForm):
    wire_fields: ClassVar = {**MessageForm.wire_fields, "contact.phoneNumber": "number"}

    once = OnceField()
    assistant = SelectField(lazy_gettext("Assistant"), validate_choice=False)
    number = TelField(
        lazy_gettext("Number to call"), render_kw={"maxlength": 30, "autocomplete": "off"}
    )
    name = StringField(lazy_gettext("Name"), render_kw={"maxlength": 100, "autocomplete": "off"})

    @classmethod
    def repeating(cls, call: Call, assistant: Assistant) -> "TestCallForm":
        """Return the form that would place the same call again."""
        names = (call.contact.get("firstName"), call.contact.get("lastName"))
        messages = (assistant.default_intro, assistant.default_voicemail)
        default_texts = CallTexts(
            *(fill(text or "", *names, call.call_metadata) for text in messages)
        )
        stored = CallTexts(call.intro_message, call.voicemail_message, call.call_instructions)
        return cls.from_object(
            assistant=str(call.assistant_id),
            number=None if call.is_erased else typed_number(call.phone_number),
            name=" ".join(name for name in names if name),
            **{"message_kind": DEFAULT} if stored == default_texts else cls.message_of(call),
        )

    @property
    def called_number(self) -> str:
        """Return the number without spaces and punctuation."""
        return (self.number.data or "").translate(str.maketrans("", "", " -.()/\u00a0"))

    def to_request(self) -> CallRequest:
        texts = self.texts
        first, _, last = (self.name.data or "").strip().partition(" ")
        return CallRequest(
            assistant_id=self.assistant.data or "",
            phone_number=self.called_number,
            first_name=first or None,
            last_name=last or None,
            intro_message=texts.intro,
            voicemail_message=texts.voicemail,
            call_instructions=texts.instructions,
        )
