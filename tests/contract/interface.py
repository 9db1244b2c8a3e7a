"""The tables of the interface (contract, sections 2 and 4) as data; of Areas B and C the lines
of section 4 stand with their tests.

A field is written ``"type flags"``: the type, then ``?`` where null is allowed, ``!`` where it is
required, ``=value`` for its default. Types are ``uuid date-time email date string boolean integer
number object any``, an object of the contract by its name, ``[]`` before a type for a list of it,
and ``{}`` for an object whose values have that type. Closed lists are in `ENUMS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.contract.interface_calls import CALL_ADDED, CALL_ENUMS, CALL_OBJECTS

ANY_TIER = (
    "customerFreePlan",
    "customerBasicPlan",
    "customerPlusPlan",
    "customerBasicFreeTrialPlan",
)

_PARTNER_FIELDS = {
    "partnerName": "string!",
    "logoImgUrl": "string?",
    "showBrandingToggle": "boolean=False",
    "showCharacterToggle": "boolean=False",
    "domain": "string?",
    "defaultAgentName": "string?",
    "defaultService": "string?",
    "brandUIColors": "[]BrandUIColor?",
    "customHeaderLinks": "[]PartnerHeaderLink?",
    "socialLinks": "[]PartnerSocialLink?",
    "showEmbeddedChat": "boolean=False",
    "chatAgentId": "string?",
    "chatTemplateColors": "object?",
    "billingEmail": "string?",
    "supportEmail": "string?",
    "notificationEmail": "string?",
    "emailDomain": "string?",
    "pricing": "[]Pricing?",
    "partnerType": "string?",
    "siteImages": "[]SiteImage?",
    "paymentMethodId": "string?",
    "partnerRedirectLink": "string?",
    "partnerUpgradeMessage": "string?",
    "collectionEmail": "string?",
    "trackingEmail": "string?",
    "purchaseLink": "string?",
    "defaultAgentLimit": "integer=1",
    "demoLink": "string?",
    "productName": "string='AI Receptionist'",
    "allowedQueryParams": "object?",
}

OBJECTS: Mapping[str, Mapping[str, str]] = {
    "Partner": {
        "id": "uuid!",
        "createdDate": "date-time!",
        "updatedDate": "date-time!",
        **_PARTNER_FIELDS,
        "processorCollectionCustomerId": "string?",
        "processorTrackingCustomerId": "string?",
    },
    "CreatePartnerInput": _PARTNER_FIELDS,
    "UpdatePartnerInput": {
        name: kind.split("=")[0].rstrip("!") for name, kind in _PARTNER_FIELDS.items()
    },
    "BrandUIColor": {"id": "uuid", "name": "string!", "value": "string!"},
    "PartnerHeaderLink": {"id": "uuid", "label": "string!", "url": "string!"},
    "PartnerSocialLink": {"id": "uuid", "type": "string!", "url": "string!"},
    "SiteImage": {"id": "uuid", "type": "string!", "imageUrl": "string!"},
    "Pricing": {
        "id": "uuid",
        "tier": "string!",
        "processorPriceId": "string!",
        "processorProductId": "string!",
    },
    "User": {
        "id": "uuid!",
        "email": "email!",
        "name": "string?",
        "adminOwned": "boolean=False",
        "createdAt": "date-time!",
        "updatedAt": "date-time!",
        "unsubscribe": "boolean=True",
        "lastSession": "date-time?",
        "idpUid": "string?",
        "orgId": "uuid?",
        "lastLogin": "date-time?",
        "status": "string='active'",
    },
    "CreateUserInput": {
        "email": "email!",
        "userType": "string!",
        "tier": "string?",
        "businessName": "string?",
        "service": "string?",
        "agentTimezone": "string?",
    },
    "CreatePartialUserInput": {"email": "email!", "orgId": "uuid!", "name": "string?"},
    "UpdateUserInput": {"paymentTier": "string?", "email": "email?"},
    "CreateAdminInput": {"email": "email!"},
    "Organization": {
        "id": "uuid!",
        "createdDate": "date-time!",
        "referralCode": "string?",
        "referredByCode": "string?",
        "paymentTier": "string?='customerFreePlan'",
        "processorCustomerId": "string?",
        "referralPromoUsed": "string?",
        "referralUICustomization": "object?",
        "adminOwned": "boolean=False",
        "partnerId": "uuid?",
        "tempDemoOrg": "boolean=False",
        "agentLimit": "integer=1",
        "userLimit": "integer=1",
    },
    "UpdateOrganizationInput": {
        "paymentTier": "string",
        "referralCode": "string?",
        "referredByCode": "string?",
        "agentLimit": "integer",
        "userLimit": "integer",
    },
    "PartnerAdminReport": {
        "userCount": "integer!",
        "userCountByTier": "{}integer!",
        "users": "[]ReportUser!",
    },
    "ReportUser": {
        "id": "uuid!",
        "email": "email!",
        "signUpDate": "date-time!",
        "businessName": "[]string!",
        "paymentTier": "string!",
        "conversations": "integer!",
    },
    "PricingOption": {
        "cost": "number!",
        "currency": "string!",
        "paymentTier": "string!",
        "name": "string!",
    },
    "SubscriptionInfo": {
        "userEmail": "email?",
        "organizationId": "uuid!",
        "subscriptionPlan": "SubscriptionPlan!",
    },
    "SubscriptionPlan": {
        "name": "string!",
        "startDate": "date-time?",
        "agentLimit": "integer!",
        "userLimit": "UserLimit!",
    },
    "UserLimit": {"value": "integer!", "isUnlimited": "boolean!"},
    "UsageInfo": {
        "userId": "uuid?",
        "userEmail": "email?",
        "organizationId": "uuid!",
        "totalAgentsCreated": "integer!",
        "totalUsersCreated": "integer!",
        "usage": "Usage!",
    },
    "Usage": {
        "conversations": "integer!",
        "lastUpdatedDate": "date-time?",
        "requestedDateRange": "DateRange!",
    },
    "DateRange": {"start": "date-time!", "end": "date-time!"},
    "Message": {"message": "string!"},
    "Error": {"statusCode": "integer!", "message": "string!", "details": "object"},
    **CALL_OBJECTS,
}

ENUMS: Mapping[tuple[str, str], Sequence[str]] = {
    ("PartnerSocialLink", "type"): ("facebook", "twitter", "linkedin", "instagram", "youtube"),
    ("SiteImage", "type"): ("logo", "hero", "favicon"),
    ("Pricing", "tier"): ANY_TIER[:3],
    ("CreateUserInput", "userType"): ("standard", "admin", "partnerAdmin", "partnerEditor"),
    ("CreateUserInput", "tier"): ANY_TIER,
    ("UpdateUserInput", "paymentTier"): ANY_TIER,
    ("Organization", "paymentTier"): ANY_TIER,
    ("UpdateOrganizationInput", "paymentTier"): ANY_TIER,
    **CALL_ENUMS,
}

ADDED: Mapping[str, set[str]] = {"User": {"userType"}, "Organization": {"name"}, **CALL_ADDED}
"""Fields that docs/decisions adds to the contract."""


@dataclass(frozen=True)
class Kind:
    """A field's kind, taken apart."""

    type: str
    is_list: bool
    is_map: bool
    nullable: bool
    required: bool
    default: Any
    has_default: bool


def kind_of(written: str) -> Kind:
    rest, has_default, default = written.partition("=")
    required, nullable = "!" in rest, "?" in rest
    rest = rest.rstrip("!?")
    return Kind(
        type=rest.removeprefix("[]").removeprefix("{}"),
        is_list=rest.startswith("[]"),
        is_map=rest.startswith("{}"),
        nullable=nullable,
        required=required,
        default=eval(default, {}) if has_default else None,  # noqa: S307 - a literal of this very file
        has_default=bool(has_default),
    )


@dataclass(frozen=True)
class Operation:
    """A line of section 4.1; ``answer`` is the object, ``[]`` before it for an array."""

    method: str
    path: str
    body: str | None
    query: Mapping[str, str]
    answer: str
    statuses: frozenset[int]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


def _operation(
    line: str, answer: str, *statuses: int, body: str | None = None, **query: str
) -> Operation:
    method, path = line.split()
    return Operation(method, path, body, query, answer, frozenset({200, *statuses}))


_PARTNER, _ORGANIZATION = "/api/partners/{partnerId}", "/organizations/{organizationId}"
_SELECTORS: dict[str, Any] = {"organizationId": "uuid", "userEmail": "email"}

OPERATIONS: Sequence[Operation] = (
    _operation("GET /api/partners", "[]Partner", 400, 401, 404, domain="string", name="string"),
    _operation("POST /api/partners", "Partner", 400, 401, body="CreatePartnerInput"),
    _operation(f"GET {_PARTNER}", "Partner", 400, 401, 404),
    _operation(f"PUT {_PARTNER}", "Partner", 400, 401, 404, body="UpdatePartnerInput"),
    _operation(f"GET {_PARTNER}/users", "[]User", 400, 401, 404),
    _operation(f"POST {_PARTNER}/users", "User", 400, 401, 404, body="CreateUserInput"),
    _operation(f"GET {_PARTNER}/organizations", "[]Organization", 400, 401, 404),
    _operation(f"GET {_PARTNER}{_ORGANIZATION}/users", "[]User", 400, 401, 404),
    _operation(
        f"PUT {_PARTNER}{_ORGANIZATION}",
        "Organization",
        *(400, 401, 404),
        body="UpdateOrganizationInput",
    ),
    _operation(f"GET {_PARTNER}/admin-report", "PartnerAdminReport", 400, 401, 404),
    _operation(f"GET {_PARTNER}/pricing", "[]PricingOption", 400, 401, 404),
    _operation("POST /api/users", "User", 400, 401, body="CreateUserInput"),
    _operation("POST /api/users/partial", "User", 400, 401, body="CreatePartialUserInput"),
    _operation("PUT /api/users/{externalUserId}", "Message", 400, 401, body="UpdateUserInput"),
    _operation("GET /api/users/subscription", "SubscriptionInfo", 400, 401, 404, **_SELECTORS),
    _operation("GET /api/users/{externalUserId}/subscription", "SubscriptionInfo", 400, 401, 404),
    _operation(
        "GET /api/users/usage",
        "UsageInfo",
        *(400, 401, 404),
        **_SELECTORS,
        startDate="date!",
        endDate="date!",
    ),
    _operation("POST /api/admins", "User", 400, 401, 404, body="CreateAdminInput"),
)
ADDED_OPERATIONS: frozenset[str] = frozenset()
"""The names of those of them that docs/decisions adds to the contract."""
