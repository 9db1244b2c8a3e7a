"""A requested call, and the messages that it is placed with."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from app.errors import Problem, raise_problems
from app.languages import gettext
from app.models import Assistant
from app.schemas.calls import OutboundCallInput
from app.services.calls.message_templates import fill


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A requested call. Blank texts count as absent.

    ``assistant_id`` may be any string; one that is not an assistant's id isn't found.
    """

    assistant_id: UUID | str
    phone_number: str
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    intro_message: str | None = None
    voicemail_message: str | None = None
    call_instructions: str | None = None

    @classmethod
    def of(cls, body: OutboundCallInput) -> "CallRequest":
        """Return the call that a body of Area C requests."""
        return cls(
            assistant_id=body.assistant_id,
            phone_number=body.contact.phone_number,
            first_name=body.contact.first_name,
            last_name=body.contact.last_name,
            email=body.contact.email,
            metadata=body.metadata or {},
            intro_message=body.intro_message,
            voicemail_message=body.voicemail_message,
            call_instructions=body.call_instructions,
        )

    @property
    def contact(self) -> dict[str, str]:
        """Return the contact as stored with the call, under the names of the contract."""
        fields = {
            "phoneNumber": self.phone_number,
            "firstName": clean(self.first_name),
            "lastName": clean(self.last_name),
            "email": clean(self.email),
        }
        return {name: value for name, value in fields.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The messages of a call: both texts, or instructions to write them from."""

    intro: str | None = None
    voicemail: str | None = None
    instructions: str | None = None


def clean(text: str | None) -> str | None:
    """Return the text without surrounding whitespace; None if nothing is left."""
    return (text or "").strip() or None


def messaging_problems(request: CallRequest, assistant: Assistant | None) -> list[Problem]:
    """Return the problems of the messages (docs/decisions/calls.md#messages).

    Without messages in the request, the assistant's own intro and voicemail are used.
    """
    intro = clean(request.intro_message)
    voicemail = clean(request.voicemail_message)
    instructions = clean(request.call_instructions)
    if instructions and (intro or voicemail):
        message = gettext("Send instructions alone, or an intro and a voicemail message together.")
        return [Problem("callInstructions", "messaging_conflict", message)]
    if bool(intro) != bool(voicemail):
        missing = "voicemailMessage" if intro else "introMessage"
        message = gettext("Send both the intro and the voicemail message, or neither.")
        return [Problem(missing, "messaging_incomplete", message)]
    has_own = assistant is not None and all(_assistant_texts(request, assistant))
    if not intro and not instructions and not has_own:
        message = gettext(
            "The assistant has no messages of its own. Send an intro and a voicemail message, "
            "or instructions."
        )
        return [Problem("callInstructions", "messaging_required", message)]
    return []


def texts_of(request: CallRequest, assistant: Assistant) -> CallTexts:
    """Return the messages to use; the assistant's own ones are filled with the contact's data.

    Raises `ValidationFailed` with the `messaging_problems`.
    """
    raise_problems(messaging_problems(request, assistant))
    instructions = clean(request.call_instructions)
    if instructions:
        return CallTexts(instructions=instructions)
    if clean(request.intro_message):
        return CallTexts(intro=request.intro_message, voicemail=request.voicemail_message)
    intro, voicemail = _assistant_texts(request, assistant)
    return CallTexts(intro=intro, voicemail=voicemail)


def _assistant_texts(request: CallRequest, assistant: Assistant) -> tuple[str, str]:
    """Return the assistant's intro and voicemail message for the contact; empty if it has none."""
    values = request.first_name, request.last_name, request.metadata
    intro, voicemail = assistant.default_intro or "", assistant.default_voicemail or ""
    return fill(intro, *values), fill(voicemail, *values)
