"""Single outbound calls (contract, section 2.10) and their reads (docs/decisions/calls.md)."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from app.enums import AnsweredBy, CallStatus, EndedReason
from app.schemas.base import ADDITION, LenientInput, Resource
from app.schemas.checks import Omittable, OneOf
from app.schemas.fields import E164, LongWords, Metadata, Moment, Short, StoredMetadata, Uuid, Words
from app.schemas.paging import CursorQuery


def _trim(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _empty_is_absent(value: str) -> str | None:
    return value or None


def _blank_is_absent(value: str) -> str | None:
    return value if value.strip() else None


_TRIM = BeforeValidator(_trim)  # before the length is checked
_Trimmed = Annotated[Short, _TRIM, AfterValidator(_empty_is_absent)]
_TrimmedEmail = Annotated[str, Field(max_length=254), _TRIM, AfterValidator(_empty_is_absent)]
Spoken = Annotated[Words, AfterValidator(_blank_is_absent)]
Instructions = Annotated[LongWords, AfterValidator(_blank_is_absent)]


class CallContact(LenientInput):
    """The person called. Names and email are trimmed; blank counts as absent."""

    phone_number: E164
    first_name: Omittable[_Trimmed] = None
    last_name: Omittable[_Trimmed] = None
    email: Omittable[_TrimmedEmail] = None


class OutboundCallInput(LenientInput):
    """One call. Blank messages count as absent.

    Send introMessage with voicemailMessage, or callInstructions alone."""

    assistant_id: Short
    contact: CallContact
    metadata: Omittable[Metadata] = None
    intro_message: Omittable[Spoken] = None
    voicemail_message: Omittable[Spoken] = None
    call_instructions: Omittable[Instructions] = None


class CallAccepted(Resource):
    """The answer to an accepted call."""

    success: bool
    message: str
    call_id: Annotated[Uuid, Field(json_schema_extra=ADDITION)]
    status: Annotated[Annotated[CallStatus, OneOf(*CallStatus)], Field(json_schema_extra=ADDITION)]


class CalledContact(Resource):
    phone_number: str
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None


class CallAttempt(Resource):
    """One attempt to reach the person."""

    id: Uuid
    number: int
    status: Annotated[CallStatus, OneOf(*CallStatus)]
    answered_by: Annotated[AnsweredBy, OneOf(*AnsweredBy)] | None = None
    ended_reason: Annotated[EndedReason, OneOf(*EndedReason)] | None = None
    started_at: Moment | None = None
    answered_at: Moment | None = None
    ended_at: Moment | None = None
    cost: float | None = None
    """In units of the currency, once the carrier has reported it."""
    cost_currency: str | None = None


class CallFilter(CursorQuery):
    """Filters of the call list; each is compared exactly, the number in E.164."""

    status: Omittable[Annotated[CallStatus, OneOf(*CallStatus)]] = None
    answered_by: Omittable[Annotated[AnsweredBy, OneOf(*AnsweredBy)]] = None
    ended_reason: Omittable[Annotated[EndedReason, OneOf(*EndedReason)]] = None
    phone_number: Omittable[E164] = None


class Call(Resource):
    """The current state of a call."""

    call_id: Uuid
    assistant_id: Uuid | None = None
    phone_number: str
    contact: CalledContact
    metadata: StoredMetadata
    status: Annotated[CallStatus, OneOf(*CallStatus)]
    answered_by: Annotated[AnsweredBy, OneOf(*AnsweredBy)] | None = None
    ended_reason: Annotated[EndedReason, OneOf(*EndedReason)] | None = None
    status_detail: Annotated[str | None, Field(json_schema_extra=ADDITION)] = None
    """Why the call waits, the state of its cancelling, or how it ended, as a sentence."""
    created_at: Moment
    scheduled_for: Moment | None = None
    next_attempt_at: Moment | None = None
    started_at: Moment | None = None
    answered_at: Moment | None = None
    ended_at: Moment | None = None
    attempts: list[CallAttempt]
