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
    "region_not_allowed", "contact_ended", "expired", "unknown",
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
