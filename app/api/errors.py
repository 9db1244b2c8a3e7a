"""Error responses: one mapping for all JSON areas.

An unmatched path, a wrong method or a crash never reaches a blueprint's handlers, so the handlers
here are the application's. They look at the path: below the JSON areas the response is JSON in that
area's format, elsewhere ``page`` answers.
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson
from flask import Flask, Response, g, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed

from app.errors import DomainError, Problem, RateLimited, Unauthenticated, Unavailable
from app.http.request_id import request_id
from app.http.statuses import RETRY_SECONDS, may_pass, status_of

_HTTP: dict[int, tuple[str, str]] = {
    400: ("bad_request", "The request can't be read."),
    404: ("not_found", "Nothing was found at this address."),
    405: ("method_not_allowed", "This address does not accept this method."),
    413: ("body_too_large", "The body is larger than this address accepts."),
    415: ("unsupported_media_type", "This content type is not accepted here."),
    500: ("internal_error", "Something went wrong on our side. It is logged under requestId."),
    503: ("unavailable", "The service is not available. Try again shortly."),
}

OAUTH_CODES = {
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
}
"""The errors of RFC 6749, section 5.2."""

CALLS = "/api/v1/outbound"
TOKENS = "/oauth2"
SCIM = "/scim"
AREAS = sorted(("/api", "/phone", "/.well-known", TOKENS, CALLS, SCIM), key=len, reverse=True)
"""The paths below which every response is JSON, longest first."""

SCIM_MEDIA = "application/scim+json"
SCIM_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"

PageErrors = Callable[[DomainError | HTTPException], ResponseReturnValue]


def area_of(path: str) -> str | None:
    """Return the JSON area of a path, or None for a page."""
    return next((area for area in AREAS if path == area or path.startswith(f"{area}/")), None)


def error_body(
    status: int,
    code: str,
    message: str,
    problems: Sequence[Problem] = (),
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the error body of the contract with our details; its code is logged with
    the request."""
    g.error_code = code
    return _error_body(status, code, message, problems, extra)


def scim_error(status: int, detail: str, scim_type: str | None = None) -> dict[str, Any]:
    """Return an error body of RFC 7644, section 3.12."""
    body = {"schemas": [SCIM_ERROR], "status": str(status), "detail": detail}
    return body | ({"scimType": scim_type} if scim_type else {})


def calls_refusal(error: DomainError) -> tuple[int, dict[str, Any]]:
    """Return the status and body with which Area C would refuse a call."""
    status = status_of(error)
    body = _error_body(status, error.code, error.message, error.problems, dict(error.extra))
    return status, {**body, "success": False}


def _error_body(
    status: int,
    code: str,
    message: str,
    problems: Sequence[Problem],
    extra: dict[str, Any] | None,
) -> dict[str, Any]:
    errors = [{"field": p.field, "code": p.code, "message": p.message} for p in problems]
    details = {"code": code, "errors": errors, "requestId": request_id()} | (extra or {})
    return {"statusCode": status, "message": message, "details": details}


def domain_error_response(error: DomainError) -> Response:
    """Return the JSON response to a domain error, in the format of the request's area."""
    status = status_of(error)
    body = error_body(status, error.code, error.message, error.problems, dict(error.extra))
    response = _respond(status, body)
    if isinstance(error, RateLimited | Unavailable):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthenticated):
        response.headers["WWW-Authenticate"] = _challenge_value()
    return response


def http_error_response(error: HTTPException) -> Response:
    """Return the JSON response to an error of the framework."""
    passes = isinstance(error, InternalServerError) and may_pass(error.original_exception)
    status = 503 if passes else error.code or 500
    code, message = _HTTP.get(status, ("refused", error.name))
    response = _respond(status, error_body(status, code, message))
    if passes:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def register_error_handlers(app: Flask, page: PageErrors | None = None) -> None:
    """Answer with JSON in the JSON areas; ``page`` answers for every other path (by default with
    plain text)."""
    answer_with_page = page or _plain_text_response
    app.url_map.merge_slashes = False  # or two slashes are a redirect that no handler sees

    @app.errorhandler(DomainError)
    def _handle_domain_error(error: DomainError) -> ResponseReturnValue:
        in_area = area_of(request.path) is not None
        return domain_error_response(error) if in_area else answer_with_page(error)

    @app.errorhandler(HTTPException)
    def _refused_by_the_framework(error: HTTPException) -> ResponseReturnValue:
        if error.response is not None:
            return error
        if area_of(request.path) is not None:
            return http_error_response(error)
        try:
            return answer_with_page(error)
        except Exception:
            if not may_pass(getattr(error, "original_exception", None)):
                raise
            return _plain_unavailable_response()


def _plain_unavailable_response() -> Response:
    """Answer without a page if what a page needs is missing, too."""
    response = Response(_HTTP[503][1], 503, mimetype="text/plain")
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _plain_text_response(error: DomainError | HTTPException) -> ResponseReturnValue:
    if isinstance(error, DomainError):
        return Response(error.message, status_of(error), mimetype="text/plain")
    return error


def _respond(status: int, body: dict[str, Any]) -> Response:
    media = "application/json"
    match area_of(request.path):
        case area if area == CALLS:
            body["success"] = False
        case area if area == TOKENS:
            code = body["details"]["code"]
            error = code if code in OAUTH_CODES else "invalid_request"
            body = {"error": error, "error_description": body["message"]}
        case area if area == SCIM:
            body, media = scim_error(status, body["message"]), SCIM_MEDIA
    response = Response(orjson.dumps(body), status, mimetype=media)
    response.headers["Cache-Control"] = "no-store"
    return response


def _challenge_value() -> str:
    """Return the value of WWW-Authenticate for the request's area."""
    if request.path.startswith("/api/v1/"):
        return 'ApiKey realm="x-api-key"'
    if "Authorization" in request.headers:
        return 'Bearer error="invalid_token"'
    return "Bearer"
