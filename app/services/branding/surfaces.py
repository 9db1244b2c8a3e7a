"""The places where a partner's brand is used, and what is still missing there."""

from dataclasses import dataclass
from enum import StrEnum

from app.enums import ImageType
from app.languages import gettext
from app.models import Partner
from app.schemas.partners import PRODUCT_NAME
from app.services.branding.brand import NEUTRAL_COLOUR, Brand, cached_brand


class StudioField(StrEnum):
    """The field at which a missing part can be added; screens turn it into a URL."""

    NAME = "product_name"
    COLOUR = "colour"
    LOGO = "logo-picture"
    FAVICON = "favicon-picture"
    HERO = "hero-picture"
    CHAT = "show_embedded_chat"
    SUPPORT = "support_email"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True)
class BrandSurface:
    """One place where customers see the brand. ``problem`` is a sentence about what is missing and
    what is shown instead; None if nothing is missing. ``shows`` is what customers then see there,
    ``preview`` the page of the studio's preview that has it."""

    name: str
    field: StudioField
    problem: str | None
    shows: str
    preview: str | None = None


def surfaces(partner: Partner, brand: Brand | None = None) -> list[BrandSurface]:
    """Return every surface, incomplete ones first. ``brand`` is a draft's; by default the published
    one is used."""
    current_brand = brand or cached_brand(partner)
    email = current_brand.support_email
    help_from = gettext("Help from %(email)s.", email=email)
    replies = gettext("Replies go to %(email)s.", email=email)
    messages = gettext("Messages go to %(email)s.", email=email)
    all_surfaces = [
        BrandSurface(
            gettext("Product name"),
            StudioField.NAME,
            _name_problem(current_brand),
            current_brand.product_name,
            "portal",
        ),
        BrandSurface(
            gettext("Sign-in page"),
            StudioField.COLOUR,
            _colour_problem(current_brand),
            _sign_in_message(current_brand),
            "sign-in",
        ),
        BrandSurface(
            gettext("Portal"),
            StudioField.LOGO,
            _logo_problem(partner, current_brand),
            gettext("Your logo."),
            "portal",
        ),
        BrandSurface(
            gettext("Browser tab"),
            StudioField.FAVICON,
            _favicon_problem(partner, current_brand),
            gettext("Your icon."),
        ),
        BrandSurface(
            gettext("Password recovery"),
            StudioField.SUPPORT,
            _recovery_problem(current_brand),
            help_from,
        ),
        BrandSurface(
            gettext("Emails"), StudioField.SUPPORT, _mails_problem(current_brand), replies, "mail"
        ),
        BrandSurface(
            gettext("Error pages"),
            StudioField.SUPPORT,
            _errors_problem(current_brand),
            help_from,
            "error",
        ),
        BrandSurface(
            gettext("Chat bubble"),
            StudioField.CHAT,
            _chat_problem(current_brand),
            messages if current_brand.has_chat else gettext("Switched off."),
            "chat" if current_brand.has_chat else None,
        ),
        BrandSurface(
            gettext("Portal domain"),
            StudioField.DOMAIN,
            _domain_problem(partner),
            gettext("%(domain)s, verified.", domain=partner.domain),
        ),
    ]
    return sorted(all_surfaces, key=lambda surface: surface.problem is None)


def missing(partner: Partner, brand: Brand | None = None) -> list[BrandSurface]:
    """Return the incomplete surfaces."""
    return [surface for surface in surfaces(partner, brand) if surface.problem]


def _name_problem(brand: Brand) -> str | None:
    if brand.product_name != PRODUCT_NAME:
        return None
    return gettext("Still “%(name)s”, the name that every portal starts with.", name=PRODUCT_NAME)


def _sign_in_message(brand: Brand) -> str:
    if brand.hero_url:
        return gettext("Your colour %(colour)s and your picture.", colour=brand.colour)
    return gettext("Your colour %(colour)s. A picture is optional.", colour=brand.colour)


def _colour_problem(brand: Brand) -> str | None:
    if brand.colour != NEUTRAL_COLOUR:
        return None
    return gettext("No brand colour yet. A neutral grey is used.")


def _logo_problem(partner: Partner, brand: Brand) -> str | None:
    if brand.logo_url:
        return None
    problem = _fetch_problem(partner, ImageType.LOGO)
    if problem is None:
        return gettext("No logo yet. Your name and its first letter are shown.")
    return gettext("%(problem)s Your name and its first letter are shown.", problem=problem)


def _favicon_problem(partner: Partner, brand: Brand) -> str | None:
    if brand.favicon_url:
        return None
    problem = _fetch_problem(partner, ImageType.FAVICON)
    if problem is None:
        return gettext("Not uploaded. The first letter on your colour is used.")
    return gettext("%(problem)s The first letter on your colour is used.", problem=problem)


def _fetch_problem(partner: Partner, kind: ImageType) -> str | None:
    for picture in partner.outside_pictures:
        if picture.kind is kind:
            return picture.problem or gettext("It is being fetched.")
    return None


def _recovery_problem(brand: Brand) -> str | None:
    if brand.support_email:
        return None
    return gettext("No support email. People who can’t sign in can’t contact you.")


def _mails_problem(brand: Brand) -> str | None:
    return None if brand.support_email else gettext("No support email. No one receives replies.")


def _errors_problem(brand: Brand) -> str | None:
    if brand.support_email:
        return None
    return gettext("No support email. They offer no way to ask for help.")


def _chat_problem(brand: Brand) -> str | None:
    if not brand.has_chat:
        return None
    if not brand.chat_assistant_id:
        return gettext("Switched on, but no assistant is chosen. It is not shown.")
    if not brand.support_email:
        return gettext(
            "Switched on, but there is no support email to send messages to. It is not shown."
        )
    return None


def _domain_problem(partner: Partner) -> str | None:
    if partner.domain is None:
        return gettext("No domain of your own. Customers use the neutral address.")
    if partner.domain_verified_at is None:
        return gettext(
            "%(domain)s is not verified yet. Customers use the neutral address until then.",
            domain=partner.domain,
        )
    return None
