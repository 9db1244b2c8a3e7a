"""Form fields that several screens share, and the hidden fields of every form."""

import re
import secrets
from datetime import date, time
from typing import Any

from markupsafe import Markup, escape
from wtforms import DateField, HiddenField, IntegerField, SelectMultipleField, TimeField
from wtforms.fields import Field
from wtforms.fields.choices import Choice
from wtforms.widgets import CheckboxInput, HiddenInput, ListWidget, Select, TextInput

from app.languages import gettext
from app.languages.numbers import without_thousands
from app.validation.texts import trim, whole_number

_CLOCK = re.compile("([01]?[0-9]|2[0-3]|24(?=:?00)):?([0-5][0-9])(?::[0-5][0-9])?")


def without_nul(value: Any) -> Any:
    """Return the text without surrounding spaces and without characters that databases refuse."""
    return trim(value) if value else value


def blank_is_none(value: str | None) -> str | None:
    """Return the text without surrounding spaces; None if nothing is left."""
    return (value or "").strip() or None


def lines_of(field: Field) -> list[str]:
    """Return the non-blank lines."""
    return [line.strip() for line in (field.data or "").splitlines() if line.strip()]


def addresses_of(field: Field) -> list[str]:
    """Return the entered addresses, on lines or separated by commas, each once."""
    lines = (field.data or "").replace("\0", "").replace(",", "\n").splitlines()
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def typed_number(text: str | None) -> int | None:
    """Return the number; None for a blank field and -1 for anything else."""
    text = (text or "").strip()
    if not text:
        return None
    number = whole_number(text, 8)
    return -1 if number is None else number


def hidden_field(name: str, value: str) -> Markup:
    """Return a hidden input without an id: a page can have several forms with the same fields."""
    return Markup(  # noqa: S704 - both are escaped
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}" autocomplete="off">'
    )


class HiddenFieldInput(HiddenInput):
    """See `hidden_field`."""

    def __call__(self, field: Field, **_kwargs: Any) -> Markup:
        value = field._value()  # type: ignore[attr-defined]  # noqa: SLF001 - as WTForms’ widgets do
        return hidden_field(field.name, value)


class QuickSelect(Select):
    """Renders the same as `Select`, in a fraction of the time: lists of time zones and countries
    have hundreds of options."""

    @classmethod
    def render_option(cls, choice: Choice, **kwargs: Any) -> Markup:
        if choice.render_kw or kwargs or isinstance(choice.value, bool):
            rendered: Markup = super().render_option(choice, **kwargs)
            return rendered
        selected = "selected " if choice.selected else ""
        value, label = escape(choice.value), escape(choice.label or choice.value)
        return Markup(  # noqa: S704 - both are escaped
            f'<option {selected}value="{value}">{label}</option>'
        )


def once_token() -> str:
    return secrets.token_hex(16)


class OnceField(HiddenField):
    """The once-only token of a form that creates something: a repeated form acts once."""

    widget = HiddenFieldInput()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(default=once_token, **kwargs)


class VersionField(HiddenField):
    """The version of a record that the user of an edit form has seen; None if it is unknown."""

    widget = HiddenFieldInput()

    def process_formdata(self, valuelist: list[str]) -> None:
        if valuelist:
            self.data = whole_number(valuelist[0], 9)

    def _value(self) -> str:
        return "" if self.data is None else str(self.data)


class WholeNumber(IntegerField):
    """A whole number, which may have the thousands separators of the reader's language; blank is
    None, or an error if it is ``required``.

    It is a text field, because browsers don't send invalid values of number fields.
    """

    widget = TextInput()  # type: ignore[assignment]  # the stub knows the base's widget alone

    def __init__(self, label: str, *, required: bool = False, **kwargs: Any) -> None:
        kwargs.setdefault("render_kw", {"inputmode": "numeric", "autocomplete": "off"})
        super().__init__(label, **kwargs)
        self._required = required

    def process_formdata(self, valuelist: list[str]) -> None:
        text = without_thousands(valuelist[0].strip()) if valuelist else ""
        if not text:
            self.data = None
            if self._required:
                message = gettext("Enter a whole number.")
                raise ValueError(message)
            return
        if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit():
            self.data = None
            message = gettext("Enter a whole number in digits.")
            raise ValueError(message)
        self.data = int(text) if len(text) < 12 else 10**12


class CheckboxesField(SelectMultipleField):
    """A multiple choice; the service reports unknown values."""

    widget = ListWidget()  # type: ignore[assignment]  # the stub knows the base’s widget alone
    option_widget = CheckboxInput()  # type: ignore[assignment]

    def __init__(self, label: str, **kwargs: Any) -> None:
        super().__init__(label, validate_choice=False, **kwargs)


class DayField(DateField):
    """A day; blank is none."""

    def process_formdata(self, valuelist: list[str]) -> None:
        text = valuelist[0].strip() if valuelist else ""
        try:
            self.data = date.fromisoformat(text) if text else None
        except ValueError:
            self.data = None
            raise ValueError(gettext("Enter a day like 2026-02-28.")) from None


class ClockField(TimeField):
    """A time of day in 24 hours, such as 8:00, 0800 or 08:00:00; 24:00 is midnight.

    It is a text field, because browsers write the times of time fields in their own language.
    """

    widget = TextInput()  # type: ignore[assignment]  # the stub knows the base's widget alone

    def __init__(self, label: str, **kwargs: Any) -> None:
        attributes = {"inputmode": "numeric", "pattern": _CLOCK.pattern, "placeholder": "08:00"}
        attributes |= {"maxlength": "8", "autocomplete": "off"}
        super().__init__(label, render_kw=attributes, **kwargs)

    def process_formdata(self, valuelist: list[str]) -> None:
        match = _CLOCK.fullmatch(valuelist[0].strip() if valuelist else "")
        if match is None:
            self.data = None
            raise ValueError(gettext("Enter a time like 08:00."))
        self.data = time(int(match[1]) % 24, int(match[2]))
