"""A partner as the contract's resource, and which of its fields a role reads and writes."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Select, literal, select, union_all
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import Role
from app.models import BrandColor, HeaderLink, Partner, Pricing, SiteImage, SocialLink
from app.models.base import Base
from app.policy.caller import Caller
from app.schemas import partners as wire
from app.schemas.base import wire_name

EDITOR_FIELDS = frozenset(
    {
        "logo_img_url",
        "site_images",
        "brand_ui_colors",
        "chat_template_colors",
        "custom_header_links",
        "social_links",
        "show_branding_toggle",
        "show_character_toggle",
        "show_embedded_chat",
        "chat_assistant_id",
        "product_name",
        "tagline",
        "mail_greeting",
        "texts_by_language",
        "dark_logo_url",
        "default_assistant_name",
        "partner_upgrade_message",
        "demo_link",
    }
)
"""Fields that a partnerEditor can write (docs/decisions/partners.md#fields-by-role)."""

BILLING_FIELDS = frozenset(
    {
        "billing_email",
        "collection_email",
        "payment_method_id",
        "processor_collection_customer_id",
        "processor_tracking_customer_id",
    }
)
"""Null for all but operators and partnerAdmins (docs/decisions/partners.md#fields-by-role)."""

COLUMNS = {"partner_name": "name", "created_date": "created_at", "updated_date": "updated_at"}
"""Fields of the contract whose columns have other names."""

LISTS: dict[str, tuple[str, type[Base], Sequence[str]]] = {
    "brand_ui_colors": ("brand_colors", BrandColor, ("name", "value")),
    "custom_header_links": ("header_links", HeaderLink, ("label", "url")),
    "social_links": ("social_links", SocialLink, ("type", "url")),
    "site_images": ("site_images", SiteImage, ("type", "image_url")),
    "pricing": ("pricing", Pricing, ("tier", "processor_price_id", "processor_product_id")),
}
"""List fields of the contract: the relationship, the model, and the fields of an entry."""

_ENTRIES: dict[str, Callable[..., Any]] = {
    "brand_ui_colors": wire.BrandUIColor,
    "custom_header_links": wire.PartnerHeaderLink,
    "social_links": wire.PartnerSocialLink,
    "site_images": wire.SiteImage,
    "pricing": wire.Pricing,
}


def to_resource(
    partner: Partner,
    caller: Caller,
    kind: type[wire.Partner] = wire.Partner,
    *,
    with_lists: bool = True,
) -> wire.Partner:
    """Return the partner as this caller sees it: hidden fields are null, and without them the
    lists, each of which takes a query. ``kind`` is `wire.BrandedPartner` for the fields that only
    the branding studio has."""
    values: dict[str, Any] = {}
    for name in kind.model_fields:
        if name in LISTS:
            values[name] = _list_entries(partner, name) if with_lists else None
        else:
            values[name] = getattr(partner, COLUMNS.get(name, name))
    if caller.role not in (Role.OPERATOR, Role.PARTNER_ADMIN):
        values |= dict.fromkeys(BILLING_FIELDS)
    return kind.model_construct(**values)


def brand_lists(session: Session, partner: Partner) -> dict[str, list[dict[str, Any]] | None]:
    """Return the lists of the brand by their names in the contract, as they were sent, without the
    ids of their entries. A read-only transaction reads them once, in one query."""
    return read_once(session, ("brand lists", partner.id), lambda: _brand_lists(session, partner))


def _brand_lists(session: Session, partner: Partner) -> dict[str, list[dict[str, Any]] | None]:
    names = [name for name in LISTS if name in EDITOR_FIELDS]
    rows = session.execute(union_all(*(_entries_query(partner, name) for name in names)))
    entries: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for name, _position, *values in sorted(rows, key=itemgetter(1)):
        fields = map(wire_name, LISTS[name][2])
        entries[name].append(dict(zip(fields, values, strict=True)))
    return {
        wire_name(name): items if items or name in partner.empty_lists else None
        for name, items in entries.items()
    }


def _entries_query(partner: Partner, name: str) -> Select[Any]:
    model: Any
    _relationship, model, fields = LISTS[name]
    columns = (getattr(model, field) for field in fields)
    return select(literal(name), model.position, *columns).where(model.partner_id == partner.id)


def _list_entries(partner: Partner, name: str) -> list[Any] | None:
    """Return a list as it was sent: an empty one is not null."""
    relationship, _model, fields = LISTS[name]
    items = getattr(partner, relationship)
    if not items and name not in partner.empty_lists:
        return None
    make = _ENTRIES[name].model_construct  # type: ignore[attr-defined]  # every entry is a pydantic class
    return [make(id=item.id, **{field: getattr(item, field) for field in fields}) for item in items]
