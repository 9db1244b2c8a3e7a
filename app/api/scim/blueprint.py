"""The area's blueprint: its URLs, tokens, media type and errors.

The views are loaded with the first request: that takes a tenth of the start of a process, and few
installations have a directory.
"""

from importlib import import_module
from typing import Any

import orjson
from flask import Blueprint, Request, Response, g, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotAcceptable

from app.api.errors import SCIM_MEDIA, domain_error_response, scim_error
from app.api.operation import bearer_token, guard
from app.errors import DomainError, ValidationFailed
from app.http.request_id import request_id
from app.http.statuses import status_of
from app.policy.caller import Caller
from app.services.audit.refusals import Refusal
from app.services.credentials import scim_tokens
from app.services.scim import PREFIX

ROUTES = (
    ("/ServiceProviderConfig", "discovery", "service_provider_config", ("GET",)),
    ("/ResourceTypes", "discovery", "list_resource_types", ("GET",)),
    ("/ResourceTypes/<name>", "discovery", "get_resource_type", ("GET",)),
    ("/Schemas", "discovery", "list_schemas", ("GET",)),
    ("/Schemas/<schema_id>", "discovery", "get_schema", ("GET",)),
    ("/Me", "discovery", "me", ("GET", "POST", "PUT", "PATCH", "DELETE")),
    ("/Bulk", "discovery", "bulk", ("POST",)),
    ("/.search", "discovery", "search_all", ("POST",)),
    ("/Users", "users", "list_users", ("GET",)),
    ("/Users/.search", "users", "search_users", ("POST",)),
    ("/Users", "users", "create_user", ("POST",)),
    ("/Users/<user_id>", "users", "get_user", ("GET",)),
    ("/Users/<user_id>", "users", "replace_user", ("PUT",)),
    ("/Users/<user_id>", "users", "patch_user", ("PATCH",)),
    ("/Users/<user_id>", "users", "delete_user", ("DELETE",)),
    ("/Groups", "groups", "list_groups", ("GET",)),
    ("/Groups/.search", "groups", "search_groups", ("POST",)),
    ("/Groups", "groups", "create_group", ("POST",)),
    ("/Groups/<group_id>", "groups", "get_group", ("GET",)),
    ("/Groups/<group_id>", "groups", "replace_group", ("PUT",)),
    ("/Groups/<group_id>", "groups", "patch_group", ("PATCH",)),
    ("/Groups/<group_id>", "groups", "delete_group", ("DELETE",)),
)
"""Path, module and name of the function, methods."""
MEDIA = (SCIM_MEDIA, "application/json")
_TAKEN = frozenset({"email_exists", "group_exists"})
_NOT_ALLOWED = frozenset(
    {
        "archived",
        "last_partner_admin",
        "other_organization",
        "own_account",
        "own_role",
        "signed_in_before",
        "user_limit_reached",
    }
)
"""Codes of rules of the portal: 403, although the services raise another kind of error."""
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


def not_scim(detail: str, status: int, scim_type: str | None = None) -> Response:
    """Return an error body of RFC 7644, section 3.12."""
    g.error_code = scim_type or "refused"
    body = orjson.dumps(scim_error(status, detail, scim_type))
    response = Response(body, status, mimetype=SCIM_MEDIA)
    response.headers["Cache-Control"] = "no-store"
    return response


def _authenticate(session: Session, http_request: Request) -> Caller:
    return scim_tokens.caller_from_token(
        session, bearer_token(http_request), ip=http_request.remote_addr, request_id=request_id()
    )


def _find_refusal(session: Session, http_request: Request) -> Refusal | None:
    secret = bearer_token(http_request)
    return scim_tokens.refusal_of_ended_token(session, secret, http_request.remote_addr)


guard(blueprint, _authenticate, find_refusal=_find_refusal)


@blueprint.before_request
def _negotiate() -> None:
    """Refuse requests that accept neither media type. Raises `NotAcceptable`."""
    if request.accept_mimetypes and not request.accept_mimetypes.best_match(MEDIA):
        raise NotAcceptable(f"Answers are {MEDIA[0]} or {MEDIA[1]}.")


def _lazy_view(module: str, name: str) -> Any:
    def view(**values: str) -> Response:
        views = import_module(f"app.api.scim.{module}")
        messages = import_module("app.api.scim.messages")
        answer: Response = messages.call_view(getattr(views, name), values)
        return answer

    return view


for _rule, _module, _name, _methods in ROUTES:
    blueprint.add_url_rule(_rule, _name, _lazy_view(_module, _name), methods=_methods)


@blueprint.errorhandler(DomainError)
def _handle_domain_error(error: DomainError) -> ResponseReturnValue:
    status, scim_type = _classify_error(error)
    response = domain_error_response(error)  # with its headers
    response.status_code = status
    details = " ".join(problem.message for problem in error.problems) or error.message
    response.set_data(orjson.dumps(scim_error(status, details, scim_type)))
    return response


def _classify_error(error: DomainError) -> tuple[int, str | None]:
    """Return the status and the ``scimType`` of an error."""
    if error.code in _TAKEN:
        return 409, "uniqueness"
    if error.code in _NOT_ALLOWED:
        return 403, None
    if isinstance(error, ValidationFailed):
        return 400, "invalidSyntax" if error.code in _UNREADABLE else "invalidValue"
    return status_of(error), None


@blueprint.errorhandler(RecursionError)
def _too_deep(_error: RecursionError) -> ResponseReturnValue:
    return not_scim("Nested too deep.", 400, "invalidSyntax")
