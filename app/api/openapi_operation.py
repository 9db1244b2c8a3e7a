"""One operation of the OpenAPI document, from its declaration, its area and the policy table."""

import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, cast, get_args, get_origin
from uuid import UUID

from app.api import error_codes
from app.api.error_codes import Codes
from app.api.examples import EXAMPLES, error_example
from app.api.operation import AreaDescription, Operation
from app.policy import ROLE_PERMISSIONS, ROUTES, OpenAccess, Permission
from app.schemas.base import LenientInput, Query, Wire, wire_name
from app.schemas.errors import CallError, Error
from app.schemas.figures import SubscriptionQuery, UsageQuery
from app.schemas.json_schema import REF_TEMPLATE, component_schemas
from app.schemas.oauth import TokenError
from app.schemas.paging import CursorQuery, PageQuery

_PATH_TEXT = {"type": "string", "minLength": 1, "maxLength": 200}


def item_of(output: Any) -> type[Wire] | None:
    """Return the class of an output, or of its items if it is a list."""
    return cast(type[Wire] | None, get_args(output)[0] if get_origin(output) is list else output)


def describe(
    endpoint: str, path: str, area: AreaDescription, declared: Operation
) -> dict[str, Any]:
    """Return the operation object of a route."""
    needed = ROUTES[endpoint]
    described: dict[str, Any] = {
        "tags": [area.tag],
        "summary": declared.summary,
        "operationId": wire_name(endpoint.rpartition(".")[2]),
        "description": declared.description,
        "parameters": list(_parameters(path, declared)),
        "responses": _responses(path, area, needed, declared),
        "security": _security(area, needed, declared),
    }
    if isinstance(needed, Permission):
        described["x-permission"] = needed.value
        if area.names_roles:
            described["x-roles"] = [
                role.value for role, granted in ROLE_PERMISSIONS.items() if needed in granted
            ]
    if declared.deprecated:
        described["deprecated"] = True
    if declared.added:
        described["x-addition"] = True
    body_model = declared.body or declared.form
    if body_model is not None:
        media = "application/json" if declared.body else "application/x-www-form-urlencoded"
        example = declared.example or EXAMPLES.get(body_model.__name__)
        content = _content(body_model, example, media)
        described["requestBody"] = {"required": True, "content": content}
    return described


def _security(
    area: AreaDescription, needed: Permission | OpenAccess, declared: Operation
) -> list[dict[str, list[str]]]:
    if declared.form is not None:
        return [{area.scheme_name: []}, {}]
    if needed is OpenAccess.PUBLIC:
        return []
    return [{area.scheme_name: list(area.scopes)}]


def _parameters(path: str, declared: Operation) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", path):
        is_id = declared.path_types.get(name) is UUID
        schema = {"type": "string", "format": "uuid"} if is_id else _PATH_TEXT
        yield {"name": wire_name(name), "in": "path", "required": True, "schema": schema}
    for header in declared.headers:
        yield {
            "name": header.name,
            "in": "header",
            "required": header.required,
            "description": header.meaning,
            "schema": dict(header.schema),
            "x-addition": True,
        }
    if declared.query is not None:
        yield from _query_parameters(declared.query)


def _query_parameters(query: type[Query]) -> Iterator[dict[str, Any]]:
    described = component_schemas([query])[query.__name__]
    for name, schema in described["properties"].items():
        parameter = {
            "name": name,
            "in": "query",
            "required": name in described.get("required", ()),
            "schema": {key: value for key, value in schema.items() if key != "x-addition"},
        }
        if schema.get("x-addition"):
            parameter["x-addition"] = True
        yield parameter


def _responses(
    path: str, area: AreaDescription, needed: Permission | OpenAccess, declared: Operation
) -> dict[str, Any]:
    responses = {"200": _success_response(declared)}
    for status, codes in sorted(_error_codes_by_status(area, needed, declared).items()):
        shape = _error_shape(path)
        code = next(iter(codes))
        example = error_example(shape, status, (code, codes[code]), _example_field(declared, code))
        responses[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "content": _content(shape, example),
            "x-error-codes": dict(codes),
        }
        if status not in area.contract:
            responses[str(status)]["x-addition"] = True
    return responses


def _example_field(declared: Operation, code: str) -> str:
    """Return a field of the operation that can be refused with this code."""
    if code == "invalid_uuid" and declared.path_types:
        return wire_name(next(iter(declared.path_types)))
    read = declared.query or declared.body
    fields = read.wire_fields() if read is not None else ["email"]
    return "email" if "email" in fields else fields[0]


def _error_shape(path: str) -> type[Wire]:
    if path.startswith("/oauth2"):
        return TokenError
    return CallError if path.startswith("/api/v1/outbound") else Error


def _success_response(declared: Operation) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Done", "headers": dict(_headers(declared))}
    if declared.output is not None:
        item = item_of(declared.output)
        example = declared.answer
        if example is None and item is not None and item.__name__ in EXAMPLES:
            example_item = EXAMPLES[item.__name__]
            example = [example_item] if get_origin(declared.output) is list else example_item
        success["content"] = _content(declared.output, example)
    return success


def _headers(declared: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    text = {"type": "string"}
    yield "X-Request-Id", {"description": "Names the request in our log.", "schema": text}
    if declared.query is None:
        return
    if issubclass(declared.query, PageQuery):
        count = {"type": "integer"}
        yield "X-Total-Count", {"description": "Items in all, where paged.", "schema": count}
        yield "Link", {"description": "first, prev, next and last page.", "schema": text}
    if issubclass(declared.query, CursorQuery):
        yield "Link", {"description": "The next part, where there is one.", "schema": text}


def _error_codes_by_status(
    area: AreaDescription, needed: Permission | OpenAccess, declared: Operation
) -> dict[int, Codes]:
    """Return the codes of each status: what the area, the inputs and the operation can refuse."""
    refusals: dict[int, dict[str, str]] = {}

    def add(more: Mapping[int, Codes]) -> None:
        for status, codes in more.items():
            refusals.setdefault(status, {}).update(codes)

    add(declared.errors)
    if needed is not OpenAccess.PUBLIC:
        add(area.errors)
    if not isinstance(needed, Permission):
        refusals.get(403, {}).pop("insufficient_scope", None)
    if declared.body is not None:
        is_lenient = issubclass(declared.body, LenientInput)
        add({400: error_codes.LENIENT_BODY if is_lenient else error_codes.EVERY_BODY})
        add(error_codes.WITH_BODY)
    for codes in (*_path_codes(declared), *_query_codes(declared.query)):
        add({400: codes})
    if len(declared.path_types) > 1:
        refusals[400].setdefault("validation_failed", error_codes.SEVERAL_IDS)
    if 400 not in refusals:
        add({400: area.unreadable})
    return {status: codes for status, codes in refusals.items() if codes}


def _path_codes(declared: Operation) -> Iterator[Codes]:
    if UUID in declared.path_types.values():
        yield error_codes.PATH
    if str in declared.path_types.values():
        yield error_codes.PATH_TEXT


def _query_codes(query: type[Query] | None) -> Iterable[Codes]:
    if query is None:
        return
    yield error_codes.QUERY
    described = component_schemas([query])[query.__name__]
    if "required" in described:
        yield error_codes.REQUIRED
    for schema in described["properties"].values():
        yield {code: error_codes.EVERY_BODY[code] for code in _codes_of_parameter(schema)}
    for kind, codes in (
        (SubscriptionQuery, error_codes.SELECTORS),
        (UsageQuery, error_codes.DAYS),
        (PageQuery, error_codes.PAGES),
        (CursorQuery, error_codes.CURSOR),
    ):
        if issubclass(query, kind):
            yield codes


def _codes_of_parameter(schema: Mapping[str, Any]) -> Iterator[str]:
    """Return the codes with which a query parameter can be refused."""
    if schema["type"] != "string":
        yield "not_allowed" if schema["type"] == "boolean" else "out_of_range"
    elif "format" in schema and schema["format"] != "email":
        yield f"invalid_{schema['format']}"
    else:
        yield "nul_character"
        if "format" in schema:
            yield "invalid_email"
        elif "maxLength" in schema:
            yield "too_long"


def _content(
    output: Any, example: Any = None, media: str = "application/json"
) -> dict[str, dict[str, Any]]:
    item = cast(type[Wire], item_of(output))
    schema: dict[str, Any] = {"$ref": REF_TEMPLATE.format(model=item.__name__)}
    if get_origin(output) is list:
        schema = {"type": "array", "items": schema}
    content: dict[str, Any] = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {media: content}
