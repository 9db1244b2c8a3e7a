"""Partners (resellers) and the objects that belong to their contract resource."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.enums import ImageType, SecondFactorFor, SocialType, Tier
from app.models.base import (
    Base,
    Created,
    Email,
    Id,
    Json,
    Name,
    Named,
    PartnerId,
    Short,
    Time,
    Updated,
    Url,
    enum_column,
    partial_index,
)
from app.models.brand import OutsidePicture


class Partner(Named, Base):
    """A reseller. Lists that are empty rather than null are named in ``empty_lists``."""

    __tablename__ = "partners"
    __table_args__ = (
        partial_index(
            "uq_partners_verified_domain",
            "domain_key",
            unique=True,
            where="domain_verified_at IS NOT NULL",
        ),
        CheckConstraint("default_agent_limit >= 0", name="default_agent_limit"),
    )

    id: Mapped[Id]
    slug: Mapped[Short] = mapped_column(unique=True)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
    suspended_at: Mapped[Time | None]
    trial_ended_at: Mapped[Time | None]
    """None while its organizations can call only verified numbers."""
    version: Mapped[int] = mapped_column(default=1)

    logo_img_url: Mapped[Url | None]
    show_branding_toggle: Mapped[bool] = mapped_column(default=False)
    show_character_toggle: Mapped[bool] = mapped_column(default=False)
    domain: Mapped[Name | None]
    domain_key: Mapped[Name | None] = mapped_column(index=True)
    domain_verified_at: Mapped[Time | None]
    default_assistant_name: Mapped[Name | None] = mapped_column("default_agent_name")
    default_service: Mapped[Name | None]
    show_embedded_chat: Mapped[bool] = mapped_column(default=False)
    chat_assistant_id: Mapped[Name | None] = mapped_column("chat_agent_id")
    chat_template_colors: Mapped[dict[str, Any] | None] = mapped_column(Json)
    billing_email: Mapped[Email | None]
    support_email: Mapped[Email | None]
    notification_email: Mapped[Email | None]
    sender_email: Mapped[Email | None]
    """The address that the partner's mails come from, while DNS proves its domain."""
    email_domain: Mapped[Name | None]
    partner_type: Mapped[Name | None]
    payment_method_id: Mapped[Name | None]
    partner_redirect_link: Mapped[Url | None]
    partner_upgrade_message: Mapped[str | None] = mapped_column(Text)
    collection_email: Mapped[Email | None]
    processor_collection_customer_id: Mapped[Name | None]
    processor_tracking_customer_id: Mapped[Name | None]
    tracking_email: Mapped[Email | None]
    purchase_link: Mapped[Url | None]
    default_assistant_limit: Mapped[int] = mapped_column("default_agent_limit", default=1)
    demo_link: Mapped[Url | None]
    product_name: Mapped[Name] = mapped_column(default="AI Receptionist")
    allowed_query_params: Mapped[dict[str, Any] | None] = mapped_column(Json)
    empty_lists: Mapped[list[str]] = mapped_column(Json, default=list)
    tagline: Mapped[Name | None]
    mail_greeting: Mapped[Name | None]
    texts_by_language: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """By language, the ``tagline``, ``mailGreeting`` and ``upgradeMessage`` that replace the texts
    without a language."""
    language: Mapped[Short | None]
    """The code of the language for users who have chosen none; None follows their browser."""
    dark_logo_url: Mapped[Url | None]
    retention_days: Mapped[dict[str, int] | None] = mapped_column(Json)
    """The retention in days by `RetentionKind`, shorter than the installation's; None for none."""
    storage_limit: Mapped[int | None] = mapped_column(BigInteger)
    """The limit in bytes; None is the installation's limit."""
    second_factor_for: Mapped[Short] = mapped_column(
        default=SecondFactorFor.NONE.value, server_default=SecondFactorFor.NONE.value
    )
    """A value of `SecondFactorFor`."""
    session_hours: Mapped[int | None]
    """The longest session of a user in hours; None is the installation's limit, also for the next
    column."""
    idle_minutes: Mapped[int | None]
    billing_address: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """The seller's address on statements (`app.services.billing_address`), like those of
    organizations."""
    payment_instructions: Mapped[str | None] = mapped_column(Text)
    """How customers pay statements (`app.services.payment_terms`)."""
    payment_texts: Mapped[dict[str, str] | None] = mapped_column(Json)
    """The same in other languages, by their codes."""
    payment_days: Mapped[int | None]
    """Days after which statements are due once they are issued; None if that isn't set."""

    brand_colors: Mapped[list["BrandColor"]] = relationship(
        order_by="BrandColor.position", cascade="all, delete-orphan"
    )
    header_links: Mapped[list["HeaderLink"]] = relationship(
        order_by="HeaderLink.position", cascade="all, delete-orphan"
    )
    social_links: Mapped[list["SocialLink"]] = relationship(
        order_by="SocialLink.position", cascade="all, delete-orphan"
    )
    site_images: Mapped[list["SiteImage"]] = relationship(
        order_by="SiteImage.position", cascade="all, delete-orphan"
    )
    pricing: Mapped[list["Pricing"]] = relationship(
        order_by="Pricing.position", cascade="all, delete-orphan"
    )
    outside_pictures: Mapped[list[OutsidePicture]] = relationship(
        order_by=OutsidePicture.kind, cascade="all, delete-orphan"
    )


class _PartnerItem:
    """Columns of every item of a partner's lists: an id that survives updates, and a position."""

    id: Mapped[Id]
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    position: Mapped[int] = mapped_column(default=0)


class BrandColor(_PartnerItem, Base):
    __tablename__ = "partner_brand_colors"

    name: Mapped[Name]
    value: Mapped[Short]


class HeaderLink(_PartnerItem, Base):
    __tablename__ = "partner_header_links"

    label: Mapped[Name]
    url: Mapped[Url]


class SocialLink(_PartnerItem, Base):
    __tablename__ = "partner_social_links"

    type: Mapped[SocialType] = mapped_column(enum_column(SocialType))
    url: Mapped[Url]


class SiteImage(_PartnerItem, Base):
    __tablename__ = "partner_site_images"

    type: Mapped[ImageType] = mapped_column(enum_column(ImageType))
    image_url: Mapped[Url]


class Pricing(_PartnerItem, Base):
    __tablename__ = "partner_pricing"

    tier: Mapped[Tier] = mapped_column(enum_column(Tier))
    processor_price_id: Mapped[Name]
    processor_product_id: Mapped[Name]


class PlanLimit(Base):
    """The limits of a plan for every organization on it; None means no limit."""

    __tablename__ = "plan_limits"
    __table_args__ = (
        CheckConstraint(
            "(max_calls_at_once IS NULL OR max_calls_at_once > 0) "
            "AND (max_calls_a_day IS NULL OR max_calls_a_day > 0)",
            name="positive",
        ),
    )

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    tier: Mapped[Tier] = mapped_column(enum_column(Tier), primary_key=True)
    max_calls_at_once: Mapped[int | None]
    max_calls_a_day: Mapped[int | None]
