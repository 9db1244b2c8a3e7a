"""Single outbound calls: POST /api/v1/outbound/call, reading and cancelling calls."""

from uuid import UUID

from flask import Response, request
from sqlalchemy.orm import Session

from app import extensions, models
from app.api.operation import RequestHeader, operation, respond
from app.api.paging import CreationCursor, cursor_listing, start_position
from app.api.public.blueprint import blueprint
from app.enums import CallSource
from app.schemas.calls import Call, CallAccepted, CallFilter, OutboundCallInput
from app.services import calls
from app.services.idempotency import KEY_PATTERN, MAX_KEY_LENGTH

TRIAL_MODE = (
    "The organization is in trial mode, and the number isn't verified or the day's calls are used."
)
NOT_FOUND = {404: {"call_not_found": "There is no such call, or it is not the key's to see."}}
EXAMPLE = {
    "agentId": "019a7c52-6f00-7c3e-9d54-0d3a1f0b7c11",
    "contact": {"phoneNumber": "+12025550123", "firstName": "Ada", "lastName": "Lovelace"},
    "metadata": {"orderNumber": "A-1017"},
    "introMessage": "Hello Ada, this is the front desk of Harbour Dental.",
    "voicemailMessage": "Hello Ada, Harbour Dental called. Please call us back. Thank you.",
}
ANSWER = {
    "success": True,
    "message": "The call is queued and will be placed shortly.",
    "callId": "019a7c55-0b1c-7d8e-8f3a-6b1d2c3e4f50",
    "status": "queued",
}
IDEMPOTENCY_KEY = RequestHeader(
    "Idempotency-Key",
    "Repeating the request with the same key within 24 hours gives the same answer and places no "
    "second call.",
    {"type": "string", "maxLength": MAX_KEY_LENGTH, "pattern": KEY_PATTERN},
)


@blueprint.post("/outbound/call")
@operation(
    summary="Schedule one outbound call",
    description=(
        "Send introMessage with voicemailMessage, or callInstructions alone; neither where the "
        "assistant has messages of its own. The call is queued after validation and placed "
        "shortly. Unknown fields are ignored."
    ),
    body=OutboundCallInput,
    output=CallAccepted,
    headers=(IDEMPOTENCY_KEY,),
    example=EXAMPLE,
    answer=ANSWER,
    errors={
        400: {
            "messaging_required": "No message, and the assistant has none of its own.",
            "messaging_incomplete": "introMessage without voicemailMessage, or the reverse.",
            "messaging_conflict": "callInstructions together with one of the other two.",
            "number_not_allowed": "The number may not be dialled by this organization.",
            "invalid_idempotency_key": "The key is not 1 to 255 printable ASCII characters.",
        },
        403: {"trial_mode": TRIAL_MODE},
        404: {"agent_not_found": "There is no such assistant in the key's organization."},
        409: {
            "agent_inactive": "The assistant is switched off.",
            "agent_phone_not_ready": "The assistant's phone or number can't be used.",
            "do_not_contact": "The number is on the do-not-call list, or its owner refused calls.",
            "consent_missing": "The organization demands consent, and none is kept.",
            "spend_cap_reached": "A spending limit of the key, organization or portal is reached.",
            "idempotency_conflict": "The key was used with another body.",
            "idempotency_in_progress": "A request with this key is still being worked on.",
        },
    },
)
def create_call(body: OutboundCallInput) -> Response:
    caller = extensions.caller()
    with extensions.transaction() as session:
        accepted = calls.schedule(
            session,
            caller,
            calls.CallRequest.of(body),
            extensions.settings().call_settings,
            source=CallSource.API,
            live=caller.live,
            idempotency_key=request.headers.get("Idempotency-Key"),
        )
    response = respond(
        CallAccepted(
            success=True,
            message=accepted.message,
            call_id=accepted.call_id,
            status=accepted.status,
        )
    )
    if accepted.replayed:
        response.headers["Idempotent-Replayed"] = "true"
    return response


@blueprint.get("/outbound/calls")
@operation(
    summary="List calls, newest first",
    query=CallFilter,
    output=list[Call],
    errors={
        400: {
            "invalid_cursor": "The cursor was not made by this list.",
            "not_allowed": "A filter has a value that calls don't have.",
            "invalid_phone": "The filter `phoneNumber` is not a phone number.",
        }
    },
    added=True,
)
def list_calls(query: CallFilter) -> Response:
    """A live key sees the calls of live keys and of the Legacy API, a test key those of test
    keys. Several filters narrow the list together."""
    cursor = start_position(query)
    with extensions.transaction(read_only=True) as session:
        page = calls.page(
            session,
            extensions.caller(),
            query,
            before=cursor.id if cursor else None,
        )
    items = [calls.describe(call, page.attempts[call.id]) for call in page.calls]
    last = page.calls[-1] if page.more else None
    return cursor_listing(items, CreationCursor(last.created_at, last.id) if last else None)


@blueprint.get("/outbound/calls/<call_id>")
@operation(summary="Read a call", output=Call, errors=NOT_FOUND, added=True)
def get_call(call_id: UUID) -> Call:
    """The status of the call, and every attempt."""
    with extensions.transaction(read_only=True) as session:
        return _describe_call(session, calls.get(session, extensions.caller(), call_id))


@blueprint.post("/outbound/calls/<call_id>/cancel")
@operation(
    summary="Cancel a call",
    output=Call,
    errors=NOT_FOUND
    | {
        409: {
            "call_ended": "The call has already ended.",
            "cancel_refused": "The call's carrier account can't be used; the call goes on.",
        }
    },
    added=True,
)
def cancel_call(call_id: UUID) -> Call:
    """A waiting call is cancelled at once. An active call is ended through the carrier after the
    answer: its status becomes `canceled` once it is over, and `statusDetail` says so if the carrier
    does not end it. Cancelling a cancelled call again isn't an error."""
    keys = extensions.settings().secret_keys
    with extensions.transaction() as session:
        return _describe_call(session, calls.cancel(session, extensions.caller(), call_id, keys))


def _describe_call(session: Session, call: models.Call) -> Call:
    return calls.describe(call, calls.attempts_of(session, [call.id])[call.id])
