"""An organization as the contract's resource."""

from app.models import Organization
from app.schemas import organizations as wire


def to_resource(organization: Organization) -> wire.Organization:
    return wire.Organization.model_construct(
        id=organization.id,
        created_date=organization.created_at,
        referral_code=organization.referral_code,
        referred_by_code=organization.referred_by_code,
        payment_tier=organization.payment_tier,
        processor_customer_id=organization.processor_customer_id,
        referral_promo_used=organization.referral_promo_used,
        referral_ui_customization=organization.referral_ui_customization,
        admin_owned=organization.admin_owned,
        partner_id=organization.partner_id,
        temp_demo_org=organization.temp_demo_org,
        assistant_limit=organization.assistant_limit,
        user_limit=organization.user_limit,
        name=organization.name,
    )
