"""POST {phone_url}/outbound."""

from app import extensions
from app.api.legacy_calls import shadow
from app.api.legacy_calls.blueprint import blueprint
from app.api.operation import operation
from app.schemas.legacy import LegacyCallAnswer, LegacyCallInput
from app.services.legacy import calls as legacy_calls

EXAMPLE = {
    "name": "Ada Lovelace",
    "toPhoneNumber": "+12025550123",
    "fromPhoneNumber": "+12025550100",
    "introNotes": "She asked for a quote on our website yesterday.",
    "formInfo": [{"key": "city", "value": "Boston"}],
}


@blueprint.post("/outbound")
@operation(
    summary="Place one call (retired: use POST /api/v1/outbound/call)",
    description=(
        "Send introNotes, from which intro and voicemail are written, or introMessage and "
        "introVoicemail, which are spoken word for word. Unknown fields are ignored."
    ),
    body=LegacyCallInput,
    output=LegacyCallAnswer,
    example=EXAMPLE,
    deprecated=True,
    errors={
        400: {
            "messaging_required": "Neither introNotes nor introMessage with introVoicemail.",
            "messaging_incomplete": "introMessage without introVoicemail, or the reverse.",
            "messaging_conflict": "introNotes together with introMessage or introVoicemail.",
            "number_not_allowed": "toPhoneNumber may not be dialled by this organization.",
        },
        403: {
            "plan_required": "The organization is not on the Plus plan.",
            "organization_suspended": "The organization is suspended.",
            "trial_mode": (
                "The organization is in trial mode, and the number isn't verified or the day's "
                "calls are used."
            ),
        },
        404: {"agent_not_found": "No assistant of the organization has fromPhoneNumber."},
        409: {
            "agent_inactive": "The assistant is switched off.",
            "agent_phone_not_ready": "The assistant's phone or number can't be used.",
            "do_not_contact": "The number is on the do-not-call list, or its owner refused calls.",
            "consent_missing": "The organization demands consent, and none is kept.",
        },
        410: {"retired": "The area is retired and the client has no extension."},
    },
)
def place_call(body: LegacyCallInput) -> LegacyCallAnswer:
    with extensions.transaction() as session:
        shadow.compute_shadow(session, body)
        accepted = legacy_calls.place(session, extensions.caller(), body, extensions.settings())
    return LegacyCallAnswer(success=True, message=accepted.message, call_id=accepted.call_id)
