"""Labels of brand fields, and their values for display."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.languages import LANGUAGES, lazy_gettext
from app.portal.branding.forms import CHAT_LABELS, PRIMARY
from app.services.branding.brand import SOCIAL_NAMES
from app.validation.colours import is_colour, to_hex

FIELD_LABELS: dict[str, str] = {
    "productName": "Product name",
    "tagline": "Tagline",
    "mailGreeting": lazy_gettext("Greeting in emails"),
    "textsByLanguage": lazy_gettext("Texts in other languages"),
    "brandUIColors": "Colours",
    "logoImgUrl": "Logo",
    "darkLogoUrl": "Dark logo",
    "siteImages": "Pictures",
    "customHeaderLinks": "Header links",
    "socialLinks": "Social links",
    "showEmbeddedChat": "Chat bubble",
    "chatAgentId": "Assistant of the chat",
    "chatTemplateColors": "Colours of the chat",
    "showBrandingToggle": "“Powered by” on customers’ pages",
    "showCharacterToggle": "Choice of the assistant’s character",
    "defaultAgentName": "Name of new assistants",
    "partnerUpgradeMessage": "Message at a limit",
    "demoLink": "Address of your demo",
}
"""One label for each field of a draft."""

PICTURE_NAMES = {"logo": "Logo", "favicon": "Favicon", "hero": "Sign-in picture"}
PICTURE_FIELDS = (
    ("logo", PICTURE_NAMES["logo"], "logo", "Shown 28 px high, so a wide one works best."),
    (
        "dark-logo",
        FIELD_LABELS["darkLogoUrl"],
        "logo",
        "Used in dark mode. Without one, your logo is shown on white there.",
    ),
    (
        "favicon",
        PICTURE_NAMES["favicon"],
        "favicon",
        "The icon in the browser tab. Without one, your first letter is shown.",
    ),
    ("hero", PICTURE_NAMES["hero"], "hero", "Fills the coloured side of the sign-in page."),
)
"""Kind, name, the kind whose shape it needs, and hint."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of a value: text, and a colour (``#rrggbb``) or a picture's URL beside it."""

    text: str
    colour: str | None = None
    picture: str | None = None


def shown(name: str, value: Any, assistants: dict[str, str]) -> list[Shown]:
    """Return a brand field's value as lines, one per entry; ``assistants`` are the names of
    assistants by id."""
    if value is None or value in ("", [], {}):
        return [Shown("–")]
    if isinstance(value, list):
        return [_ENTRIES[name](item) for item in value]
    if name == "chatTemplateColors":
        return [_colour(CHAT_LABELS.get(part, part), colour) for part, colour in value.items()]
    if name == "textsByLanguage":
        return [
            Shown(f"{LANGUAGES[code]}: {' · '.join(filter(None, texts.values()))}")
            for code, texts in value.items()
        ]
    if name in ("logoImgUrl", "darkLogoUrl"):
        return [_picture(FIELD_LABELS[name], value)]
    return [Shown(_plain(name, value, assistants))]


def words(name: str, value: Any, assistants: dict[str, str]) -> str:
    return "; ".join(line.text for line in shown(name, value, assistants))


def _plain(name: str, value: Any, assistants: dict[str, str]) -> str:
    if isinstance(value, bool):
        return "On" if value else "Off"
    return assistants.get(value, value) if name == "chatAgentId" else str(value)


def _colour(name: str, value: str) -> Shown:
    label = "Colour" if name.strip().casefold() == PRIMARY else name
    return Shown(f"{label}: {value}", colour=to_hex(value) if is_colour(value) else None)


def _picture(name: str, url: str) -> Shown:
    return Shown(name, picture=url)


_ENTRIES: dict[str, Callable[[dict[str, str]], Shown]] = {
    "brandUIColors": lambda item: _colour(item["name"], item["value"]),
    "customHeaderLinks": lambda item: Shown(f"{item['label']}: {item['url']}"),
    "socialLinks": lambda item: Shown(f"{SOCIAL_NAMES[item['type']]}: {item['url']}"),
    "siteImages": lambda item: _picture(PICTURE_NAMES[item["type"]], item["imageUrl"]),
}
"""How an entry of each list is displayed."""
