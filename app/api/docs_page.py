"""What the docs page shows, taken out of the OpenAPI document: words and examples, no markup."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from app.api import error_codes
from app.api.docs_examples import Request, pretty
from app.api.examples import error_example
from app.config import Settings
from app.schemas.checks import MAX_METADATA_KEY, MAX_METADATA_KEYS, MAX_METADATA_VALUE
from app.schemas.errors import Error

Json = Mapping[str, Any]
NOTHING: Json = {}


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter or a field: its name, what it holds and what is said about it."""

    name: str
    kind: str
    required: bool
    addition: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    phrase: str
    code: str
    meaning: str
    addition: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation of the page."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    permission: str | None
    roles: list[str]
    addition: bool
    deprecated: bool
    parameters: list[Row]
    fields: list[Row]
    answer: str | None
    curl: str
    python: str
    refusals: list[Refusal]


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    name: str
    description: str
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of the interface with its fields; ``id`` is its anchor."""

    id: str
    summary: str
    description: str
    fields: list[Row]


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    version: str
    address: str
    token_address: str
    sections: list[Section]
    codes: list[tuple[str, str]]
    limits: list[tuple[str, str]]
    error_example: str
    objects: list[Thing]


def page_of(document: Json, settings: Settings) -> Page:
    """The whole page."""
    sections = [_section(document, tag) for tag in document["tags"]]
    return Page(
        title=document["info"]["title"],
        version=document["info"]["version"],
        address=document["servers"][0]["url"],
        token_address=f"{settings.addresses.auth}/oauth2/token",
        sections=[section for section in sections if section.entries],
        codes=sorted(error_codes.EVERY_BODY.items()),
        limits=list(_limits(settings)),
        objects=[
            Thing(f"object-{name}", name, described.get("description", ""), _rows(described))
            for name, described in document["components"]["schemas"].items()
        ],
        error_example=pretty(error_example(Error, 400, ("required", "This is required."))),
    )


def _limits(settings: Settings) -> Iterator[tuple[str, str]]:
    yield "Requests a second for each credential", f"{settings.rate_per_second:,}"
    yield "Burst of requests for each credential", f"{settings.rate_burst:,}"
    yield "Body of a request", f"{settings.max_body_bytes:,} bytes"
    yield "Body of a contacts request", f"{settings.max_contacts_bytes:,} bytes"
    yield "Contacts in one request", f"{settings.max_contacts:,}"
    yield "Metadata keys of a contact or call", f"{MAX_METADATA_KEYS}"
    yield "Characters of a metadata key", f"{MAX_METADATA_KEY}"
    yield "Characters of a metadata value", f"{MAX_METADATA_VALUE:,}"
    yield "Characters of a contact's first or last name", "100"
    yield "Characters of an e-mail address", "254"
    yield "Items of a page", "1,000"
    yield "Days of a usage question", "366"
    yield "Life of an access token", f"{settings.token_seconds:,} s"
    window = f"{settings.failed_sign_ins} in 10 minutes"
    yield "Failed token requests of one client and address", window


def _section(document: Json, tag: Json) -> Section:
    name: str = tag["name"]
    entries = [
        _entry(document, path, method, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if name in operation["tags"]
    ]
    anchor = name.partition(":")[0].lower().replace(" ", "-")
    return Section(anchor, name, tag["description"], entries)


def _entry(document: Json, path: str, method: str, operation: Json) -> Entry:
    body = operation.get("requestBody", {}).get("content", {})
    media, content = next(iter(body.items()), ("", NOTHING))
    success = operation["responses"]["200"].get("content", {}).get("application/json", {})
    request = Request(document, path, method, operation, media, content.get("example"))
    return Entry(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        permission=operation.get("x-permission"),
        roles=operation.get("x-roles", []),
        addition=operation.get("x-addition", False),
        deprecated=operation.get("deprecated", False),
        parameters=[
            Row(
                parameter["name"],
                _kind(parameter["schema"]),
                parameter["required"],
                parameter.get("x-addition", False),
            )
            for parameter in operation["parameters"]
        ],
        fields=_fields(document, content.get("schema")),
        answer=pretty(success["example"]) if "example" in success else None,
        curl=request.as_curl(),
        python=request.as_python(),
        refusals=list(_refusals(operation["responses"])),
    )


def _refusals(responses: Json) -> Iterator[Refusal]:
    for status, response in responses.items():
        for code, meaning in response.get("x-error-codes", {}).items():
            if code not in error_codes.EVERY_BODY or int(status) != 400:
                phrase = HTTPStatus(int(status)).phrase
                addition = response.get("x-addition", False)
                yield Refusal(int(status), phrase, code, meaning, addition)


def _fields(document: Json, schema: Json | None) -> list[Row]:
    """What a body holds, what it must hold first."""
    if schema is None:
        return []
    name = schema["$ref"].rpartition("/")[2]
    return sorted(_rows(document["components"]["schemas"][name]), key=lambda row: not row.required)


def _rows(described: Json) -> list[Row]:
    required = described.get("required", ())
    return [
        Row(field, _kind(inner), field in required, inner.get("x-addition", False))
        for field, inner in described["properties"].items()
    ]


def _kind(schema: Json) -> str:
    """``text, at most 200 characters, or null``."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    kinds = schema.get("type", "any value")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    words = [_WORDS.get(kind, kind) for kind in kinds if kind != "null"]
    said = " or ".join(words)
    if "description" in schema:
        said = str(schema["description"]).rstrip(".")
    if "items" in schema:
        said = f"list of {_kind(schema['items'])}"
    if "enum" in schema:
        said = "one of " + ", ".join(str(value) for value in schema["enum"] if value is not None)
    elif "format" in schema:
        said = _WORDS.get(schema["format"], said)
    if "maxLength" in schema:
        said += f", at most {schema['maxLength']:,} characters"
    if "maximum" in schema:
        said += f", {schema.get('minimum', 0):,} to {schema['maximum']:,}"
    if schema.get("default") is not None:
        said += f", default {json.dumps(schema['default'])}"
    return f"{said}, or null" if "null" in kinds else said


_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "array": "list",
    "uuid": "id (UUID)",
    "email": "e-mail address",
    "date": "day (YYYY-MM-DD)",
    "date-time": "date and time (ISO 8601)",
}
