"""The form of a test call."""

from wtforms import (
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TelField,
    TextAreaField,
)

from app.errors import DomainError
from app.models import Call
from app.portal.web.fields import OnceField
from app.portal.web.forms import PortalForm
from app.services.calls import CallRequest, Texts

MOST_WORDS = 1000
EXACT, INSTRUCTIONS, DEFAULT = "exact", "instructions", "default"
HINTS = {
    EXACT: "Both are needed.",
    INSTRUCTIONS: "The assistant writes the message.",
    DEFAULT: "The messages in the assistant’s settings.",
}


class TestCallForm(PortalForm):
    once = OnceField()
    assistant = SelectField("Assistant", validate_choice=False)
    number = TelField("Number to call", render_kw={"maxlength": 30, "autocomplete": "off"})
    name = StringField("Name", render_kw={"maxlength": 100, "autocomplete": "off"})
    message_kind = RadioField(
        "Message",
        choices=[
            SelectChoice(EXACT, "Exact intro and voicemail"),
            SelectChoice(INSTRUCTIONS, "Instructions"),
            SelectChoice(DEFAULT, "Default messages"),
        ],
        default=DEFAULT,
    )
    intro = TextAreaField("Intro", render_kw={"maxlength": MOST_WORDS})
    voicemail = TextAreaField("Voicemail", render_kw={"maxlength": MOST_WORDS})
    instructions = TextAreaField("Instructions", render_kw={"maxlength": MOST_WORDS})

    @classmethod
    def repeating(cls, call: Call) -> "TestCallForm":
        """The form that would place the same call again."""
        exact = bool(call.intro_message) and not call.call_instructions
        names = (call.contact.get("firstName"), call.contact.get("lastName"))
        return cls.from_object(
            data={
                "assistant": str(call.assistant_id),
                "number": call.phone_number,
                "name": " ".join(name for name in names if name),
                "message_kind": INSTRUCTIONS
                if call.call_instructions
                else EXACT
                if exact
                else DEFAULT,
                "intro": call.intro_message if exact else "",
                "voicemail": call.voicemail_message if exact else "",
                "instructions": call.call_instructions or "",
            }
        )

    @property
    def called_number(self) -> str:
        """The number without the spaces and marks that people write into it."""
        return (self.number.data or "").translate(str.maketrans("", "", " -.()/\u00a0"))

    @property
    def texts(self) -> Texts:
        """The words of the chosen way; what was typed for another way is left out."""
        match self.message_kind.data:
            case "exact":
                return Texts(intro=self.intro.data or None, voicemail=self.voicemail.data or None)
            case "instructions":
                return Texts(instructions=self.instructions.data or None)
            case _:
                return Texts()

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

    def apply_errors(self, error: DomainError) -> None:
        """Put each problem at its field; words that are missing, where the user chose them."""
        rest: list[tuple[str, str]] = [] if error.problems else [("", error.message)]
        fields = {
            "agentId": self.assistant,
            "contact.phoneNumber": self.number,
            "introMessage": self.intro,
            "voicemailMessage": self.voicemail,
            "callInstructions": self.instructions,
        }
        where_words_are_needed = {EXACT: self.intro, DEFAULT: self.message_kind}
        for problem in error.problems:
            field = fields.get(problem.field)
            if problem.code == "messaging_required":
                field = where_words_are_needed.get(self.message_kind.data, self.instructions)
            if field is None:
                rest.append(("", problem.message))
            else:
                field.errors = (*field.errors, problem.message)
        self.problems = rest
