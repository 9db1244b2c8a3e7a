"""Partner and its sub-objects (contract, sections 2.1 to 2.4)."""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from app.enums import ImageType, SocialType, Tier
from app.schemas.base import Input, Resource
from app.schemas.checks import Omittable, OneOf
from app.schemas.fields import (
    MAX_ITEMS,
    Colour,
    Colours,
    Count,
    FilledName,
    FilledText,
    JsonObject,
    LinkUrl,
    MailAddress,
    Moment,
    Name,
    Uuid,
    WebUrl,
    Words,
)
from app.schemas.paging import PageQuery

PRODUCT_NAME = "AI Receptionist"
"""The contract's default of ``productName``."""

PricedTier = Annotated[Tier, OneOf(Tier.FREE, Tier.BASIC, Tier.PLUS)]


class BrandUIColor(Input):
    """A colour of the partner's brand. An id that is sent keeps the entry of that id."""

    id: Omittable[Uuid] = None
    name: FilledName
    value: Colour


class PartnerHeaderLink(Input):
    """A link in the head of the customers' pages."""

    id: Omittable[Uuid] = None
    label: FilledText
    url: LinkUrl


class PartnerSocialLink(Input):
    """A link to the partner's page on a social network."""

    id: Omittable[Uuid] = None
    type: Annotated[SocialType, OneOf(*SocialType)]
    url: WebUrl


class SiteImage(Input):
    """A picture of the partner's brand."""

    id: Omittable[Uuid] = None
    type: Annotated[ImageType, OneOf(*ImageType)]
    image_url: WebUrl


class Pricing(Input):
    """What the payment processor sells for one plan."""

    id: Omittable[Uuid] = None
    tier: PricedTier
    processor_price_id: FilledText
    processor_product_id: FilledText


BrandUIColors = Annotated[list[BrandUIColor], Field(max_length=MAX_ITEMS)]
HeaderLinks = Annotated[list[PartnerHeaderLink], Field(max_length=MAX_ITEMS)]
SocialLinks = Annotated[list[PartnerSocialLink], Field(max_length=MAX_ITEMS)]
SiteImages = Annotated[list[SiteImage], Field(max_length=MAX_ITEMS)]
Prices = Annotated[list[Pricing], Field(max_length=MAX_ITEMS)]


class Partner(Resource):
    """A reseller of the service."""

    id: Uuid
    created_date: Moment
    updated_date: Moment
    partner_name: str
    logo_img_url: str | None = None
    show_branding_toggle: bool = False
    show_character_toggle: bool = False
    domain: str | None = None
    default_assistant_name: str | None = None
    default_service: str | None = None
    brand_ui_colors: list[BrandUIColor] | None = None
    custom_header_links: list[PartnerHeaderLink] | None = None
    social_links: list[PartnerSocialLink] | None = None
    show_embedded_chat: bool = False
    chat_assistant_id: str | None = None
    chat_template_colors: dict[str, Any] | None = None
    billing_email: str | None = None
    support_email: str | None = None
    notification_email: str | None = None
    email_domain: str | None = None
    pricing: list[Pricing] | None = None
    partner_type: str | None = None
    site_images: list[SiteImage] | None = None
    payment_method_id: str | None = None
    partner_redirect_link: str | None = None
    partner_upgrade_message: str | None = None
    collection_email: str | None = None
    processor_collection_customer_id: str | None = None
    processor_tracking_customer_id: str | None = None
    tracking_email: str | None = None
    purchase_link: str | None = None
    default_assistant_limit: int = 1
    demo_link: str | None = None
    product_name: str = PRODUCT_NAME
    allowed_query_params: dict[str, Any] | None = None


class _PartnerInput(Input):
    """The nullable fields that creating and updating a partner share."""

    logo_img_url: WebUrl | None = None
    domain: Name | None = None
    default_assistant_name: Name | None = None
    default_service: Name | None = None
    brand_ui_colors: BrandUIColors | None = None
    custom_header_links: HeaderLinks | None = None
    social_links: SocialLinks | None = None
    chat_assistant_id: Name | None = None
    chat_template_colors: Colours | None = None
    billing_email: MailAddress | None = None
    support_email: MailAddress | None = None
    notification_email: MailAddress | None = None
    email_domain: Name | None = None
    pricing: Prices | None = None
    partner_type: Name | None = None
    site_images: SiteImages | None = None
    payment_method_id: Name | None = None
    partner_redirect_link: WebUrl | None = None
    partner_upgrade_message: Words | None = None
    collection_email: MailAddress | None = None
    tracking_email: MailAddress | None = None
    purchase_link: WebUrl | None = None
    demo_link: WebUrl | None = None
    allowed_query_params: JsonObject | None = None


class CreatePartnerInput(_PartnerInput):
    """A new partner."""

    partner_name: FilledName
    show_branding_toggle: bool = False
    show_character_toggle: bool = False
    show_embedded_chat: bool = False
    default_assistant_limit: Count = 1
    product_name: FilledName = PRODUCT_NAME


class UpdatePartnerInput(_PartnerInput):
    """A partial change: absent keeps, null clears, a list replaces the whole list."""

    resource: ClassVar[type[Resource] | None] = Partner

    partner_name: Omittable[FilledName] = None
    show_branding_toggle: Omittable[bool] = None
    show_character_toggle: Omittable[bool] = None
    show_embedded_chat: Omittable[bool] = None
    default_assistant_limit: Omittable[Count] = None
    product_name: Omittable[FilledName] = None


class BrandedPartner(Partner):
    """A partner with the fields of its brand that only the branding studio has."""

    tagline: str | None = None
    mail_greeting: str | None = None
    texts_by_language: dict[str, Any] | None = None
    dark_logo_url: str | None = None


class BrandTexts(Input):
    """The texts of a brand in one language; null shows the text without a language."""

    tagline: Name | None = None
    mail_greeting: Name | None = None
    upgrade_message: Words | None = None


class TextsByLanguage(Input):
    """The texts of a brand in each language of the portal."""

    en: BrandTexts | None = None
    de: BrandTexts | None = None
    es: BrandTexts | None = None
    fr: BrandTexts | None = None


def _as_json(texts: TextsByLanguage) -> dict[str, Any]:
    return texts.model_dump(by_alias=True, exclude_none=True)


class UpdateBrandInput(UpdatePartnerInput):
    """A change of a brand in the branding studio."""

    resource: ClassVar[type[Resource] | None] = BrandedPartner

    tagline: Name | None = None
    mail_greeting: Name | None = None
    texts_by_language: Annotated[TextsByLanguage, AfterValidator(_as_json)] | None = None
    dark_logo_url: WebUrl | None = None


class PartnerFilter(PageQuery):
    """``domain`` is compared exactly, ``name`` anywhere in the name; both ignore case."""

    domain: Omittable[Name] = None
    name: Omittable[Name] = None
