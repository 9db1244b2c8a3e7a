"""What a call request says, and the rule for its messages."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from app.errors import Problem, ValidationFailed
from app.models import Agent
from app.schemas.calls import OutboundCallInput

MESSAGE_FIELDS = {
    "intro_message": "introMessage",
    "voicemail_message": "voicemailMessage",
    "call_instructions": "callInstructions",
}


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call as asked for, by whichever face. Blank texts count as absent.

    ``agent_id`` may be any string: what is no id of an assistant is simply not found.
    """

    agent_id: UUID | str
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
        """The call that a body of Area C asks for."""
        return cls(
            agent_id=body.agent_id,
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
        """The person as kept with the call, in the words of the contract."""
        parts = {
            "phoneNumber": self.phone_number,
            "firstName": clean(self.first_name),
            "lastName": clean(self.last_name),
            "email": clean(self.email),
        }
        return {name: value for name, value in parts.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Texts:
    """The messages of a call: both texts, or instructions to write them from."""

    intro: str | None = None
    voicemail: str | None = None
    instructions: str | None = None


def clean(text: str | None) -> str | None:
    """The text without blanks around it; None where nothing is left."""
    return (text or "").strip() or None


def messaging_problems(request: CallRequest, agent: Agent | None) -> list[Problem]:
    """What is wrong with the messages (docs/decisions/calls.md#messages).

    The assistant's own intro and voicemail stand in where none are sent.
    """
    intro = clean(request.intro_message)
    voicemail = clean(request.voicemail_message)
    instructions = clean(request.call_instructions)
    if instructions and (intro or voicemail):
        message = "Instructions stand alone, or an intro and a voicemail message go together."
        return [Problem("callInstructions", "messaging_conflict", message)]
    if bool(intro) != bool(voicemail):
        missing = "voicemailMessage" if intro else "introMessage"
        message = "The intro and the voicemail message go together: both are needed, or neither."
        return [Problem(missing, "messaging_incomplete", message)]
    has_own = agent is not None and clean(agent.default_intro) and clean(agent.default_voicemail)
    if not intro and not instructions and not has_own:
        message = (
            "The assistant has no messages of its own: an intro and a voicemail message are "
            "needed, or instructions."
        )
        return [Problem("callInstructions", "messaging_required", message)]
    return []


def texts_of(request: CallRequest, agent: Agent) -> Texts:
    """The messages to use. Raises `ValidationFailed` as `messaging_problems` says."""
    problems = messaging_problems(request, agent)
    if problems:
        raise ValidationFailed.of(*problems)
    instructions = clean(request.call_instructions)
    if instructions:
        return Texts(instructions=instructions)
    if clean(request.intro_message):
        return Texts(intro=request.intro_message, voicemail=request.voicemail_message)
    return Texts(intro=clean(agent.default_intro), voicemail=clean(agent.default_voicemail))
