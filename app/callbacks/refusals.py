"""Refusals of reports, as JSON: their senders are programs."""

from flask import Blueprint
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge

from app.errors import DomainError, ValidationFailed
from app.http.statuses import status_of


def answer_in_json(blueprint: Blueprint) -> None:
    blueprint.register_error_handler(DomainError, _handle_domain_error)
    blueprint.register_error_handler(RequestEntityTooLarge, _too_large)


def _handle_domain_error(error: DomainError) -> ResponseReturnValue:
    problems = [
        {"field": problem.field, "code": problem.code, "message": problem.message}
        for problem in (error.problems if isinstance(error, ValidationFailed) else ())
    ]
    return {"code": error.code, "message": error.message, "errors": problems}, status_of(error)


def _too_large(_error: RequestEntityTooLarge) -> ResponseReturnValue:
    message = "The body is larger than this address accepts."
    return {"code": "body_too_large", "message": message, "errors": []}, 413
