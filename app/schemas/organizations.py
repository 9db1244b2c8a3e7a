"""Organization and its update (contract, section 2.7)."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from app.enums import Tier
from app.schemas.base import ADDITION, Input, Resource
from app.schemas.checks import Omittable, OneOf
from app.schemas.fields import Count, Moment, Name, Uuid

AnyTier = Annotated[Tier, OneOf(*Tier)]


class Organization(Resource):
    """A customer of a partner."""

    id: Uuid
    created_date: Moment
    referral_code: str | None = None
    referred_by_code: str | None = None
    payment_tier: AnyTier | None = Tier.FREE
    processor_customer_id: str | None = None
    referral_promo_used: str | None = None
    referral_ui_customization: dict[str, Any] | None = None
    admin_owned: bool = False
    partner_id: Uuid | None = None
    temp_demo_org: bool = False
    assistant_limit: int = 1
    user_limit: int = 1
    name: Annotated[str | None, Field(json_schema_extra=ADDITION)] = None
    """Added to the contract: what people call it."""


class UpdateOrganizationInput(Input):
    """A partial change: absent keeps, null clears. A limit of 0 means no limit."""

    resource: ClassVar[type[Resource] | None] = Organization

    payment_tier: Omittable[AnyTier] = None
    referral_code: Name | None = None
    referred_by_code: Name | None = None
    assistant_limit: Omittable[Count] = None
    user_limit: Omittable[Count] = None
