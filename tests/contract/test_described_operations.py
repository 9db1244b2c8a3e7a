"""The OpenAPI document states every operation of the contract: parameters, bodies, statuses."""

import re
from typing import Any

import pytest

from tests.contract.interface import ADDED_OPERATIONS, OPERATIONS, Operation

BY_NAME = {operation.name: operation for operation in OPERATIONS}


@pytest.fixture(params=BY_NAME)
def listed_operation(request: pytest.FixtureRequest) -> Operation:
    return BY_NAME[request.param]


@pytest.fixture
def described_operation(paths: dict[str, Any], listed_operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = paths[listed_operation.path][listed_operation.method.lower()]
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


def test_its_body_is_that_of_the_contract(
    listed_operation: Operation, described_operation: dict[str, Any]
) -> None:
    assert ("requestBody" in described_operation) == (listed_operation.body is not None)
    if listed_operation.body is None:
        return
    body = described_operation["requestBody"]
    assert body["required"] is True
    assert list(body["content"]) == ["application/json"]
    assert reference(body["content"]["application/json"]["schema"]) == listed_operation.body


def test_its_answer_is_that_of_the_contract(
    listed_operation: Operation, described_operation: dict[str, Any]
) -> None:
    content = described_operation["responses"]["200"]["content"]
    assert list(content) == ["application/json"]
    assert reference(content["application/json"]["schema"]) == listed_operation.answer


def test_its_statuses_are_those_of_the_contract_and_declared_additions(
    listed_operation: Operation, described_operation: dict[str, Any]
) -> None:
    responses = described_operation["responses"]
    added = {int(status) for status, answer in responses.items() if answer.get("x-addition")}
    assert {int(status) for status in responses} - added == listed_operation.statuses
    assert added <= {403, 409, 413, 415, 429}
    for status in set(responses) - {"200"}:
        assert reference(responses[status]["content"]["application/json"]["schema"]) == "Error"


def test_its_parameters_are_those_of_the_contract_and_declared_additions(
    listed_operation: Operation, described_operation: dict[str, Any]
) -> None:
    contract = {}
    for name in re.findall(r"\{(\w+)\}", listed_operation.path):
        contract[name] = ("path", True, None if name == "externalUserId" else "uuid")
    for name, kind in listed_operation.query.items():
        plain = kind.rstrip("!")
        contract[name] = ("query", "!" in kind, None if plain == "string" else plain)
    found = {
        parameter["name"]: (
            parameter["in"],
            parameter["required"],
            parameter["schema"].get("format"),
        )
        for parameter in described_operation["parameters"]
        if not parameter.get("x-addition")
    }
    assert found == contract


def test_it_asks_for_a_bearer_token(described_operation: dict[str, Any]) -> None:
    assert described_operation["security"] == [{"bearerToken": []}]
