"""The area's blueprint: its tokens, media type, errors and entity tags."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from flask import Blueprint, Request, Response, g, request
from flask.typing import ResponseReturnValue
from pydantic import ValidationError
from scim2_models import Error, ResponseParameters, SCIMException
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotAcceptable
from werkzeug.http import parse_etags

from app.api.errors import SCIM_MEDIA, domain_error_response, scim_error
from app.api.json_body import read_json_body
from app.api.operation import bearer_token, guard
from app.errors import DomainError, ValidationFailed
from app.extensions import settings, transaction
from app.http.request_id import request_id
from app.http.statuses import status_of
from app.policy.caller import Caller
from app.schemas.scim import POLICY, PREFIX
from app.services.audit import refusals
from app.services.credentials import scim_tokens

MEDIA = (SCIM_MEDIA, "application/json")
_TAKEN = frozenset({"email_exists", "group_exists"})
_NOT_ALLOWED = frozenset(
    {
        "last_partner_admin",
        "other_organization",
        "own_account",
        "own_role",
        "signed_in_before",
        "user_limit_reached",
    }
)
"""Codes of what a rule of the portal doesn't allow: 403, where the services' kind is another."""
_UNREADABLE = frozenset(
    {
        "body_incomplete",
        "duplicate_name",
        "invalid_json",
        "lone_surrogate",
        "not_an_object",
        "nul_character",
        "number_out_of_range",
        "too_deep",
    }
)
"""Codes of the reader of JSON bodies."""

blueprint = Blueprint("scim", __name__, url_prefix=PREFIX)


def _authenticate(session: Session, asked: Request) -> Caller:
    return scim_tokens.caller_from_token(
        session, bearer_token(asked), ip=asked.remote_addr, request_id=request_id()
    )


def _note_refusal(asked: Request) -> None:
    with transaction(read_only=True) as session:
        secret = bearer_token(asked)
        refusal = scim_tokens.refusal_of_ended_token(session, secret, asked.remote_addr)
    if refusal is not None:
        with transaction() as session:
            refusals.note(session, refusals.visitor(request_id()), [refusal])


guard(blueprint, _authenticate, note_refusal=_note_refusal)


@blueprint.before_request
def _negotiate() -> None:
    """Refuse requests that accept neither media type. Raises `NotAcceptable`."""
    if request.accept_mimetypes and not request.accept_mimetypes.best_match(MEDIA):
        raise NotAcceptable(f"Answers are {MEDIA[0]} or {MEDIA[1]}.")


def answer(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return a SCIM message. A resource has its ``meta.version`` as entity tag and its
    ``meta.location`` as address."""
    accepted = request.accept_mimetypes.best_match(MEDIA, SCIM_MEDIA)
    response = Response(orjson.dumps(body), status, mimetype=accepted)
    response.vary.add("Accept")
    return response


def tagged(response: Response, version: str, location: str) -> Response:
    """Add the entity tag and the address of a resource; 304 if the client has this version."""
    response.headers["ETag"] = version
    response.headers["Content-Location" if response.status_code == 200 else "Location"] = location
    if request.method == "GET":
        response.make_conditional(request)
    return response


def version_of(resource: Mapping[str, Any]) -> str:
    """Return the weak entity tag of a resource's content."""
    content = orjson.dumps(resource, option=orjson.OPT_SORT_KEYS)
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def check_match(version: str) -> None:
    """Refuse a change of another version than the client has seen. Raises `SCIMException` (412)."""
    wanted = request.headers.get("If-Match")
    if wanted is None:
        return
    tags = parse_etags(wanted)
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


def parameters(*names: str) -> dict[str, str]:
    """Return the query parameters with these names in any case; others are ignored."""
    known = {name.lower(): name for name in names}
    return {
        known[name.lower()]: value for name, value in request.args.items() if name.lower() in known
    }


def shown(model: type[Any]) -> ResponseParameters[Any]:
    """Return which attributes of a resource are asked for. Raises `SCIMException`."""
    kind: Any = ResponseParameters[model]  # type: ignore[valid-type]  # chosen at runtime
    with reading():
        found: ResponseParameters[Any] = kind.model_validate(
            parameters("attributes", "excludedAttributes")
        )
    return found


@contextmanager
def reading() -> Iterator[None]:
    """Read what the directory has sent, as tolerantly as its kind needs. Raises
    `SCIMException`."""
    try:
        with POLICY:
            yield
    except ValidationError as error:
        raise SCIMException.from_error(Error.from_validation_error(error.errors()[0])) from error


@blueprint.errorhandler(DomainError)
def _refused(error: DomainError) -> ResponseReturnValue:
    status, scim_type = _classified(error)
    response = domain_error_response(error)  # with its headers
    response.status_code = status
    details = " ".join(problem.message for problem in error.problems) or error.message
    response.set_data(orjson.dumps(scim_error(status, details, scim_type)))
    return response


def _classified(error: DomainError) -> tuple[int, str | None]:
    """Return the status and the ``scimType`` of an error."""
    if error.code in _TAKEN:
        return 409, "uniqueness"
    if error.code in _NOT_ALLOWED:
        return 403, None
    if isinstance(error, ValidationFailed):
        return 400, "invalidSyntax" if error.code in _UNREADABLE else "invalidValue"
    return status_of(error), None


@blueprint.errorhandler(SCIMException)
def _not_scim(error: SCIMException) -> ResponseReturnValue:
    return _scim_answer(error.to_error())


@blueprint.errorhandler(RecursionError)
def _too_deep(_error: RecursionError) -> ResponseReturnValue:
    return _scim_answer(Error(status=400, scim_type="invalidSyntax", detail="Nested too deep."))


def _scim_answer(error: Error) -> Response:
    status = error.status or 400
    g.error_code = error.scim_type or "refused"
    message = scim_error(status, error.detail or "", error.scim_type)
    response = Response(orjson.dumps(message), status, mimetype=SCIM_MEDIA)
    response.headers["Cache-Control"] = "no-store"
    return response
