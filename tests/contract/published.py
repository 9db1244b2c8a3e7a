"""Holds every answer of an application against what its description publishes."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from flask import Flask, Response, request, request_finished

from app.api.openapi import openapi_document
from app.api.operation import ATTRIBUTE
from app.schemas.base import wire_name

Refused = tuple[str, str, str]
"""operationId, status, code."""


class Answers:
    """Notes what the operations refuse while a test asks."""

    def __init__(self, app: Flask):
        self._app = app
        self._refused: set[Refused] = set()
        request_finished.connect(self._note, app)  # as long as somebody holds these answers

    def unpublished(self) -> set[Refused]:
        """Refusals whose operation does not publish this code for this status."""
        return self._refused - _published_ever(self._app) if self._refused else set()

    def _note(self, _app: Flask, response: Response, **_more: Any) -> None:
        view = self._app.view_functions.get(request.endpoint or "")
        if hasattr(view, ATTRIBUTE) and response.status_code >= 400:
            body = response.get_json()
            code = body["error"] if "error" in body else body["details"]["code"]
            name = wire_name(str(request.endpoint).rpartition(".")[2])
            self._refused.add((name, str(response.status_code), code))


@cache
def _published_ever(app: Flask) -> frozenset[Refused]:
    return frozenset(published(app))


def published(app: Flask) -> Iterator[Refused]:
    """Every refusal that the description of the application names."""
    for methods in openapi_document(app)["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                for code in answer.get("x-error-codes", ()):
                    yield operation["operationId"], status, code
