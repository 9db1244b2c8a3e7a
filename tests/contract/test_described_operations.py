"""The OpenAPI document states every operation of the contract: parameters, bodies, statuses."""

import re
from typing import Any

import pytest
from flask import Flask

from app.api.openapi import openapi_document
from tests.contract.interface import ADDED_OPERATIONS, OPERATIONS, Operation

BY_NAME = {operation.name: operation for operation in OPERATIONS}


@pytest.fixture(scope="session")
def paths(described_app: Flask) -> dict[str, Any]:
    found: dict[str, Any] = openapi_document(described_app)["paths"]
    return found


@pytest.fixture(params=BY_NAME)
def stated(request: pytest.FixtureRequest) -> Operation:
    return BY_NAME[request.param]


@pytest.fixture
def described(paths: dict[str, Any], stated: Operation) -> dict[str, Any]:
    found: dict[str, Any] = paths[stated.path][stated.method.lower()]
    return found


def reference(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        return "[]" + reference(schema["items"])
    return str(schema["$ref"]).rsplit("/", 1)[1]


def test_the_table_has_every_operation_and_eighteen_are_of_the_contract(
    paths: dict[str, Any],
) -> None:
    described = {
        f"{method.upper()} {path}": operation.get("x-addition", False)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if operation["tags"] == ["Partner API"]
    }
    stated = {name: name in ADDED_OPERATIONS for name in BY_NAME}
    assert described == stated, "OPERATIONS in tests/contract/interface.py has other operations"
    assert len(BY_NAME) - len(ADDED_OPERATIONS) == 18


def test_its_body_is_that_of_the_contract(stated: Operation, described: dict[str, Any]) -> None:
    assert ("requestBody" in described) == (stated.body is not None)
    if stated.body is None:
        return
    body = described["requestBody"]
    assert body["required"] is True
    assert list(body["content"]) == ["application/json"]
    assert reference(body["content"]["application/json"]["schema"]) == stated.body


def test_its_answer_is_that_of_the_contract(stated: Operation, described: dict[str, Any]) -> None:
    content = described["responses"]["200"]["content"]
    assert list(content) == ["application/json"]
    assert reference(content["application/json"]["schema"]) == stated.answer


def test_its_statuses_are_those_of_the_contract_and_declared_additions(
    stated: Operation, described: dict[str, Any]
) -> None:
    responses = described["responses"]
    added = {int(status) for status, answer in responses.items() if answer.get("x-addition")}
    assert {int(status) for status in responses} - added == stated.statuses
    assert added <= {403, 409, 413, 415, 429}
    for status in set(responses) - {"200"}:
        assert reference(responses[status]["content"]["application/json"]["schema"]) == "Error"


def test_its_parameters_are_those_of_the_contract_and_declared_additions(
    stated: Operation, described: dict[str, Any]
) -> None:
    contract = {}
    for name in re.findall(r"\{(\w+)\}", stated.path):
        contract[name] = ("path", True, None if name == "externalUserId" else "uuid")
    for name, kind in stated.query.items():
        plain = kind.rstrip("!")
        contract[name] = ("query", "!" in kind, None if plain == "string" else plain)
    found = {
        parameter["name"]: (
            parameter["in"],
            parameter["required"],
            parameter["schema"].get("format"),
        )
        for parameter in described["parameters"]
        if not parameter.get("x-addition")
    }
    assert found == contract


def test_it_asks_for_a_bearer_token(described: dict[str, Any]) -> None:
    assert described["security"] == [{"bearerToken": []}]
