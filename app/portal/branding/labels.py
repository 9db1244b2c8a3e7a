"""Labels of brand fields, and their values for display."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from app.enums import ImageType
from app.languages import LANGUAGES, gettext, labelled, lazy_gettext
from app.models import BrandVersion
from app.portal.branding.forms import CHAT_LABELS, PRIMARY
from app.portal.web.blueprint import portal
from app.portal.web.formats import long_datetime, number
from app.services.branding.brand import DEFAULT_TAGLINE, SOCIAL_NAMES
from app.services.branding.shades import TEXT_ON_SOLID
from app.services.branding.surfaces import BrandSurface
from app.services.partners.outside_pictures import stored_hash
from app.validation.colours import is_colour, to_hex

FIELD_LABELS: dict[str, str] = {
    "productName": lazy_gettext("Product name"),
    "tagline": lazy_gettext("Tagline"),
    "mailGreeting": lazy_gettext("Greeting in emails"),
    "textsByLanguage": lazy_gettext("Texts in other languages"),
    "brandUIColors": lazy_gettext("Colours"),
    "logoImgUrl": lazy_gettext("Logo"),
    "darkLogoUrl": lazy_gettext("Dark logo"),
    "siteImages": lazy_gettext("Pictures"),
    "customHeaderLinks": lazy_gettext("Header links"),
    "socialLinks": lazy_gettext("Social links"),
    "showEmbeddedChat": lazy_gettext("Chat bubble"),
    "chatAgentId": lazy_gettext("Assistant of the chat"),
    "chatTemplateColors": lazy_gettext("Colours of the chat"),
    "showBrandingToggle": lazy_gettext("“Powered by” on customers’ pages"),
    "showCharacterToggle": lazy_gettext("Choice of the assistant’s character"),
    "defaultAgentName": lazy_gettext("Name of new assistants"),
    "partnerUpgradeMessage": lazy_gettext("Message at a limit"),
    "demoLink": lazy_gettext("Address of your demo"),
}
"""One label for each field of a draft."""

PICTURE_LABELS = {
    "logo": lazy_gettext("Logo"),
    "favicon": lazy_gettext("Favicon"),
    "hero": lazy_gettext("Sign-in picture"),
}


@dataclass(frozen=True, slots=True)
class PictureField:
    """A picture of the studio: ``shape`` is the kind whose dimensions it needs, ``alt`` its
    alternative text; the others are the labels of its buttons."""

    kind: str
    shape: str
    name: str
    hint: str
    alt: str
    upload: str
    replace: str
    fetch: str
    remove: str


PICTURE_FIELDS = (
    PictureField(
        kind="logo",
        shape="logo",
        name=PICTURE_LABELS["logo"],
        hint=lazy_gettext("Shown 28 px high, so a wide one works best."),
        alt=lazy_gettext("Your logo"),
        upload=lazy_gettext("Upload logo"),
        replace=lazy_gettext("Replace logo"),
        fetch=lazy_gettext("Fetch logo again"),
        remove=lazy_gettext("Remove logo"),
    ),
    PictureField(
        kind="dark-logo",
        shape="logo",
        name=FIELD_LABELS["darkLogoUrl"],
        hint=lazy_gettext("Used in dark mode. Without one, your logo is shown on white there."),
        alt=lazy_gettext("Your dark logo"),
        upload=lazy_gettext("Upload dark logo"),
        replace=lazy_gettext("Replace dark logo"),
        fetch=lazy_gettext("Fetch dark logo again"),
        remove=lazy_gettext("Remove dark logo"),
    ),
    PictureField(
        kind="favicon",
        shape="favicon",
        name=PICTURE_LABELS["favicon"],
        hint=lazy_gettext("The icon in the browser tab. Without one, your first letter is shown."),
        alt=lazy_gettext("Your favicon"),
        upload=lazy_gettext("Upload favicon"),
        replace=lazy_gettext("Replace favicon"),
        fetch=lazy_gettext("Fetch favicon again"),
        remove=lazy_gettext("Remove favicon"),
    ),
    PictureField(
        kind="hero",
        shape="hero",
        name=PICTURE_LABELS["hero"],
        hint=lazy_gettext("Fills the coloured side of the sign-in page."),
        alt=lazy_gettext("Your sign-in picture"),
        upload=lazy_gettext("Upload sign-in picture"),
        replace=lazy_gettext("Replace sign-in picture"),
        fetch=lazy_gettext("Fetch sign-in picture again"),
        remove=lazy_gettext("Remove sign-in picture"),
    ),
)
VERDICTS: dict[str, str] = {
    "As given": lazy_gettext("Your colour"),
    "Shade used": lazy_gettext("Shade used"),
    "Dark text": lazy_gettext("Dark text"),
}
"""Uses of a colour (`contrast_report`), for a column of their own."""
VERDICTS_IN_TEXT: dict[str, str] = {
    "As given": lazy_gettext("your colour"),
    "Shade used": lazy_gettext("shade used"),
    "Dark text": lazy_gettext("dark text"),
    "Standard": lazy_gettext("standard colour"),
}
"""Uses of a colour, for a text after a contrast."""


def latest_version_message(latest: BrandVersion | None, zone: str) -> str:
    """Return which version customers see, or that none is published yet."""
    if latest is None:
        return gettext("Nothing is published yet. Your customers see the initial settings.")
    return gettext(
        "Your customers see version %(number)s, published by %(author)s on %(moment)s.",
        number=latest.number,
        author=latest.author,
        moment=long_datetime(latest.published_at, zone),
    )


def version_message(version: BrandVersion, zone: str) -> str:
    """Return who published the version, and when; version 0 is the brand before that."""
    if not version.number:
        return gettext("What your customers saw before you first published your brand.")
    return gettext(
        "Published by %(author)s on %(moment)s.",
        author=version.author,
        moment=long_datetime(version.published_at, zone),
    )


def picture_waiting_message(kind: str) -> str:
    """Return what a page shows until the picture of another host is fetched."""
    if kind == ImageType.HERO:
        return gettext("It is being fetched. A pattern in your colour is shown until then.")
    return gettext("It is being fetched. Your first letter is shown until then.")


def picture_failed_message(kind: str, *, has_copy: bool) -> str:
    """Return what a page shows instead of a picture that couldn't be fetched."""
    if has_copy:
        return gettext("The copy fetched before is shown. Next try within an hour.")
    if kind == ImageType.HERO:
        return gettext("A pattern in your colour is shown. Next try within an hour.")
    return gettext("Your first letter is shown. Next try within an hour.")


def image_format(content_type: str) -> str:
    """Return PNG for image/png."""
    if content_type == "image/webp":
        return "WebP"
    return "SVG" if "svg" in content_type else content_type.removeprefix("image/").upper()


def contrast_message(count: int, lowest: float, *, of_draft: bool) -> str:
    """Return how many pairs of colours are checked, and the lowest contrast of a text."""
    values = {
        "count": count,
        "lowest": number(lowest, 1),
        "needed": number(TEXT_ON_SOLID, 1),
    }
    if of_draft:
        sentence = gettext(
            "%(count)s pairs of colours in two themes of the draft. Lowest text contrast: "
            "%(lowest)s : 1; needed: %(needed)s : 1.",
            **values,
        )
    else:
        sentence = gettext(
            "%(count)s pairs of colours in two themes. Lowest text contrast: %(lowest)s : 1; "
            "needed: %(needed)s : 1.",
            **values,
        )
    readable = gettext("All readable.") if lowest >= TEXT_ON_SOLID else ""
    return f"{readable} {sentence}".lstrip()


def surfaces_message(brand_surfaces: Sequence[BrandSurface], *, of_draft: bool) -> str:
    """Return how many of the places that show the brand lack nothing."""
    counts = {
        "complete": sum(surface.problem is None for surface in brand_surfaces),
        "all": len(brand_surfaces),
    }
    if of_draft:
        return gettext(
            "%(complete)s of %(all)s places are complete, including the draft.", **counts
        )
    return gettext("%(complete)s of %(all)s places are complete.", **counts)


@dataclass(frozen=True, slots=True)
class BrandValue:
    """One line of a value: text, and a colour (``#rrggbb``) or a picture's URL next to it, its
    ``path`` here if the portal serves it, and the ``kind`` of a logo, which has its own
    background."""

    text: str
    colour: str | None = None
    picture: str | None = None
    path: str | None = None
    kind: str = ""


def value_lines(name: str, value: Any, assistants: dict[str, str]) -> list[BrandValue]:
    """Return a brand field's value as lines, one per entry; ``assistants`` are the names of
    assistants by id."""
    if value is None or value in ("", [], {}):
        standard = gettext("Standard: %(tagline)s", tagline=DEFAULT_TAGLINE)
        return [BrandValue(standard if name == "tagline" else "–")]
    if isinstance(value, list):
        return [_ENTRY_FORMATS[name](item) for item in value]
    if name == "chatTemplateColors":
        return [
            _colour_value(str(CHAT_LABELS.get(area, area)), colour)
            for area, colour in value.items()
        ]
    if name == "textsByLanguage":
        return [
            BrandValue(f"{LANGUAGES[code]}: {' · '.join(_texts_in(texts))}")
            for code, texts in value.items()
        ]
    if name in _LOGOS:
        return [replace(_picture_value(str(FIELD_LABELS[name]), value), kind=_LOGOS[name])]
    return [BrandValue(_format_scalar(name, value, assistants))]


def _texts_in(texts: Mapping[str, str | Sequence[str] | None]) -> Iterator[str]:
    """Yield the texts in one language; those of a plan have a list of features."""
    for text in texts.values():
        if isinstance(text, str):
            yield from filter(None, [text])
        elif text:
            yield ", ".join(text)


def value_text(name: str, value: Any, assistants: dict[str, str]) -> str:
    return "; ".join(each.text for each in value_lines(name, value, assistants))


def _format_scalar(name: str, value: Any, assistants: dict[str, str]) -> str:
    if isinstance(value, bool):
        return gettext("On") if value else gettext("Off")
    return assistants.get(value, value) if name == "chatAgentId" else str(value)


def _colour_value(name: str, value: str) -> BrandValue:
    text = value if name.strip().casefold() == PRIMARY else labelled(name, value)
    return BrandValue(text, colour=to_hex(value) if is_colour(value) else None)


def _picture_value(name: str, url: str) -> BrandValue:
    return BrandValue(name, picture=url, path=urlsplit(url).path if stored_hash(url) else None)


_ENTRY_FORMATS: dict[str, Callable[[dict[str, str]], BrandValue]] = {
    "brandUIColors": lambda item: _colour_value(item["name"], item["value"]),
    "customHeaderLinks": lambda item: BrandValue(f"{item['label']}: {item['url']}"),
    "socialLinks": lambda item: BrandValue(f"{SOCIAL_NAMES[item['type']]}: {item['url']}"),
    "siteImages": lambda item: _picture_value(str(PICTURE_LABELS[item["type"]]), item["imageUrl"]),
}
"""How an entry of each list is displayed."""
_LOGOS = {"logoImgUrl": "logo", "darkLogoUrl": "dark-logo"}


@portal.app_template_global()
def brand_version(number: int) -> str:
    """Return the name of a version; 0 is what was in effect before the first one."""
    return gettext("Version %(number)s", number=number) if number else gettext("Original settings")


@portal.app_template_global()
def roll_back_label(number: int) -> str:
    if number:
        return gettext("Roll back to version %(number)s", number=number)
    return gettext("Roll back to the original settings")
