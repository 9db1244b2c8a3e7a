"""Checks of single values: closed lists, ids, days, metadata, absent and null.

Errors have a stable code and a sentence that says what is wrong and what is accepted.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar
from uuid import UUID

import orjson
from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from app.languages import gettext, lazy_gettext

MAX_OBJECT_BYTES = 16_384
MAX_METADATA_KEYS, MAX_METADATA_KEY, MAX_METADATA_VALUE = 50, 64, 1000
NOT_NULLABLE = lazy_gettext("Null is not accepted here. Leave the field out, or send a value.")

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_AN_ID = "018f6b1c-2d3e-7a4b-8c5d-6e7f8a9b0c1d"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def refusal(code: str, sentence: str, field: str = "") -> PydanticCustomError:
    """Return the error that a validator raises: ``code`` is stable, ``sentence`` is for users.

    A validator of a whole object names the ``field`` (its wire name) that has to change.
    """
    context = {"sentence": str(sentence), "field": field}
    return PydanticCustomError(code, "{sentence}", context)


def refuse_unless(check: Callable[[str], bool], code: str, sentence: str) -> AfterValidator:
    """Return the validator that refuses a text for which ``check`` is false; ``sentence`` is a lazy
    message."""

    def validate(value: str) -> str:
        if not check(value):
            raise refusal(code, sentence)
        return value

    return AfterValidator(validate)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of the members of a closed list, sent as its value: ``Annotated[Tier, OneOf(*Tier)]``."""

    members: tuple[StrEnum, ...]

    def __init__(self, *members: StrEnum) -> None:
        object.__setattr__(self, "members", members)

    def validate(self, value: Any) -> StrEnum:
        for member in self.members:
            if isinstance(value, str) and value == member.value:
                return member
        if value is None:
            raise refusal("not_nullable", NOT_NULLABLE)
        allowed = ", ".join(self.members)
        raise refusal("not_allowed", gettext("Send one of these: %(values)s.", values=allowed))

    def __get_pydantic_core_schema__(
        self, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "enum": [member.value for member in self.members]}


class _NullRefused:
    """A field that may be left out (then it is None) but not be sent as null."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_refuse_null, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        json_schema = handler(schema)
        if "anyOf" in json_schema:
            [json_schema] = [
                option for option in json_schema["anyOf"] if option != {"type": "null"}
            ]
        elif isinstance(json_schema.get("type"), list):
            [json_schema["type"]] = [kind for kind in json_schema["type"] if kind != "null"]
            if "enum" in json_schema:
                json_schema["enum"] = [value for value in json_schema["enum"] if value is not None]
        return json_schema


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise refusal("not_nullable", NOT_NULLABLE)
    return value


T = TypeVar("T")
Omittable = Annotated[T | None, _NullRefused()]
"""``Omittable[Name]``: absent is None inside, null on the wire is refused."""


def refuse_nul(value: str) -> str:
    """Return the text. Refuses NUL, the one character that PostgreSQL can't store."""
    if "\x00" in value:
        raise refusal("nul_character", gettext("This text contains a NUL character. Remove it."))
    return value


def parse_uuid(value: Any) -> Any:
    """Parse a UUID with hyphens; values other than text are left to the next check."""
    if isinstance(value, UUID):
        return value
    if value is None:
        raise refusal("not_nullable", NOT_NULLABLE)
    if not isinstance(value, str):
        message = gettext("An id is text, like %(example)s.", example=_AN_ID)
        raise refusal("wrong_type", message)
    if not _UUID.fullmatch(value):
        sentence = gettext(
            "This is not an id. Send 32 hexadecimal digits with hyphens, like %(example)s.",
            example=_AN_ID,
        )
        raise refusal("invalid_uuid", sentence)
    return UUID(value)


def parse_date(value: Any) -> Any:
    """Parse a day from ``YYYY-MM-DD``."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise refusal("invalid_date", gettext("Enter a day like 2026-02-28."))
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise refusal("invalid_date", gettext("Enter a day like 2026-02-28.")) from None


def whole_number(value: Any) -> Any:
    """Accept both JSON forms of an integer: 5.0 is the integer 5 (JSON Schema, section 4.2.3)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def parse_flag(value: Any) -> Any:
    """Parse a boolean of the query string: ``true`` or ``false``."""
    if isinstance(value, bool):
        return value
    if value not in {"true", "false"}:
        raise refusal("not_allowed", gettext('Write "true" or "false".'))
    return value == "true"


def bounded_object(value: dict[str, Any]) -> dict[str, Any]:
    if len(orjson.dumps(value)) > MAX_OBJECT_BYTES:
        sentence = gettext(
            "This object is too large. Use at most %(limit)s bytes.", limit=f"{MAX_OBJECT_BYTES:,}"
        )
        raise refusal("too_long", sentence)
    return value


def metadata_problem(value: Any) -> tuple[str, str] | None:
    """Return what is wrong with one metadata value, as (code, sentence), or None."""
    if isinstance(value, str):
        if len(value) > MAX_METADATA_VALUE:
            return (
                "too_long",
                gettext(
                    "Too long. Use at most %(limit)s characters in a value.",
                    limit=f"{MAX_METADATA_VALUE:,}",
                ),
            )
        if "\x00" in value:
            return "nul_character", gettext("This text contains a NUL character. Remove it.")
        return None
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return None
    if value is None:
        return "not_nullable", gettext("Null is not accepted here. Leave the key out.")
    return "wrong_type", gettext("Send text, a number, true or false.")


def metadata_value(value: Any) -> Any:
    problem = metadata_problem(value)
    if problem:
        raise refusal(*problem)
    return value
