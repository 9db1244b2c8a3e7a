"""One example of each published class, for the description and the docs page.

Examples of bodies are accepted and examples of answers are complete: a test reads every one.
"""

from typing import Any

from app.api.error_codes import FIELDS
from app.schemas.base import Wire
from app.schemas.errors import CallError
from app.schemas.legacy import TokenError

_PARTNER = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"
_ORGANIZATION = "0193a5c2-7d41-7a52-8c6f-2b9e0d7c5a02"
_USER = "0193a5c2-7d42-7b93-9d10-3c8f1e6b4d03"
_AGENT = "0193a5c2-7d43-7cd4-8e21-4d9a2f5c3e04"
_CALL = "0193a5c2-7d44-7d15-9f32-5eab3a4d2f05"
_CONTACT = "0193a5c2-7d45-7e56-8a43-6fbc4b3e1a06"
_CAMPAIGN = "0193a5c2-7d46-7f97-9b54-7acd5c2f0b07"
_MOMENT = "2026-05-04T09:30:00.000Z"

_PARTNER_INPUT: dict[str, Any] = {
    "partnerName": "Northwind Voice",
    "logoImgUrl": "https://northwind.example/logo.png",
    "showBrandingToggle": True,
    "domain": "portal.northwind.example",
    "brandUIColors": [{"name": "primary", "value": "#7a2e6b"}],
    "customHeaderLinks": [{"label": "Help", "url": "https://northwind.example/help"}],
    "socialLinks": [{"type": "linkedin", "url": "https://www.linkedin.com/company/northwind"}],
    "supportEmail": "help@northwind.example",
    "productName": "Northwind Reception",
}
_USER_ANSWER: dict[str, Any] = {
    "id": _USER,
    "email": "ada@hillside.example",
    "name": "Ada Lovelace",
    "adminOwned": False,
    "createdAt": _MOMENT,
    "updatedAt": _MOMENT,
    "unsubscribe": True,
    "lastSession": None,
    "idpUid": None,
    "orgId": _ORGANIZATION,
    "lastLogin": None,
    "status": "active",
    "userType": "standard",
}
_ATTEMPT: dict[str, Any] = {
    "id": "0193a5c2-7d47-7ad8-8c65-8bde6d1a9c08",
    "number": 1,
    "status": "completed",
    "answeredBy": "human",
    "endedReason": "completed",
    "startedAt": "2026-05-04T09:30:01.000Z",
    "answeredAt": "2026-05-04T09:30:09.000Z",
    "endedAt": "2026-05-04T09:31:20.000Z",
    "cost": 0.0135,
    "costCurrency": "USD",
}

EXAMPLES: dict[str, Any] = {
    "CreatePartnerInput": _PARTNER_INPUT,
    "UpdatePartnerInput": {"productName": "Northwind Reception", "demoLink": None},
    "Partner": {
        "id": _PARTNER,
        "createdDate": _MOMENT,
        "updatedDate": _MOMENT,
        **_PARTNER_INPUT,
        "brandUIColors": [
            {
                "id": "0193a5c2-7d48-7b19-9d76-9cef7e0b8d09",
                "name": "primary",
                "value": "#7a2e6b",
            }
        ],
        "showCharacterToggle": False,
        "showEmbeddedChat": False,
        "defaultAgentLimit": 1,
    },
    "User": _USER_ANSWER,
    "CreateUserInput": {
        "email": "ada@hillside.example",
        "userType": "standard",
        "tier": "customerBasicPlan",
        "businessName": "Hillside Dental",
        "service": "Dental practice",
        "agentTimezone": "Europe/London",
    },
    "CreatePartialUserInput": {
        "email": "grace@hillside.example",
        "orgId": _ORGANIZATION,
        "name": "Grace Hopper",
    },
    "UpdateUserInput": {"paymentTier": "customerPlusPlan"},
    "CreateAdminInput": {"email": "desk@northwind.example"},
    "Message": {"message": "The user was updated."},
    "Organization": {
        "id": _ORGANIZATION,
        "createdDate": _MOMENT,
        "referralCode": "HILL20",
        "referredByCode": None,
        "paymentTier": "customerBasicPlan",
        "processorCustomerId": None,
        "referralPromoUsed": None,
        "referralUICustomization": None,
        "adminOwned": False,
        "partnerId": _PARTNER,
        "tempDemoOrg": False,
        "agentLimit": 1,
        "userLimit": 5,
        "name": "Hillside Dental",
    },
    "UpdateOrganizationInput": {"paymentTier": "customerPlusPlan", "userLimit": 5},
    "PartnerAdminReport": {
        "userCount": 1,
        "userCountByTier": {
            "customerFreePlan": 0,
            "customerBasicPlan": 1,
            "customerPlusPlan": 0,
            "customerBasicFreeTrialPlan": 0,
        },
        "users": [
            {
                "id": _USER,
                "email": "ada@hillside.example",
                "signUpDate": _MOMENT,
                "businessName": ["Hillside Dental"],
                "paymentTier": "customerBasicPlan",
                "conversations": 128,
            }
        ],
    },
    "PricingOption": {
        "cost": 49.0,
        "currency": "usd",
        "paymentTier": "customerBasicPlan",
        "name": "Basic",
    },
    "SubscriptionInfo": {
        "userEmail": "ada@hillside.example",
        "organizationId": _ORGANIZATION,
        "subscriptionPlan": {
            "name": "Basic",
            "startDate": _MOMENT,
            "agentLimit": 1,
            "userLimit": {"value": 5, "isUnlimited": False},
        },
    },
    "UsageInfo": {
        "userId": _USER,
        "userEmail": "ada@hillside.example",
        "organizationId": _ORGANIZATION,
        "totalAgentsCreated": 1,
        "totalUsersCreated": 2,
        "usage": {
            "conversations": 128,
            "lastUpdatedDate": _MOMENT,
            "requestedDateRange": {
                "start": "2026-05-01T00:00:00.000Z",
                "end": "2026-05-31T23:59:59.999Z",
            },
        },
    },
    "CampaignContact": {
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": "ada@example.com",
        "phone": "+12025550123",
        "contactMetadata": {"city": "Boston", "visits": 3},
        "status": "new",
        "externalIdKey": "crmId",
        "externalIdValue": "A-1001",
    },
    "BulkContactsInput": {
        "action": "upsert",
        "contacts": [
            {
                "firstName": "Ada",
                "phone": "+12025550123",
                "contactMetadata": {"city": "Boston"},
            },
            {"firstName": "Grace", "email": "grace@example.com"},
        ],
    },
    "BulkResult": {
        "message": "2 contacts were sent: 1 created, 0 updated, 0 deleted, 1 ignored, 0 failed.",
        "success": [{"phone": "+12025550123", "email": None, "action": "created", "id": _CONTACT}],
        "errors": [],
        "ignored": [
            {"index": 1, "phone": None, "email": "grace@example.com", "code": "status_ended"}
        ],
    },
    "StoredContact": {
        "id": _CONTACT,
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": "ada@example.com",
        "phone": "+12025550123",
        "contactMetadata": {"city": "Boston"},
        "status": "new",
        "externalIds": {"crmId": "A-1001"},
        "createdAt": _MOMENT,
        "updatedAt": _MOMENT,
    },
    "AgentInfo": {
        "id": _AGENT,
        "name": "Robin",
        "active": True,
        "phone": "+12025550100",
        "phoneReady": True,
    },
    "CampaignInfo": {
        "id": _CAMPAIGN,
        "name": "Spring check-ups",
        "status": "active",
        "externalIdKeys": ["crmId"],
    },
    "OutboundCallInput": {
        "agentId": _AGENT,
        "contact": {"phoneNumber": "+12025550123", "firstName": "Ada"},
        "metadata": {"orderId": 1234},
        "introMessage": "Hello Ada, this is Robin from Hillside Dental.",
        "voicemailMessage": "Hello Ada, Robin from Hillside Dental here. I will try again.",
    },
    "CallAccepted": {
        "success": True,
        "message": "The call is queued and will be placed shortly.",
        "callId": _CALL,
        "status": "queued",
    },
    "Call": {
        "callId": _CALL,
        "agentId": _AGENT,
        "phoneNumber": "+12025550123",
        "contact": {"phoneNumber": "+12025550123", "firstName": "Ada"},
        "metadata": {"orderId": 1234},
        "status": "completed",
        "answeredBy": "human",
        "endedReason": "completed",
        "statusDetail": None,
        "createdAt": _MOMENT,
        "scheduledFor": None,
        "nextAttemptAt": None,
        "startedAt": "2026-05-04T09:30:01.000Z",
        "answeredAt": "2026-05-04T09:30:09.000Z",
        "endedAt": "2026-05-04T09:31:20.000Z",
        "attempts": [_ATTEMPT],
    },
    "LegacyCallInput": {
        "name": "Ada Lovelace",
        "toPhoneNumber": "+12025550123",
        "fromPhoneNumber": "+12025550100",
        "introNotes": "She asked for a quote yesterday.",
        "formInfo": [{"key": "city", "value": "Boston"}],
    },
    "LegacyCallAnswer": {
        "success": True,
        "message": "The call is queued and will be placed shortly.",
        "callId": _CALL,
    },
    "TokenRequest": {
        "grant_type": "client_credentials",
        "client_id": "YOUR_CLIENT_ID",
        "client_secret": "YOUR_CLIENT_SECRET",
    },
    "RevocationRequest": {
        "token": "THE_ACCESS_TOKEN",
        "client_id": "YOUR_CLIENT_ID",
        "client_secret": "YOUR_CLIENT_SECRET",
    },
    "TokenResponse": {
        "access_token": "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFUzI1NiJ9…",
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": "partner:read users:read",
    },
}


def error_example(shape: type[Wire], status: int, code: tuple[str, str]) -> dict[str, Any]:
    """A refusal as it is answered."""
    word, message = code
    if shape is TokenError:
        return {"error": word, "error_description": message}
    errors = [{"field": "email", "code": word, "message": message}] if word in FIELDS else []
    details = {"code": word, "errors": errors, "requestId": "req_lk2Zp0Qx8vS7mN4tB1cYhA"}
    body: dict[str, Any] = {"statusCode": status, "message": message, "details": details}
    return body | {"success": False} if shape is CallError else body
