"""The branding studio's form, and its mapping to the contract's brand fields."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from wtforms import (
    BooleanField,
    FieldList,
    Form,
    FormField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
    URLField,
)
from wtforms.fields import Field

from app.errors import DomainError
from app.languages import LANGUAGES, gettext, gettext_noop, lazy_gettext, locale
from app.portal.web.fields import VersionField
from app.portal.web.forms import PortalForm
from app.services.branding.brand import SOCIAL_NAMES
from app.services.branding.drafts import fingerprint

CHAT_LABELS: dict[str, str] = {
    "header": lazy_gettext("Header and button"),
    "visitor": lazy_gettext("Visitor messages"),
    "assistant": lazy_gettext("Replies"),
    "background": lazy_gettext("Background"),
}
"""The parts of the chat window with a colour of their own."""
Rows: TypeAlias = FieldList
Way: TypeAlias = Literal["up", "down", "remove"]
PRIMARY = "primary"
SPARE_ROWS = 1


class ColourRow(Form):
    name = StringField(lazy_gettext("Colour name"), render_kw={"maxlength": 200})
    value = StringField(lazy_gettext("Colour"), render_kw={"maxlength": 100, "spellcheck": "false"})


class LinkRow(Form):
    label = StringField(lazy_gettext("Link text"), render_kw={"maxlength": 200})
    url = StringField(lazy_gettext("Address"), render_kw={"maxlength": 2000, "inputmode": "url"})


class SocialRow(Form):
    type = SelectField(
        lazy_gettext("Network"),
        choices=[
            SelectChoice("", lazy_gettext("Choose")),
            *(SelectChoice(*item) for item in SOCIAL_NAMES.items()),
        ],
    )
    url = URLField(lazy_gettext("Address of your page"), render_kw={"maxlength": 2000})


def _colour_field(label: str) -> StringField:
    return StringField(label, render_kw={"maxlength": 100, "spellcheck": "false"})


class TextsRow(Form):
    """The texts of the brand in one language."""

    tagline = StringField(lazy_gettext("Tagline"), render_kw={"maxlength": 200})
    mail_greeting = StringField(lazy_gettext("Greeting in emails"), render_kw={"maxlength": 200})
    upgrade_message = TextAreaField(
        lazy_gettext("Message at a limit"), render_kw={"maxlength": 2000}
    )

    def by_wire(self) -> dict[str, Field]:
        """Return the fields by their names in the stored texts."""
        return {
            "tagline": self.tagline,
            "mailGreeting": self.mail_greeting,
            "upgradeMessage": self.upgrade_message,
        }


def _texts_by_language(texts: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    return [(texts or {}).get(code) or {} for code in LANGUAGES]


class BrandingForm(PortalForm):
    """Empty rows are left out; one empty row is at the end of each list. The fields have the order
    of the page, in which errors are listed."""

    version = VersionField()
    colour = _colour_field(lazy_gettext("Colour"))
    product_name = StringField(
        lazy_gettext("Product name"), render_kw={"maxlength": 200, "required": True}
    )
    tagline = StringField(lazy_gettext("Tagline"), render_kw={"maxlength": 200})
    mail_greeting = StringField(lazy_gettext("Greeting in emails"), render_kw={"maxlength": 200})
    texts_by_language = FieldList(FormField(TextsRow), max_entries=len(LANGUAGES))
    header_links = FieldList(FormField(LinkRow))
    social_links = FieldList(FormField(SocialRow))
    show_embedded_chat = BooleanField(lazy_gettext("Show the chat bubble"))
    chat_assistant_id = SelectField(lazy_gettext("Chat assistant"), validate_choice=False)
    chat_header = _colour_field(CHAT_LABELS["header"])
    chat_visitor = _colour_field(CHAT_LABELS["visitor"])
    chat_assistant = _colour_field(CHAT_LABELS["assistant"])
    chat_background = _colour_field(CHAT_LABELS["background"])
    show_branding_toggle = BooleanField(lazy_gettext("Show “Powered by” on customers’ pages"))
    default_assistant_name = StringField(
        lazy_gettext("Name of new assistants"), render_kw={"maxlength": 200}
    )
    partner_upgrade_message = TextAreaField(
        lazy_gettext("Message at a limit"), render_kw={"maxlength": 2000}
    )
    demo_link = URLField(lazy_gettext("Address of your demo"), render_kw={"maxlength": 2000})
    further_colours = FieldList(FormField(ColourRow))
    show_character_toggle = BooleanField(
        lazy_gettext("Let customers choose their assistant’s character")
    )

    @classmethod
    def showing(cls, content: Mapping[str, Any]) -> "BrandingForm":
        """Return the form filled with brand fields in the contract's names."""
        colours = content["brandUIColors"] or []
        primary = _primary_of(colours)
        chat = content["chatTemplateColors"] or {}
        return cls.from_object(
            **{f"chat_{area}": chat.get(area, "") for area in CHAT_LABELS},
            version=fingerprint(content),
            product_name=content["productName"],
            tagline=content.get("tagline") or "",
            mail_greeting=content.get("mailGreeting") or "",
            texts_by_language=[
                {
                    "tagline": texts.get("tagline"),
                    "mail_greeting": texts.get("mailGreeting"),
                    "upgrade_message": texts.get("upgradeMessage"),
                }
                for texts in _texts_by_language(content.get("textsByLanguage"))
            ],
            colour=primary["value"] if primary else "",
            further_colours=_with_spare_rows([c for c in colours if c is not primary]),
            header_links=_with_spare_rows(content["customHeaderLinks"]),
            social_links=_with_spare_rows(content["socialLinks"]),
            show_embedded_chat=content["showEmbeddedChat"],
            chat_assistant_id=content["chatAgentId"] or "",
            show_branding_toggle=content["showBrandingToggle"],
            show_character_toggle=content["showCharacterToggle"],
            default_assistant_name=content["defaultAgentName"] or "",
            partner_upgrade_message=content["partnerUpgradeMessage"] or "",
            demo_link=content["demoLink"] or "",
        )

    def rearrange(self, rows: str, index: int, way: Way) -> None:
        """Move a row of a list by one place, or remove it; an impossible move does nothing."""
        entries = self[rows].entries
        target = index - 1 if way == "up" else index + 1
        if way == "remove":
            del entries[index : index + 1]
        elif min(index, target) >= 0 and max(index, target) < len(entries):
            entries[index], entries[target] = entries[target], entries[index]

    def to_changes(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return the form as brand fields of the contract; blank text is null.

        Colours of the chat without a field here keep their ``stored`` values.
        """
        colours = [_stripped_values(row) for row in self._filled(self.further_colours)]
        if self.colour.data and self.colour.data.strip():
            colours.insert(0, {"name": PRIMARY, "value": self.colour.data.strip()})
        return {
            "productName": (self.product_name.data or "").strip(),
            "tagline": _blank_is_null(self.tagline.data),
            "mailGreeting": _blank_is_null(self.mail_greeting.data),
            "textsByLanguage": self._texts(),
            "brandUIColors": colours or None,
            "customHeaderLinks": [_stripped_values(r) for r in self._filled(self.header_links)]
            or None,
            "socialLinks": [_stripped_values(r) for r in self._filled(self.social_links)] or None,
            "showEmbeddedChat": self.show_embedded_chat.data,
            "chatAgentId": _blank_is_null(self.chat_assistant_id.data),
            "chatTemplateColors": self._chat_colours(stored["chatTemplateColors"] or {}),
            "showBrandingToggle": self.show_branding_toggle.data,
            "showCharacterToggle": self.show_character_toggle.data,
            "defaultAgentName": _blank_is_null(self.default_assistant_name.data),
            "partnerUpgradeMessage": _blank_is_null(self.partner_upgrade_message.data),
            "demoLink": _blank_is_null(self.demo_link.data),
        }

    def name_texts(self) -> None:
        """Name the language of each text in its label, in the current language."""
        names = locale().languages
        for code, row in zip(LANGUAGES, self.texts_by_language, strict=False):
            row.tagline.label.text = gettext("Tagline in %(language)s", language=names[code])
            row.mail_greeting.label.text = gettext("Greeting in %(language)s", language=names[code])
            row.upgrade_message.label.text = gettext(
                "Message at a limit in %(language)s", language=names[code]
            )

    def apply_errors(self, error: DomainError) -> None:
        """Put each problem at its field; those of rows and of the whole form also into
        `problems`."""
        problems = [] if error.problems else [("", error.message)]
        for problem in error.problems:
            field = self._field_of(problem.field)
            if field is None:
                problems.append(("", problem.message))
                continue
            field.errors = (*field.errors, problem.message)
            if field.name not in self:
                rows, position, _ = field.name.split("-")
                label = _row_label(rows, field.short_name, int(position) + 1)
                problems.append((field.id, f"{label}: {problem.message}"))
        self.problems = problems

    def _texts(self) -> dict[str, Any] | None:
        by_language = {}
        for code, row in zip(LANGUAGES, self.texts_by_language, strict=False):
            texts = {
                name: field.data.strip()
                for name, field in row.form.by_wire().items()
                if field.data and field.data.strip()
            }
            if texts:
                by_language[code] = texts
        return by_language or None

    def _chat_colours(self, stored: Mapping[str, Any]) -> dict[str, Any] | None:
        submitted = {area: (self[f"chat_{area}"].data or "").strip() for area in CHAT_LABELS}
        if not stored and not any(submitted.values()):
            return None
        further = {name: value for name, value in stored.items() if name not in CHAT_LABELS}
        return {**further, **{area: value for area, value in submitted.items() if value}} or None

    def _field_of(self, path: str) -> Field | None:
        name, *path_in_list = path.replace("[", ".").replace("]", "").split(".")
        single: dict[str, Field] = {
            "productName": self.product_name,
            "tagline": self.tagline,
            "mailGreeting": self.mail_greeting,
            "chatAgentId": self.chat_assistant_id,
            "defaultAgentName": self.default_assistant_name,
            "partnerUpgradeMessage": self.partner_upgrade_message,
            "demoLink": self.demo_link,
        }
        lists: dict[str, Rows] = {
            "brandUIColors": self.further_colours,
            "customHeaderLinks": self.header_links,
            "socialLinks": self.social_links,
        }
        if name in single:
            return single[name]
        if name == "textsByLanguage" and len(path_in_list) == 2:
            row = self.texts_by_language[[*LANGUAGES].index(path_in_list[0])]
            text: Field = row.form.by_wire()[path_in_list[1]]
            return text
        if name == "chatTemplateColors" and path_in_list and path_in_list[0] in CHAT_LABELS:
            chat: Field = self[f"chat_{path_in_list[0]}"]
            return chat
        if name not in lists or len(path_in_list) != 2:
            return None
        index = int(path_in_list[0])
        if name == "brandUIColors" and self.colour.data and self.colour.data.strip():
            if index == 0:
                return self.colour
            index -= 1
        row = self._filled(lists[name])[index]
        return next((field for field in row if field.short_name == path_in_list[1]), None)

    def _filled(self, rows: Rows) -> list[Form]:
        return [entry.form for entry in rows if any((f.data or "").strip() for f in entry.form)]


_ROW_LABELS = {
    ("further_colours", "name"): gettext_noop("More colours %(number)s, colour name"),
    ("further_colours", "value"): gettext_noop("More colours %(number)s, colour"),
    ("header_links", "label"): gettext_noop("Header link %(number)s, link text"),
    ("header_links", "url"): gettext_noop("Header link %(number)s, address"),
    ("social_links", "type"): gettext_noop("Social link %(number)s, network"),
    ("social_links", "url"): gettext_noop("Social link %(number)s, address of your page"),
    ("texts_by_language", "tagline"): gettext_noop("%(language)s, tagline"),
    ("texts_by_language", "mail_greeting"): gettext_noop("%(language)s, greeting"),
    ("texts_by_language", "upgrade_message"): gettext_noop("%(language)s, message at a limit"),
}


def _row_label(rows: str, field: str, number: int) -> str:
    """Return the label of a field in a row of a list, for a summary."""
    languages = [*LANGUAGES.values()]
    return gettext(
        _ROW_LABELS[rows, field], number=number, language=languages[(number - 1) % len(languages)]
    )


def _primary_of(colours: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    named = [c for c in colours if c["name"].strip().casefold() == PRIMARY]
    return next(iter([*named, *colours]), None)


def _with_spare_rows(rows: Sequence[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
    return [*(rows or []), *({} for _ in range(SPARE_ROWS))]


def _stripped_values(row: Form) -> dict[str, str]:
    return {field.short_name: (field.data or "").strip() for field in row}


def _blank_is_null(text: str | None) -> str | None:
    return text.strip() or None if text else None
