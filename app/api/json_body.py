"""The one strict reader of JSON bodies (docs/decisions/json-api.md#request-bodies).

It accepts a UTF-8 object that every parser reads in the same way: no NaN or infinity, no repeated
name in an object, no NUL, no lone surrogate, no integer beyond 64 bits, at most 32 levels. The
standard library's parser calls back for names and numbers, so every rule is exact; ordinary bodies
are read by `quick_json`, in half the time.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection
from typing import Any, Never

from flask import Request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from app.api.quick_json import next_level, quick_object
from app.errors import TooLarge, UnsupportedMedia, ValidationFailed

MAX_DEPTH = 32
_CHARSETS = {"utf-8", "utf8"}
_SUSPICIOUS_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json_body(
    request: Request, limit: int, media: Collection[str] = ("application/json",)
) -> dict[str, Any]:
    """Return the body of a request as an object; ``media`` are the accepted types, the usual one
    first.

    Raises `UnsupportedMedia`, `TooLarge` (more than ``limit`` bytes) or `ValidationFailed`.
    """
    _check_media(request, media)
    return parse_json_object(_read_body(request, limit))


def _check_media(request: Request, media: Collection[str]) -> None:
    if request.content_encoding not in (None, "", "identity"):
        message = "Send the body as it is, without Content-Encoding."
        raise UnsupportedMedia(message, "unsupported_encoding")
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype not in media or charset not in _CHARSETS:
        default_media = next(iter(media))
        message = f"Send JSON in UTF-8 with the header Content-Type: {default_media}."
        raise UnsupportedMedia(message, "unsupported_media_type")


def _read_body(request: Request, limit: int) -> bytes:
    request.max_content_length = limit
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge:
        message = f"The body is larger than {limit:,} bytes. Send it in parts."
        raise TooLarge(message, "body_too_large", extra={"maxBytes": limit}) from None
    except ClientDisconnected:
        raise _bad_json("body_incomplete", "The body ended before its Content-Length.") from None
    if request.content_length is not None and len(body) < request.content_length:
        raise _bad_json("body_incomplete", "The body ended before its Content-Length.")
    return body


def parse_json_object(body: bytes) -> dict[str, Any]:
    """Return the object of these bytes. Raises `ValidationFailed`."""
    quick = quick_object(body, MAX_DEPTH)
    return _parse_exactly(body) if quick is None else quick


def _parse_exactly(body: bytes) -> dict[str, Any]:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        message = f"The body is not UTF-8: byte {error.start:,} can't be read."
        raise _bad_json("invalid_json", message) from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_parse_object,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        message = f"The body is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        raise _bad_json("invalid_json", message) from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(value, dict):
        message = "The body must be a JSON object, in curly brackets."
        raise _bad_json("not_an_object", message)
    _check_depth(value)
    if _SUSPICIOUS_ESCAPE.search(body):
        _check_strings(value)
    return value


def _bad_json(code: str, message: str) -> ValidationFailed:
    return ValidationFailed(message, code)


def _too_deep() -> ValidationFailed:
    return _bad_json("too_deep", f"The body is nested deeper than {MAX_DEPTH} levels.")


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(pairs)
    if len(parsed) == len(pairs):
        return parsed
    counts = Counter(name for name, _ in pairs)
    duplicate = next(name for name, count in counts.items() if count > 1)
    raise _bad_json(
        "duplicate_name", f"The name {json.dumps(duplicate)[:100]} appears twice in one object."
    )


def _parse_integer(digits: str) -> int:
    if len(digits) <= 20:
        value = int(digits)
        if -(2**63) <= value < 2**63:
            return value
    message = f"The number {digits[:24]}… does not fit into 64 bits. Send it as text."
    raise _bad_json("number_out_of_range", message)


def _parse_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        message = f"The number {digits[:24]} is too large to store."
        raise _bad_json("number_out_of_range", message)
    return value


def _refuse_constant(name: str) -> Never:
    raise _bad_json("invalid_json", f"{name} is not a JSON number.")


def _check_depth(value: dict[str, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = next_level(level)
        if not level:
            return
    raise _too_deep()


def _check_strings(value: Any) -> None:
    """Check every text; needed only for bodies with a suspicious escape."""
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_strings(name)
            _check_strings(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_strings(inner)
    elif isinstance(value, str):
        if "\x00" in value:
            raise _bad_json("nul_character", "A text contains a NUL character. Remove it.")
        if _SURROGATE.search(value):
            message = "A text contains half of a surrogate pair. Send both halves or neither."
            raise _bad_json("lone_surrogate", message)
