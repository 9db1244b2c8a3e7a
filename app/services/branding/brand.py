"""The brand as pages and mails need it, from a partner or from a draft."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.enums import ImageType, SocialType
from app.languages import gettext, language, lazy_gettext
from app.models import Partner
from app.services.partners.outside_pictures import shown_path, stored_hash

NEUTRAL_COLOUR = "#3f4a5a"
NEUTRAL_NAME = "Partner portal"
DARK_LOGO = "dark-logo"
"""The kind of the logo in dark mode, besides the types of pictures in the contract; always
uploaded."""
DEFAULT_TAGLINE = lazy_gettext("Every call answered, even the ones after hours.")
SOCIAL_NAMES: dict[str, str] = {
    SocialType.FACEBOOK: "Facebook",
    SocialType.TWITTER: "X (Twitter)",
    SocialType.LINKEDIN: "LinkedIn",
    SocialType.INSTAGRAM: "Instagram",
    SocialType.YOUTUBE: "YouTube",
}


@dataclass(frozen=True, slots=True)
class BrandLink:
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Brand:
    """Names, pictures, links and the one colour; all shades are computed from ``colour``. Pictures
    are paths: every picture is served by the portal."""

    slug: str | None
    product_name: str
    partner_name: str
    colour: str
    tagline: str | None = None
    mail_greeting: str | None = None
    texts_by_language: Mapping[str, Any] | None = None
    language: str | None = None
    logo_url: str | None = None
    dark_logo_url: str | None = None
    favicon_url: str | None = None
    hero_url: str | None = None
    header_links: tuple[BrandLink, ...] = ()
    social_links: tuple[BrandLink, ...] = ()
    support_email: str | None = None
    upgrade_message: str | None = None
    purchase_link: str | None = None
    demo_link: str | None = None
    show_powered_by: bool = False
    has_chat: bool = False
    chat_assistant_id: str | None = None
    chat_colours: Mapping[str, Any] | None = None

    @property
    def spoken_name(self) -> str:
        """The product's name; that of the neutral brand in the current language."""
        return self.product_name if self.slug else gettext("Partner portal")

    @property
    def spoken_tagline(self) -> str | None:
        """The tagline in the current language, else the one without a language."""
        return self._text("tagline") or self.tagline

    @property
    def spoken_greeting(self) -> str | None:
        """The greeting of mails in the current language, else the one without a language."""
        return self._text("mailGreeting") or self.mail_greeting

    @property
    def spoken_upgrade_message(self) -> str | None:
        """The message at a limit in the current language, else the one without a language."""
        return self._text("upgradeMessage") or self.upgrade_message

    def _text(self, name: str) -> str | None:
        texts = (self.texts_by_language or {}).get(language()) or {}
        text: str | None = texts.get(name)
        return text

    @property
    def show_chat(self) -> bool:
        """Whether visitors see the chat: its messages go to the support address."""
        return self.has_chat and bool(self.chat_assistant_id) and bool(self.support_email)


NEUTRAL = Brand(
    slug=None, product_name=NEUTRAL_NAME, partner_name=NEUTRAL_NAME, colour=NEUTRAL_COLOUR
)
"""The brand if no partner is known: unknown hosts, operators, no database."""


def of_partner(partner: Partner) -> Brand:
    images = {image.type.value: image.image_url for image in reversed(partner.site_images)}
    logo = partner.logo_img_url or images.get("logo")
    return Brand(
        slug=partner.slug,
        product_name=partner.product_name,
        partner_name=partner.name,
        colour=primary_colour([(c.name, c.value) for c in partner.brand_colors]),
        tagline=partner.tagline,
        mail_greeting=partner.mail_greeting,
        texts_by_language=partner.texts_by_language,
        language=partner.language,
        **_picture_urls(partner, {**images, "logo": logo, DARK_LOGO: partner.dark_logo_url}),
        header_links=tuple(BrandLink(link.label, link.url) for link in partner.header_links),
        social_links=tuple(
            BrandLink(SOCIAL_NAMES[link.type], link.url) for link in partner.social_links
        ),
        support_email=partner.support_email,
        upgrade_message=partner.partner_upgrade_message,
        purchase_link=partner.purchase_link,
        demo_link=partner.demo_link,
        show_powered_by=partner.show_branding_toggle,
        has_chat=partner.show_embedded_chat,
        chat_assistant_id=partner.chat_assistant_id,
        chat_colours=partner.chat_template_colors,
    )


MAX_STORED = 2_000
_kept: dict[tuple[UUID, int, datetime], Brand] = {}


def cached_brand(partner: Partner) -> Brand:
    """As `of_partner`, cached: the lists of a partner that hasn't changed aren't loaded again.
    Brands with pictures on other hosts are not cached, because their copies change."""
    key = partner.id, partner.version, partner.updated_at
    brand = _kept.get(key)
    if brand is None:
        brand = of_partner(partner)
        pictures = [image.image_url for image in partner.site_images]
        pictures += filter(None, [partner.logo_img_url, partner.dark_logo_url])
        if all(stored_hash(url) is not None for url in pictures):
            if len(_kept) >= MAX_STORED:
                _kept.clear()
            _kept[key] = brand
    return brand


def picture_urls(content: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the URLs of a draft's pictures, as they were uploaded or sent."""
    images = {image["type"]: image["imageUrl"] for image in reversed(content["siteImages"] or [])}
    return {
        **dict.fromkeys(ImageType),
        **images,
        "logo": content["logoImgUrl"] or images.get("logo"),
        DARK_LOGO: content.get("darkLogoUrl"),
    }


def of_content(partner: Partner, content: Mapping[str, Any]) -> Brand:
    """Return the brand of a draft's content (brand fields in the contract's names)."""
    return Brand(
        slug=partner.slug,
        product_name=content["productName"],
        partner_name=partner.name,
        colour=primary_colour([(c["name"], c["value"]) for c in content["brandUIColors"] or []]),
        tagline=content.get("tagline"),
        mail_greeting=content.get("mailGreeting"),
        texts_by_language=content.get("textsByLanguage"),
        language=partner.language,
        **_picture_urls(partner, picture_urls(content)),
        header_links=tuple(
            BrandLink(x["label"], x["url"]) for x in content["customHeaderLinks"] or []
        ),
        social_links=tuple(
            BrandLink(SOCIAL_NAMES[x["type"]], x["url"]) for x in content["socialLinks"] or []
        ),
        support_email=partner.support_email,
        upgrade_message=content["partnerUpgradeMessage"],
        purchase_link=partner.purchase_link,
        demo_link=content["demoLink"],
        show_powered_by=content["showBrandingToggle"],
        has_chat=content["showEmbeddedChat"],
        chat_assistant_id=content["chatAgentId"],
        chat_colours=content["chatTemplateColors"],
    )


def _picture_urls(partner: Partner, urls: Mapping[str, str | None]) -> dict[str, str | None]:
    paths = {kind: shown_path(partner, kind, urls.get(kind)) for kind in ImageType}
    return {
        **{f"{kind}_url": path for kind, path in paths.items()},
        "dark_logo_url": shown_path(partner, ImageType.LOGO, urls[DARK_LOGO]),
    }


def primary_colour(colours: list[tuple[str, str]]) -> str:
    """Return the colour named "primary" (in any case), otherwise the first, otherwise the neutral
    one."""
    named = [value for name, value in colours if name.strip().casefold() == "primary"]
    return next(iter(named + [value for _, value in colours]), NEUTRAL_COLOUR)
