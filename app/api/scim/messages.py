"""Requests and responses: media type, entity tags, parameters and errors of the standard."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

import orjson
from flask import Response, request
from pydantic import ValidationError
from scim2_models import Context, Error, Resource, ResponseParameters, SCIMException
from werkzeug.http import parse_etags

from app.api.errors import SCIM_MEDIA
from app.api.json_body import read_json_body
from app.api.scim.blueprint import MEDIA, not_scim
from app.errors import NotFound
from app.extensions import settings
from app.schemas.scim import POLICY
from app.validation.uuids import as_hyphenated_uuid

R = TypeVar("R", bound=Resource[Any])


def scim_response(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return a SCIM message."""
    accepted = request.accept_mimetypes.best_match(MEDIA, SCIM_MEDIA)
    response = Response(orjson.dumps(body), status, mimetype=accepted)
    response.vary.add("Accept")
    return response


def answer_resource(resource: Any, context: Context, asked: Any, status: int = 200) -> Response:
    """Return a resource with the ``asked`` attributes, its ``meta.version`` as entity tag and its
    ``meta.location`` as URL; 304 if the client has this version."""
    response = scim_response(
        resource.model_dump(scim_ctx=context, response_parameters=asked), status
    )
    response.headers["ETag"] = resource.meta.version
    response.headers["Content-Location" if status == 200 else "Location"] = resource.meta.location
    if request.method == "GET":
        response.make_conditional(request)
    return response


def version_of(resource: Mapping[str, Any]) -> str:
    """Return the weak entity tag of a resource's content."""
    content = orjson.dumps(resource, option=orjson.OPT_SORT_KEYS)
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def check_match(version: str) -> None:
    """Refuse a change of another version than the client has seen. Raises `SCIMException` (412)."""
    header = request.headers.get("If-Match")
    if header is None:
        return
    tags = parse_etags(header)
    opaque = version.removeprefix("W/").strip('"')
    if not tags.star_tag and not tags.contains_weak(opaque):
        raise PreconditionFailed


class PreconditionFailed(SCIMException):
    """The resource has changed since the client read it."""

    status = 412
    _default_detail = "The resource has changed. Read it again."


def body() -> dict[str, Any]:
    """Return the body of the request. Raises `UnsupportedMedia`, `TooLarge` and
    `ValidationFailed`."""
    return read_json_body(request, settings().max_body_bytes, MEDIA)


def search_parameters() -> dict[str, Any]:
    """Return the parameters of a search that was sent as a body."""
    return {name: value for name, value in body().items() if name != "schemas"}


def id_in(text: str, not_found: Callable[[], NotFound]) -> UUID:
    """Return the id of a path. Raises ``not_found``."""
    identifier = as_hyphenated_uuid(text)
    if identifier is None:
        raise not_found()
    return identifier


def parameters(*names: str) -> dict[str, str]:
    """Return the query parameters with these names in any case; others are ignored."""
    names_by_lowercase = {name.lower(): name for name in names}
    return {
        names_by_lowercase[name.lower()]: value
        for name, value in request.args.items()
        if name.lower() in names_by_lowercase
    }


def read_response_parameters(model: type[Any]) -> ResponseParameters[Any]:
    """Return which attributes of a resource are requested. Raises `SCIMException`."""
    kind: Any = ResponseParameters[model]  # type: ignore[valid-type]  # chosen at runtime
    with parsing_errors():
        checked: ResponseParameters[Any] = kind.model_validate(
            parameters("attributes", "excludedAttributes")
        )
    return checked


def read_body(schema: type[R], context: Context) -> R:
    """Return the resource of the request's body. Raises `SCIMException`."""
    with parsing_errors():
        return schema.model_validate(body(), scim_ctx=context)


@contextmanager
def parsing_errors() -> Iterator[None]:
    """Turn errors in what the directory has sent, which is read as tolerantly as its kind needs,
    into `SCIMException`."""
    try:
        with POLICY:
            yield
    except ValidationError as error:
        raise SCIMException.from_error(Error.from_validation_error(error.errors()[0])) from error


def call_view(view: Callable[..., Response], values: Mapping[str, str]) -> Response:
    """Return what the view answers, or that the request is not SCIM."""
    try:
        return view(**values)
    except SCIMException as exception:
        error = exception.to_error()
        return not_scim(error.detail or "", error.status or 400, error.scim_type)
