"""A good request for each operation of the contract, and bad ones for each status it lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.fixtures.partner_api import PartnerApi

DAYS = "startDate=2026-05-01&endDate=2026-05-31"
EVERYTHING: Mapping[str, Any] = {
    "partnerName": "Northwind",
    "logoImgUrl": "https://northwind.example/logo.png",
    "showBrandingToggle": True,
    "showCharacterToggle": True,
    "domain": "portal.northwind.example",
    "defaultAgentName": "Nora",
    "defaultService": "dentist",
    "brandUIColors": [{"name": "primary", "value": "#7a2e6b"}],
    "customHeaderLinks": [{"label": "Help", "url": "https://northwind.example/help"}],
    "socialLinks": [{"type": "linkedin", "url": "https://linkedin.com/company/northwind"}],
    "showEmbeddedChat": True,
    "chatAgentId": "chat-1",
    "chatTemplateColors": {"header": "#fff"},
    "billingEmail": "billing@northwind.example",
    "supportEmail": "support@northwind.example",
    "notificationEmail": "news@northwind.example",
    "emailDomain": "northwind.example",
    "pricing": [
        {"tier": "customerPlusPlan", "processorPriceId": "price_1", "processorProductId": "prod_1"}
    ],
    "partnerType": "agency",
    "siteImages": [{"type": "hero", "imageUrl": "https://northwind.example/hero.png"}],
    "paymentMethodId": "pm_1",
    "partnerRedirectLink": "https://northwind.example/bye",
    "partnerUpgradeMessage": "Ask us.",
    "collectionEmail": "collect@northwind.example",
    "trackingEmail": "track@northwind.example",
    "purchaseLink": "https://northwind.example/buy",
    "defaultAgentLimit": 3,
    "demoLink": "https://northwind.example/demo",
    "productName": "Northwind Reception",
    "allowedQueryParams": {"utm_source": True},
}
"""Every field of CreatePartnerInput with a value that is not its default."""


@dataclass(frozen=True)
class Subject:
    """The ids that a request names."""

    partner: UUID
    organization: UUID
    user: UUID
    email: str


def subject_of(partner_api: PartnerApi, *, other: bool = False) -> Subject:
    tenant = partner_api.other_tenant if other else partner_api.tenant
    return Subject(tenant.partner.id, tenant.organization.id, tenant.user.id, tenant.user.email)


def good(name: str, whose: Subject) -> tuple[str, str, Any]:
    """Method, address and body of a request that succeeds for the partner of the subject."""
    method, path = name.split()
    path = (
        path.replace("{partnerId}", str(whose.partner))
        .replace("{organizationId}", str(whose.organization))
        .replace("{externalUserId}", str(whose.user))
    )
    selectors = f"organizationId={whose.organization}&userEmail={whose.email}"
    if path.endswith("/users/usage"):
        path += f"?{selectors}&{DAYS}"
    elif path == "/api/users/subscription":
        path += f"?{selectors}"
    return method, path, _body(name, whose)


def _body(name: str, whose: Subject) -> Any:
    new_user = {
        "email": "new@new.example",
        "userType": "standard",
        "tier": "customerBasicFreeTrialPlan",
        "businessName": "New",
        "service": "plumber",
        "agentTimezone": "Europe/London",
    }
    new_plan = {
        "paymentTier": "customerPlusPlan",
        "referralCode": "FRIEND",
        "referredByCode": "NORA",
        "agentLimit": 4,
        "userLimit": 0,
    }
    invited = {"email": "new@new.example", "orgId": str(whose.organization), "name": "New"}
    moved = {"paymentTier": "customerBasicPlan", "email": "moved@new.example"}
    return {
        "POST /api/partners": {**EVERYTHING, "partnerName": "Third"},
        "PUT /api/partners/{partnerId}": dict(EVERYTHING),
        "POST /api/partners/{partnerId}/users": new_user,
        "POST /api/users": new_user,
        "PUT /api/partners/{partnerId}/organizations/{organizationId}": new_plan,
        "POST /api/users/partial": invited,
        "PUT /api/users/{externalUserId}": moved,
        "POST /api/admins": {"email": "new@new.example"},
    }.get(name)


def bad(name: str, whose: Subject) -> tuple[str, str, Any]:
    """A request that the operation refuses with 400."""
    method, path, body = good(name, whose)
    if body is not None:
        return method, path, {"notAField": True}
    if "{externalUserId}" in name:
        return method, path, None
    if "{partnerId}" in name:
        return method, path.replace(str(whose.partner), "not-an-id"), None
    return method, f"{path.split('?')[0]}?page=0", None
