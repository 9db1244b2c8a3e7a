"""The field types of the schema classes, with their limits.

Each type states its rule twice from one source: as the check and as JSON Schema.
"""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)

from app.languages import lazy_gettext
from app.schemas.checks import (
    MAX_METADATA_KEY,
    MAX_METADATA_KEYS,
    MAX_METADATA_VALUE,
    bounded_object,
    metadata_value,
    parse_date,
    parse_flag,
    parse_uuid,
    refuse_nul,
    refuse_unless,
    whole_number,
)
from app.validation import colours, emails, urls
from app.validation.time_zones import time_zones

MAX_INTEGER = 2**31 - 1
MAX_ITEMS = 100

E164_PATTERN = r"^\+[1-9][0-9]{7,14}$"
_INK = re.compile(r"[^\s\u001c-\u001f\u0085\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
"""One visible character, written so that every regular-expression dialect agrees."""
_E164 = re.compile(r"\+[1-9][0-9]{7,14}")


def can_be_seen(name: str) -> bool:
    """Return whether the text has a visible character, not only spaces and characters without a
    width."""
    return _INK.search(name) is not None


def write_moment(value: datetime) -> str:
    """Write ISO 8601 in UTC with exactly three decimals and ``Z``, so that texts sort as times
    do."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_NoNul = AfterValidator(refuse_nul)
Text = Annotated[str, _NoNul]
Short = Annotated[str, StringConstraints(max_length=100), _NoNul]
Name = Annotated[str, StringConstraints(max_length=200), _NoNul]
Words = Annotated[str, StringConstraints(max_length=5000), _NoNul]
LongWords = Annotated[str, StringConstraints(max_length=10_000), _NoNul]
_Filled = Field(json_schema_extra={"minLength": 1, "pattern": _INK.pattern})
FilledName = Annotated[
    Name, refuse_unless(can_be_seen, "blank", lazy_gettext("Enter a name.")), _Filled
]
FilledText = Annotated[
    Name, refuse_unless(can_be_seen, "blank", lazy_gettext("This can't be left blank.")), _Filled
]
"""As `FilledName`, for texts that aren't names."""
_IsEmail = refuse_unless(
    emails.is_email, "invalid_email", lazy_gettext("Enter an email like name@example.com.")
)
Email = Annotated[
    Text,
    _IsEmail,
    Field(
        json_schema_extra={
            "format": "email",
            "maxLength": emails.MAX_LENGTH,
        }
    ),
]
MailAddress = Annotated[
    Text,
    _IsEmail,
    Field(
        json_schema_extra={
            "pattern": emails.PATTERN,
            "maxLength": emails.MAX_LENGTH,
            "description": "Email address.",
        }
    ),
]
"""A contact address of a partner: checked like `Email`, typed in the contract as plain text."""
WebUrl = Annotated[
    Text,
    refuse_unless(
        urls.is_web_url,
        "invalid_url",
        lazy_gettext(
            "A web address starts with https:// or http://, names a host, has no user name in it "
            "and no spaces, quotes or backslashes, like https://example.com/page."
        ),
    ),
    Field(
        json_schema_extra={
            "pattern": urls.WEB_PATTERN,
            "maxLength": urls.MAX_LENGTH,
            "description": "Web address, http or https.",
        }
    ),
]
LinkUrl = Annotated[
    Text,
    refuse_unless(
        urls.is_link,
        "invalid_url",
        lazy_gettext(
            "A link starts with https://, http://, mailto: or tel: and has no user name in it "
            "and no spaces, quotes or backslashes, like https://example.com/help."
        ),
    ),
    Field(
        json_schema_extra={
            "pattern": urls.LINK_PATTERN,
            "maxLength": urls.MAX_LENGTH,
            "description": "Address: http, https, mailto or tel.",
        }
    ),
]
Colour = Annotated[
    Text,
    refuse_unless(
        colours.is_colour,
        "invalid_colour",
        lazy_gettext(
            "Unknown colour. Use #7a2e6b, #abc, rgb(122, 46, 107), hsl(312, 45%%, 33%%) "
            "or a CSS colour name."
        ),
    ),
    Field(
        json_schema_extra={
            "pattern": colours.PATTERN,
            "maxLength": 100,
            "description": "Colour: #rgb, #rrggbb, rgb(), hsl() or a CSS name.",
        }
    ),
]
TimeZone = Annotated[
    Text,
    refuse_unless(
        lambda value: value in time_zones(),
        "unknown_timezone",
        lazy_gettext("Unknown time zone. Use an IANA name like Europe/London."),
    ),
    Field(
        json_schema_extra={
            "pattern": f"^(?:{'|'.join(sorted(time_zones()))})$".replace("+", r"\+"),
            "description": "Time zone of the IANA list, like Europe/London.",
        }
    ),
]
E164 = Annotated[
    Text,
    refuse_unless(
        lambda value: _E164.fullmatch(value) is not None,
        "invalid_phone",
        lazy_gettext(
            "Send a phone number in E.164: + and country code, then digits only, 8 to 15 in total, "
            "like +12025550123."
        ),
    ),
    Field(json_schema_extra={"pattern": E164_PATTERN, "description": "Phone number in E.164."}),
]
Uuid = Annotated[UUID, BeforeValidator(parse_uuid)]
Day = Annotated[date, BeforeValidator(parse_date)]
Flag = Annotated[bool, BeforeValidator(parse_flag)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER), BeforeValidator(whole_number)]
Moment = Annotated[
    datetime,
    PlainSerializer(write_moment, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
JsonObject = Annotated[dict[str, Any], AfterValidator(bounded_object)]
Colours = Annotated[dict[Short, Colour], Field(max_length=MAX_ITEMS)]
MetadataValue = Annotated[
    Any,
    PlainValidator(metadata_value),
    WithJsonSchema({"type": ["string", "number", "boolean"], "maxLength": MAX_METADATA_VALUE}),
]
Metadata = Annotated[
    dict[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_METADATA_KEY), _NoNul],
        MetadataValue,
    ],
    Field(max_length=MAX_METADATA_KEYS),
]
StoredMetadata = Annotated[
    dict[str, Any],
    Field(examples=[{"policy": "A-1042", "amount": 129.5, "newCustomer": True}]),
]
