"""Section 2 of the contract as data: class -> field -> its row in the contract."""

from dataclasses import dataclass
from typing import Any

NO_DEFAULT = object()


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A row of the contract's tables."""

    type: str = "string"
    format: str | None = None
    nullable: bool = False
    required: bool = False
    default: Any = NO_DEFAULT
    enum: tuple[str, ...] | None = None
    of: str | None = None


TEXT = DeclaredType()
NULLABLE = DeclaredType(nullable=True)
UUID = DeclaredType(format="uuid")
MOMENT = DeclaredType(format="date-time")
NULLABLE_MOMENT = DeclaredType(format="date-time", nullable=True)
NULLABLE_UUID = DeclaredType(format="uuid", nullable=True)
FLAG = DeclaredType(type="boolean")
NUMBER = DeclaredType(type="integer")
OBJECT = DeclaredType(type="object", nullable=True)
OFF = DeclaredType(type="boolean", default=False)
TIERS = ("customerFreePlan", "customerBasicPlan", "customerPlusPlan")
ALL_TIERS = (*TIERS, "customerBasicFreeTrialPlan")
USER_TYPES = ("standard", "admin", "partnerAdmin", "partnerEditor")


def needed(says: DeclaredType = TEXT) -> DeclaredType:
    return DeclaredType(
        says.type, says.format, says.nullable, True, says.default, says.enum, says.of
    )


def many(name: str) -> DeclaredType:
    return DeclaredType(type="array", nullable=True, of=name)


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
    "defaultAgentLimit": DeclaredType(type="integer", default=1),
    "productName": DeclaredType(default="AI Receptionist"),
}

TABLES: dict[str, dict[str, DeclaredType]] = {
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
        "type": needed(
            DeclaredType(enum=("facebook", "twitter", "linkedin", "instagram", "youtube"))
        ),
        "url": needed(),
    },
    "SiteImage": {
        "id": UUID,
        "type": needed(DeclaredType(enum=("logo", "hero", "favicon"))),
        "imageUrl": needed(),
    },
    "Pricing": {
        "id": UUID,
        "tier": needed(DeclaredType(enum=TIERS)),
        "processorPriceId": needed(),
        "processorProductId": needed(),
    },
    "User": {
        "id": needed(UUID),
        "email": needed(DeclaredType(format="email")),
        "name": NULLABLE,
        "adminOwned": OFF,
        "createdAt": needed(MOMENT),
        "updatedAt": needed(MOMENT),
        "unsubscribe": DeclaredType(type="boolean", default=True),
        "lastSession": NULLABLE_MOMENT,
        "idpUid": NULLABLE,
        "orgId": NULLABLE_UUID,
        "lastLogin": NULLABLE_MOMENT,
        "status": DeclaredType(default="active"),
    },
    "CreateUserInput": {
        "email": needed(DeclaredType(format="email")),
        "userType": needed(DeclaredType(enum=USER_TYPES)),
        "tier": DeclaredType(nullable=True, enum=ALL_TIERS),
        "businessName": NULLABLE,
        "service": NULLABLE,
        "agentTimezone": NULLABLE,
    },
    "CreatePartialUserInput": {
        "email": needed(DeclaredType(format="email")),
        "orgId": needed(UUID),
        "name": NULLABLE,
    },
    "UpdateUserInput": {
        "paymentTier": DeclaredType(nullable=True, enum=ALL_TIERS),
        "email": DeclaredType(format="email", nullable=True),
    },
    "CreateAdminInput": {"email": needed(DeclaredType(format="email"))},
    "Organization": {
        "id": needed(UUID),
        "createdDate": needed(MOMENT),
        "referralCode": NULLABLE,
        "referredByCode": NULLABLE,
        "paymentTier": DeclaredType(nullable=True, default="customerFreePlan", enum=ALL_TIERS),
        "processorCustomerId": NULLABLE,
        "referralPromoUsed": NULLABLE,
        "referralUICustomization": OBJECT,
        "adminOwned": OFF,
        "partnerId": NULLABLE_UUID,
        "tempDemoOrg": OFF,
        "agentLimit": DeclaredType(type="integer", default=1),
        "userLimit": DeclaredType(type="integer", default=1),
    },
    "UpdateOrganizationInput": {
        "paymentTier": DeclaredType(enum=ALL_TIERS),
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
        "details": DeclaredType(type="ErrorDetails"),
    },
    "LegacyCallInput": {
        "name": needed(),
        "toPhoneNumber": needed(),
        "fromPhoneNumber": needed(),
        "introNotes": TEXT,
        "introMessage": TEXT,
        "introVoicemail": TEXT,
        "formInfo": DeclaredType(type="array", of="object"),
    },
    "OutboundCallInput": {
        "agentId": needed(),
        "contact": needed(DeclaredType(type="CallContact")),
        "metadata": DeclaredType(type="object"),
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
        "contacts": needed(DeclaredType(type="array", of="CampaignContact")),
        "action": DeclaredType(default="upsert", enum=("upsert", "updateOnly", "remove")),
        "externalIdKey": TEXT,
        "externalIdValue": TEXT,
    },
    "PartnerAdminReport": {
        "userCount": needed(NUMBER),
        "userCountByTier": needed(DeclaredType(type="object")),
        "users": needed(DeclaredType(type="array", of="ReportUser")),
    },
    "ReportUser": {
        "id": needed(UUID),
        "email": needed(DeclaredType(format="email")),
        "signUpDate": needed(MOMENT),
        "businessName": needed(DeclaredType(type="array", of="string")),
        "paymentTier": needed(),
        "conversations": needed(NUMBER),
    },
    "PricingOption": {
        "cost": needed(DeclaredType(type="number")),
        "currency": needed(),
        "paymentTier": needed(),
        "name": needed(),
    },
    "SubscriptionInfo": {
        "userEmail": DeclaredType(format="email", nullable=True),
        "organizationId": needed(UUID),
        "subscriptionPlan": needed(DeclaredType(type="SubscriptionPlan")),
    },
    "SubscriptionPlan": {
        "name": needed(),
        "startDate": NULLABLE_MOMENT,
        "agentLimit": needed(NUMBER),
        "userLimit": needed(DeclaredType(type="UserLimit")),
    },
    "UserLimit": {"value": needed(NUMBER), "isUnlimited": needed(FLAG)},
    "UsageInfo": {
        "userId": NULLABLE_UUID,
        "userEmail": DeclaredType(format="email", nullable=True),
        "organizationId": needed(UUID),
        "totalAgentsCreated": needed(NUMBER),
        "totalUsersCreated": needed(NUMBER),
        "usage": needed(DeclaredType(type="Usage")),
    },
    "Usage": {
        "conversations": needed(NUMBER),
        "lastUpdatedDate": NULLABLE_MOMENT,
        "requestedDateRange": needed(DeclaredType(type="DateRange")),
    },
    "DateRange": {"start": needed(MOMENT), "end": needed(MOMENT)},
}
