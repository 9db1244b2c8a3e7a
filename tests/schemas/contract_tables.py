"""Section 2 of the contract as data: class -> field -> its row in the contract."""

from dataclasses import dataclass
from typing import Any

NO_DEFAULT = object()


@dataclass(frozen=True, slots=True)
class Says:
    """A row of the contract's tables."""

    type: str = "string"
    format: str | None = None
    nullable: bool = False
    required: bool = False
    default: Any = NO_DEFAULT
    enum: tuple[str, ...] | None = None
    of: str | None = None


TEXT = Says()
NULLABLE = Says(nullable=True)
UUID = Says(format="uuid")
MOMENT = Says(format="date-time")
NULLABLE_MOMENT = Says(format="date-time", nullable=True)
NULLABLE_UUID = Says(format="uuid", nullable=True)
FLAG = Says(type="boolean")
NUMBER = Says(type="integer")
OBJECT = Says(type="object", nullable=True)
OFF = Says(type="boolean", default=False)
TIERS = ("customerFreePlan", "customerBasicPlan", "customerPlusPlan")
ALL_TIERS = (*TIERS, "customerBasicFreeTrialPlan")
USER_TYPES = ("standard", "admin", "partnerAdmin", "partnerEditor")


def needed(says: Says = TEXT) -> Says:
    return Says(says.type, says.format, says.nullable, True, says.default, says.enum, says.of)


def many(name: str) -> Says:
    return Says(type="array", nullable=True, of=name)


_PARTNER_NULLABLE = {
    "logoImgUrl": NULLABLE,
    "domain": NULLABLE,
    "defaultAgentName": NULLABLE,
    "defaultService": NULLABLE,
    "brandUIColors": many("BrandUIColor"),
    "customHeaderLinks": many("PartnerHeaderLink"),
    "socialLinks": many("PartnerSocialLink"),
    "chatAgentId": NULLABLE,
    "chatTemplateColors": OBJECT,
    "billingEmail": NULLABLE,
    "supportEmail": NULLABLE,
    "notificationEmail": NULLABLE,
    "emailDomain": NULLABLE,
    "pricing": many("Pricing"),
    "partnerType": NULLABLE,
    "siteImages": many("SiteImage"),
    "paymentMethodId": NULLABLE,
    "partnerRedirectLink": NULLABLE,
    "partnerUpgradeMessage": NULLABLE,
    "collectionEmail": NULLABLE,
    "trackingEmail": NULLABLE,
    "purchaseLink": NULLABLE,
    "demoLink": NULLABLE,
    "allowedQueryParams": OBJECT,
}
_PARTNER_DEFAULTS = {
    "showBrandingToggle": OFF,
    "showCharacterToggle": OFF,
    "showEmbeddedChat": OFF,
    "defaultAgentLimit": Says(type="integer", default=1),
    "productName": Says(default="AI Receptionist"),
}

TABLES: dict[str, dict[str, Says]] = {
    "Partner": {
        "id": needed(UUID),
        "createdDate": needed(MOMENT),
        "updatedDate": needed(MOMENT),
        "partnerName": needed(),
        "processorCollectionCustomerId": NULLABLE,
        "processorTrackingCustomerId": NULLABLE,
        **_PARTNER_NULLABLE,
        **_PARTNER_DEFAULTS,
    },
    "CreatePartnerInput": {"partnerName": needed(), **_PARTNER_NULLABLE, **_PARTNER_DEFAULTS},
    "UpdatePartnerInput": {
        "partnerName": TEXT,
        **_PARTNER_NULLABLE,
        "showBrandingToggle": FLAG,
        "showCharacterToggle": FLAG,
        "showEmbeddedChat": FLAG,
        "defaultAgentLimit": NUMBER,
        "productName": TEXT,
    },
    "BrandUIColor": {"id": UUID, "name": needed(), "value": needed()},
    "PartnerHeaderLink": {"id": UUID, "label": needed(), "url": needed()},
    "PartnerSocialLink": {
        "id": UUID,
        "type": needed(Says(enum=("facebook", "twitter", "linkedin", "instagram", "youtube"))),
        "url": needed(),
    },
    "SiteImage": {
        "id": UUID,
        "type": needed(Says(enum=("logo", "hero", "favicon"))),
        "imageUrl": needed(),
    },
    "Pricing": {
        "id": UUID,
        "tier": needed(Says(enum=TIERS)),
        "processorPriceId": needed(),
        "processorProductId": needed(),
    },
    "User": {
        "id": needed(UUID),
        "email": needed(Says(format="email")),
        "name": NULLABLE,
        "adminOwned": OFF,
        "createdAt": needed(MOMENT),
        "updatedAt": needed(MOMENT),
        "unsubscribe": Says(type="boolean", default=True),
        "lastSession": NULLABLE_MOMENT,
        "idpUid": NULLABLE,
        "orgId": NULLABLE_UUID,
        "lastLogin": NULLABLE_MOMENT,
        "status": Says(default="active"),
    },
    "CreateUserInput": {
        "email": needed(Says(format="email")),
        "userType": needed(Says(enum=USER_TYPES)),
        "tier": Says(nullable=True, enum=ALL_TIERS),
        "businessName": NULLABLE,
        "service": NULLABLE,
        "agentTimezone": NULLABLE,
    },
    "CreatePartialUserInput": {
        "email": needed(Says(format="email")),
        "orgId": needed(UUID),
        "name": NULLABLE,
    },
    "UpdateUserInput": {
        "paymentTier": Says(nullable=True, enum=ALL_TIERS),
        "email": Says(format="email", nullable=True),
    },
    "CreateAdminInput": {"email": needed(Says(format="email"))},
    "Organization": {
        "id": needed(UUID),
        "createdDate": needed(MOMENT),
        "referralCode": NULLABLE,
        "referredByCode": NULLABLE,
        "paymentTier": Says(nullable=True, default="customerFreePlan", enum=ALL_TIERS),
        "processorCustomerId": NULLABLE,
        "referralPromoUsed": NULLABLE,
        "referralUICustomization": OBJECT,
        "adminOwned": OFF,
        "partnerId": NULLABLE_UUID,
        "tempDemoOrg": OFF,
        "agentLimit": Says(type="integer", default=1),
        "userLimit": Says(type="integer", default=1),
    },
    "UpdateOrganizationInput": {
        "paymentTier": Says(enum=ALL_TIERS),
        "referralCode": NULLABLE,
        "referredByCode": NULLABLE,
        "agentLimit": NUMBER,
        "userLimit": NUMBER,
    },
    "TokenResponse": {
        "access_token": needed(),
        "token_type": needed(),
        "expires_in": needed(NUMBER),
        "scope": needed(),
    },
    "Error": {
        "statusCode": needed(NUMBER),
        "message": needed(),
        "details": Says(type="ErrorDetails"),
    },
    "LegacyCallInput": {
        "name": needed(),
        "toPhoneNumber": needed(),
        "fromPhoneNumber": needed(),
        "introNotes": TEXT,
        "introMessage": TEXT,
        "introVoicemail": TEXT,
        "formInfo": Says(type="array", of="object"),
    },
    "OutboundCallInput": {
        "agentId": needed(),
        "contact": needed(Says(type="CallContact")),
        "metadata": Says(type="object"),
        "introMessage": TEXT,
        "voicemailMessage": TEXT,
        "callInstructions": TEXT,
    },
    "CallContact": {
        "phoneNumber": needed(),
        "firstName": TEXT,
        "lastName": TEXT,
        "email": TEXT,
    },
    "BulkContactsInput": {
        "contacts": needed(Says(type="array", of="CampaignContact")),
        "action": Says(default="upsert", enum=("upsert", "updateOnly", "remove")),
        "externalIdKey": TEXT,
        "externalIdValue": TEXT,
    },
    "PartnerAdminReport": {
        "userCount": needed(NUMBER),
        "userCountByTier": needed(Says(type="object")),
        "users": needed(Says(type="array", of="ReportUser")),
    },
    "ReportUser": {
        "id": needed(UUID),
        "email": needed(Says(format="email")),
        "signUpDate": needed(MOMENT),
        "businessName": needed(Says(type="array", of="string")),
        "paymentTier": needed(),
        "conversations": needed(NUMBER),
    },
    "PricingOption": {
        "cost": needed(Says(type="number")),
        "currency": needed(),
        "paymentTier": needed(),
        "name": needed(),
    },
    "SubscriptionInfo": {
        "userEmail": Says(format="email", nullable=True),
        "organizationId": needed(UUID),
        "subscriptionPlan": needed(Says(type="SubscriptionPlan")),
    },
    "SubscriptionPlan": {
        "name": needed(),
        "startDate": NULLABLE_MOMENT,
        "agentLimit": needed(NUMBER),
        "userLimit": needed(Says(type="UserLimit")),
    },
    "UserLimit": {"value": needed(NUMBER), "isUnlimited": needed(FLAG)},
    "UsageInfo": {
        "userId": NULLABLE_UUID,
        "userEmail": Says(format="email", nullable=True),
        "organizationId": needed(UUID),
        "totalAgentsCreated": needed(NUMBER),
        "totalUsersCreated": needed(NUMBER),
        "usage": needed(Says(type="Usage")),
    },
    "Usage": {
        "conversations": needed(NUMBER),
        "lastUpdatedDate": NULLABLE_MOMENT,
        "requestedDateRange": needed(Says(type="DateRange")),
    },
    "DateRange": {"start": needed(MOMENT), "end": needed(MOMENT)},
}
