"""Every error code that all operations share, for the API description.

Codes of an area are declared with its blueprint, those of single operations with the operation.
"""

from collections.abc import Mapping

Codes = Mapping[str, str]

BODY: Codes = {
    "invalid_json": "The body is not JSON in UTF-8, or holds NaN or Infinity.",
    "not_an_object": "The body is JSON, but not an object.",
    "duplicate_name": "An object holds one name twice.",
    "number_out_of_range": "A number does not fit into 64 bits.",
    "nul_character": "A text holds a NUL character.",
    "lone_surrogate": "A text holds half of a surrogate pair.",
    "too_deep": "The body is nested deeper than 32 levels.",
    "body_incomplete": "The body ended before its Content-Length.",
}
FIELDS: Codes = {
    "validation_failed": "Several fields need changing; details.errors names each.",
    "required": "A required field is missing.",
    "wrong_type": "The value has another type; nothing is converted.",
    "not_nullable": "The field can be left out, but not be null.",
    "blank": "The text is empty or blank.",
    "too_long": "The text or object is longer than the limit.",
    "too_many": "The list has more entries than the limit.",
    "too_few": "The list has too few entries.",
    "out_of_range": "The number is below or above its limits.",
    "not_allowed": "The value is not one of the listed ones.",
    "unknown_field": "There is no field of this name; the nearest one is named.",
    "invalid_email": "The text is not an email address.",
    "invalid_uuid": "The text is not an id in the form of a UUID.",
    "invalid_url": "The text is not an address of an accepted kind.",
    "invalid_colour": "The text is not a colour of an accepted kind.",
    "invalid_date": "The text is not a day in the form YYYY-MM-DD.",
    "invalid_phone": "The text is not a phone number in E.164.",
    "unknown_timezone": "The text is not a time zone of the IANA list.",
    "wrong_shape": "The object has none of the accepted shapes.",
}
EVERY_BODY: Codes = {**FIELDS, **BODY}
"""The codes with which any operation with a JSON body can refuse with 400, if it refuses unknown
fields."""
LENIENT_BODY: Codes = {code: EVERY_BODY[code] for code in EVERY_BODY if code != "unknown_field"}
"""The same for operations that ignore unknown fields."""

QUERY: Codes = {
    "repeated": "A parameter was sent more than once.",
    "validation_failed": "Several parameters need changing; details.errors names each.",
}
REQUIRED: Codes = {"required": "A required parameter is missing."}
SELECTORS: Codes = {"selector_required": "Neither organizationId nor userEmail was sent."}
DAYS: Codes = {
    "end_before_start": "endDate is before startDate.",
    "range_too_long": "The range is longer than 366 days.",
}
PATH: Codes = {"invalid_uuid": "An id in the path is not a UUID."}
PATH_TEXT: Codes = {"nul_character": "An id in the path holds a NUL character."}
SEVERAL_IDS = "Several ids in the path need changing; details.errors names each."
"""The meaning of ``validation_failed`` for operations that read only the path."""
CURSOR: Codes = {"invalid_cursor": "The cursor is not one that a Link header gave."}
PAGES: Codes = {"out_of_range": "page or perPage isn't a positive number, or over the limit."}

WITH_BODY: Mapping[int, Codes] = {
    413: {"body_too_large": "The body is larger than the limit."},
    415: {
        "unsupported_media_type": "The content type is not application/json.",
        "unsupported_encoding": "The body came with a Content-Encoding.",
    },
}
