"""Compares every response of an application with what its description publishes."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from flask import Flask, Response, request, request_finished
from jsonschema_rs import Draft202012Validator

from app.api.openapi import openapi_document
from app.api.operation import ATTRIBUTE
from app.schemas.base import wire_name

Refused = tuple[str, str, str]
"""operationId, status, code."""
Kind = tuple[str, str]
"""operationId, status."""
EMPTY = {b"", b"{}"}
"""What operations without an answer's schema may send (RFC 7009, section 2.2: nothing)."""


class Answers:
    """Compares every response of an application with its description during a test."""

    seen: ClassVar[set[Kind]] = set()
    """Every kind of response that any test has got."""

    def __init__(self, app: Flask):
        self._app = app
        self._refused: set[Refused] = set()
        self._misfits: list[str] = []
        request_finished.connect(self._note, app)  # as long as these answers are held

    def unpublished(self) -> set[Refused]:
        """Return refusals whose operation does not publish this code for this status."""
        return self._refused - _published_ever(self._app) if self._refused else set()

    def misfits(self) -> list[str]:
        """Return parts of responses that the schema published for their status does not allow."""
        return self._misfits

    def _note(self, _app: Flask, response: Response, **_more: Any) -> None:
        view = self._app.view_functions.get(request.endpoint or "")
        if not hasattr(view, ATTRIBUTE) or request.method in {"HEAD", "OPTIONS"}:
            return
        name, status = (
            wire_name(str(request.endpoint).rpartition(".")[2]),
            str(response.status_code),
        )
        self.seen.add((name, status))
        self._misfits += _misfits(self._app, (name, status), response)
        if response.status_code >= 400:
            body = response.get_json()
            code = body["error"] if "error" in body else body["details"]["code"]
            self._refused.add((name, status, code))


def _misfits(app: Flask, kind: Kind, response: Response) -> Iterator[str]:
    validators = _validators(app)
    if kind not in validators:
        yield f"{kind}: not published"
        return
    validator = validators[kind]
    if validator is None:
        if response.get_data() not in EMPTY:
            yield f"{kind}: no body is published"
        return
    if response.mimetype != "application/json":
        yield f"{kind}: {response.mimetype}"
        return
    for error in validator.iter_errors(json.loads(response.get_data())):
        yield f"{kind}: {error.message} at {error.instance_path}"


@cache
def _validators(app: Flask) -> Mapping[Kind, Draft202012Validator | None]:
    """Return the validator of the schema that is published for each kind of response."""
    document = openapi_document(app)
    found: dict[Kind, Draft202012Validator | None] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/json")
                made = None
                if content is not None:
                    schema = content["schema"] | {"components": document["components"]}
                    made = Draft202012Validator(schema, validate_formats=True)
                found[operation["operationId"], status] = made
    return found


@cache
def _published_ever(app: Flask) -> frozenset[Refused]:
    return frozenset(published(app))


def published(app: Flask) -> Iterator[Refused]:
    """Return every refusal that the description of the application names."""
    for methods in openapi_document(app)["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                for code in answer.get("x-error-codes", ()):
                    yield operation["operationId"], status, code
