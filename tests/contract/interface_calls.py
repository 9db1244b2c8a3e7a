"""The tables of Areas B and C (contract, sections 2.9 to 2.12, 4.2 and 4.3) as data.

Written as in `interface`. The shapes that the contract leaves open are those of docs/decisions;
comments name the section.
"""

from collections.abc import Mapping, Sequence

CALL_STATES = (
    "scheduled", "queued", "dialing", "ringing", "in-progress", "completed", "busy", "no-answer",
    "failed", "canceled", "expired", "unknown",
)  # fmt: skip
ANSWERED_BY = ("human", "voicemail", "unknown")
ENDED_REASONS = (
    "completed", "voicemail", "busy", "no_answer", "rejected", "carrier_error", "number_invalid",
    "canceled", "organization_suspended", "agent_inactive", "do_not_contact", "consent_missing",
    "region_not_allowed", "trial_mode", "spend_cap_reached", "contact_ended", "expired", "unknown",
)  # fmt: skip

_COURSE = {
    "answeredBy": "string?",
    "endedReason": "string?",
    "startedAt": "date-time?",
    "answeredAt": "date-time?",
    "endedAt": "date-time?",
}
_PERSON = {"firstName": "string?", "lastName": "string?", "email": "string?"}

CALL_OBJECTS: Mapping[str, Mapping[str, str]] = {
    # 2.9; null clears a field (docs/decisions/contacts.md#fields-and-metadata)
    "CampaignContact": {
        **_PERSON,
        "phone": "string?",
        "contactMetadata": "object?",
        "status": "string?",
        "externalIdKey": "string?",
        "externalIdValue": "string?",
    },
    "BulkContactsInput": {
        "contacts": "[]CampaignContact!",
        "action": "string='upsert'",
        "externalIdKey": "string",
        "externalIdValue": "string",
    },
    "BulkResult": {
        "message": "string!",
        "success": "[]BulkSuccess!",
        "errors": "[]BulkError!",
    },
    "BulkSuccess": {"phone": "string?", "email": "string?", "action": "string!"},
    # docs/decisions/contacts.md#results
    "BulkError": {
        "index": "integer!",
        "phone": "any",
        "email": "any",
        "code": "string!",
        "field": "string?",
        "message": "string!",
        "retryable": "boolean=False",
    },
    "BulkIgnored": {"index": "integer!", "phone": "any", "email": "any", "code": "string!"},
    "StoredContact": {
        "id": "uuid!",
        **_PERSON,
        "phone": "string?",
        "contactMetadata": "object!",
        "status": "string?",
        "externalIds": "{}string!",
        "createdAt": "date-time!",
        "updatedAt": "date-time!",
    },
    "AgentInfo": {
        "id": "uuid!",
        "name": "string!",
        "active": "boolean!",
        "phone": "string?",
        "phoneReady": "boolean!",
    },
    "CampaignInfo": {
        "id": "uuid!",
        "name": "string!",
        "status": "string!",
        "externalIdKeys": "[]string!",
    },
    # 2.10
    "OutboundCallInput": {
        "agentId": "string!",
        "contact": "CallContact!",
        "metadata": "object",
        "introMessage": "string",
        "voicemailMessage": "string",
        "callInstructions": "string",
    },
    "CallContact": {
        "phoneNumber": "string!",
        "firstName": "string",
        "lastName": "string",
        "email": "string",
    },
    "CallAccepted": {"success": "boolean!", "message": "string!"},
    # docs/decisions/calls.md#reading-calls
    "Call": {
        "callId": "uuid!",
        "agentId": "uuid?",
        "phoneNumber": "string!",
        "contact": "CalledContact!",
        "metadata": "object!",
        "status": "string!",
        "createdAt": "date-time!",
        "scheduledFor": "date-time?",
        "nextAttemptAt": "date-time?",
        **_COURSE,
        "attempts": "[]CallAttempt!",
    },
    "CalledContact": {"phoneNumber": "string!", **_PERSON},
    "CallAttempt": {
        "id": "uuid!",
        "number": "integer!",
        "status": "string!",
        **_COURSE,
        "cost": "number?",
        "costCurrency": "string?",
    },
    # 2.11
    "LegacyCallInput": {
        "name": "string!",
        "toPhoneNumber": "string!",
        "fromPhoneNumber": "string!",
        "introNotes": "string",
        "introMessage": "string",
        "introVoicemail": "string",
        "formInfo": "[]object",
    },
    # docs/decisions/legacy-calls.md#responses
    "LegacyCallAnswer": {"success": "boolean!", "message": "string!", "callId": "uuid!"},
    # 2.12 and 4.2
    "TokenRequest": {
        "grant_type": "string!",
        "client_id": "string",
        "client_secret": "string",
        "scope": "string",
    },
    "TokenResponse": {
        "access_token": "string!",
        "token_type": "string!",
        "expires_in": "integer!",
        "scope": "string!",
    },
    "TokenError": {"error": "string!", "error_description": "string!"},
}

CALL_ENUMS: Mapping[tuple[str, str], Sequence[str]] = {
    ("BulkContactsInput", "action"): ("upsert", "updateOnly", "remove"),
    ("BulkSuccess", "action"): ("created", "updated", "deleted"),
    ("BulkIgnored", "code"): ("not_in_campaign", "status_ended"),
    ("CampaignInfo", "status"): ("paused", "active", "archived"),
    ("CallAccepted", "status"): CALL_STATES,
    ("TokenRequest", "grant_type"): ("client_credentials",),
    **{(name, "status"): CALL_STATES for name in ("Call", "CallAttempt")},
    **{(name, "answeredBy"): ANSWERED_BY for name in ("Call", "CallAttempt")},
    **{(name, "endedReason"): ENDED_REASONS for name in ("Call", "CallAttempt")},
}

CALL_ADDED: Mapping[str, set[str]] = {
    "BulkResult": {"ignored"},
    "BulkSuccess": {"id"},
    "Call": {"statusDetail"},
    "CallAccepted": {"callId", "status"},
}
