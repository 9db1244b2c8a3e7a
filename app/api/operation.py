"""The declaration of a JSON operation: its input, output and errors.

`area_blueprint` creates the blueprint of an area: it authenticates, applies the policy table and
limits the rate before any view runs. `operation` reads path, query and body strictly, passes them
to the view and sends its result; the same declaration is the documentation.
"""

import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, cast, get_type_hints
from uuid import UUID

import orjson
from flask import Blueprint, Request, Response, current_app, g, request
from pydantic import TypeAdapter
from pydantic_core import PydanticCustomError
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.api.json_body import read_json_body
from app.api.request_log import RequestLog
from app.errors import Problem, Unauthenticated, ValidationFailed, raise_problems
from app.extensions import scope_of, settings, transaction
from app.http.rate_limit import TokenBuckets
from app.http.request_id import request_id
from app.policy import ROUTES, OpenAccess
from app.policy.caller import Caller
from app.schemas.base import Input, Query, Wire, wire_name
from app.schemas.checks import parse_uuid, refuse_nul
from app.schemas.parsing import MAX_PROBLEMS, read, unknown_name
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.credentials import last_used

log = logging.getLogger(__name__)

Authenticate = Callable[[Session, Request], Caller]
"""Authenticates a request. Raises `Unauthenticated` or, in Area B, `Forbidden`."""

FindRefusal = Callable[[Session, Request], Refusal | None]
"""Returns the history's entry about a refused credential, if there is one."""

Codes = Mapping[str, str]
"""Error code -> what it means."""

ATTRIBUTE = "declared_operation"


@dataclass(frozen=True, kw_only=True)
class AreaDescription:
    """The documentation of an area.

    ``scheme`` returns its security scheme by the URL of the token endpoint, ``errors`` are what
    each operation with a credential can refuse, ``contract`` the statuses that the contract names:
    every other one is a declared addition. ``unreadable`` is the refusal with 400 of operations
    that have no other.
    """

    tag: str
    text: str
    scheme_name: str
    scheme: Callable[[str], dict[str, Any]]
    scopes: Sequence[str] = ()
    contract: frozenset[int] = frozenset()
    errors: Mapping[int, Codes] = field(default_factory=dict)
    unreadable: Codes = field(default_factory=dict)
    names_roles: bool = False
    """Whether its operations name the roles that may call them."""


class AreaBlueprint(Blueprint):
    """A blueprint that describes its area, and knows whether unknown query parameters are refused
    there."""

    description: AreaDescription
    refuses_unknown_parameters = False


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """A request header of an operation."""

    name: str
    meaning: str
    schema: Mapping[str, Any]
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Operation:
    """The declaration of a view of a JSON area, and the decorator that declares it.

    The view gets its path parameters (those annotated `UUID` as such), and ``query`` and ``body``
    if they are declared. It returns what ``output`` declares, or a finished `Response`. ``output``
    is a schema class, a list of one, or None; without a ``description`` the view's docstring is
    used. ``form`` documents a form body that the view reads itself. ``errors`` adds codes to those
    that every operation of the area has. ``example`` and ``answer`` are a body and its answer.
    ``body_limit`` and ``context`` name settings: the largest body, and limits that the body needs.
    ``added`` marks an operation beyond the contract.
    """

    summary: str
    output: Any
    description: str = ""
    body: type[Input] | None = None
    form: type[Wire] | None = None
    query: type[Query] | None = None
    headers: tuple[RequestHeader, ...] = ()
    errors: Mapping[int, Codes] = field(default_factory=dict)
    example: Mapping[str, Any] | None = None
    answer: Any = None
    added: bool = False
    deprecated: bool = False
    body_limit: str = "max_body_bytes"
    context: tuple[str, ...] = ()
    path_types: Mapping[str, type] = field(default_factory=dict)

    def __call__(self, view: Callable[..., Any]) -> Callable[..., Response]:
        """Wrap the view: its input is read strictly, its result becomes the response."""
        hints = get_type_hints(view)
        names = inspect.signature(view).parameters.keys() - {"body", "query"}
        declared = replace(
            self,
            description=self.description or inspect.getdoc(view) or "",
            path_types={name: hints.get(name, str) for name in names},
        )

        @wraps(view)
        def handle(**path: str) -> Response:
            arguments: dict[str, Any] = _read_path(path, declared.path_types)
            values = _query_values(declared.query)
            if declared.query is not None:
                arguments["query"] = read(declared.query, values)
            if declared.body is not None:
                arguments["body"] = _read_body(declared.body, declared)
            return respond(view(**arguments))

        setattr(handle, ATTRIBUTE, declared)
        return handle


operation = Operation
"""The decorator's name above a view: ``@operation(summary=..., output=...)``."""


def area_blueprint(
    name: str,
    description: AreaDescription,
    authenticate: Authenticate,
    url_prefix: str,
    *,
    find_refusal: FindRefusal | None = None,
    refuses_unknown_parameters: bool = False,
) -> AreaBlueprint:
    """Return the blueprint of a JSON area. ``refuses_unknown_parameters``: an unknown query
    parameter is 400."""
    blueprint = AreaBlueprint(name, __name__, url_prefix=url_prefix)
    blueprint.description = description
    blueprint.refuses_unknown_parameters = refuses_unknown_parameters
    guard(blueprint, authenticate, find_refusal=find_refusal)
    return blueprint


def guard(
    blueprint: Blueprint,
    authenticate: Authenticate,
    *,
    find_refusal: FindRefusal | None = None,
) -> None:
    """Authenticate each request of a blueprint, apply the policy table, limit the rate and log the
    request; the arguments are as for `area_blueprint`."""

    @blueprint.before_request
    def _admit() -> None:
        needed = ROUTES[str(request.endpoint)]
        if request.method == "OPTIONS" or needed is OpenAccess.PUBLIC:
            return
        g.began = time.perf_counter()
        try:
            with transaction(read_only=True) as session:
                g.caller = authenticate(session, request)
            g.authenticate = lambda session: authenticate(session, request)
        except Unauthenticated:
            if find_refusal is not None:
                _record_refusal(find_refusal)
            raise
        _token_buckets().take((g.caller.kind, g.caller.subject_id))
        if not isinstance(needed, OpenAccess):
            g.caller.require(needed)

    blueprint.after_request(_record_last_use)
    blueprint.after_request(_record_response)
    blueprint.after_request(_forbid_caching)


def _record_refusal(find_refusal: FindRefusal) -> None:
    with transaction(read_only=True) as session:
        refusal = find_refusal(session, request)
    if refusal is not None:
        with transaction() as session:
            refusals.record_refusals(session, refusals.anonymous_caller(request_id()), [refusal])


def _record_last_use(response: Response) -> Response:
    if "caller" in g and last_used.due(g.caller):
        try:
            with transaction(scope=scope_of(g.caller)) as session:
                last_used.touch(session, g.caller)
        except OperationalError:  # a busy database must not cost the response
            log.warning("The last use of a credential could not be noted.", exc_info=True)
    return response


def _record_response(response: Response) -> Response:
    if "caller" in g:
        _request_log().record(g.caller, response, g.began)
    return response


def _forbid_caching(response: Response) -> Response:
    response.headers.setdefault("Cache-Control", "no-store")
    if request.method == "OPTIONS":
        response.headers.remove("Content-Type")
    return response


def respond(value: Any) -> Response:
    """Return the response with status 200 of a schema object, a list of them, or JSON values."""
    if isinstance(value, Response):
        return value
    if isinstance(value, Wire):
        encoded = value.__pydantic_serializer__.to_json(value, by_alias=True)
    elif isinstance(value, list):
        encoded = _anything.dump_json(value, by_alias=True)
    else:
        encoded = orjson.dumps(value)
    return Response(encoded, mimetype="application/json")


_anything: TypeAdapter[Any] = TypeAdapter(Any)


def _token_buckets() -> TokenBuckets:
    return cast(TokenBuckets, current_app.extensions["rate_limit"])


def _request_log() -> RequestLog:
    return cast(RequestLog, current_app.extensions["request_log"])


def _read_path(path: Mapping[str, str], types: Mapping[str, type]) -> dict[str, Any]:
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, text in path.items():
        try:
            values[name] = parse_uuid(text) if types[name] is UUID else refuse_nul(text)
        except PydanticCustomError as error:
            problems.append(Problem(wire_name(name), error.type, error.message()))
    raise_problems(problems)
    return values


def _query_values(query: type[Query] | None) -> dict[str, Any]:
    """Return the known query parameters. Raises `ValidationFailed` for a repeated one, and for an
    unknown one if the area refuses those."""
    allowed = query.wire_fields() if query else []
    problems: list[Problem] = []
    values: dict[str, str] = {}
    for name, sent_values in request.args.lists():
        if name not in allowed:
            if _refuses_unknown_parameters():
                message = unknown_name("parameter", name, allowed)
                problems.append(Problem(name, "unknown_parameter", message))
        elif len(sent_values) > 1:
            message = "This parameter was sent more than once. Send it once."
            problems.append(Problem(name, "repeated", message))
        else:
            values[name] = sent_values[0]
    if problems:
        raise ValidationFailed.of(*problems[:MAX_PROBLEMS])
    return values


def _refuses_unknown_parameters() -> bool:
    blueprint = current_app.blueprints[str(request.blueprint)]
    return cast(AreaBlueprint, blueprint).refuses_unknown_parameters


def _read_body(body: type[Input], declared: Operation) -> Input:
    limits = settings()
    data = read_json_body(request, getattr(limits, declared.body_limit))
    return read(body, data, context={name: getattr(limits, name) for name in declared.context})


def bearer_token(request: Request) -> str | None:
    """Return the token after ``Authorization: Bearer``; None without such a header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
