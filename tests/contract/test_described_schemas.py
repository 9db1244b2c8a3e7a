"""The OpenAPI document states every object of the contract, field by field."""

from typing import Any

import pytest
from flask import Flask

from app.api.openapi import openapi_document
from tests.contract.interface import ADDED, ENUMS, OBJECTS, kind_of

FIELDS = [(name, field) for name, fields in OBJECTS.items() for field in fields]
_FORMATS = {"uuid": "uuid", "date-time": "date-time", "email": "email"}


@pytest.fixture(scope="session")
def described_schemas(described_app: Flask) -> dict[str, Any]:
    schemas: dict[str, Any] = openapi_document(described_app)["components"]["schemas"]
    return schemas


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_has_the_fields_of_the_contract_and_declared_additions(
    described_schemas: dict[str, Any], name: str
) -> None:
    properties = described_schemas[name]["properties"]
    added = {field for field, schema in properties.items() if schema.get("x-addition")}
    assert set(properties) - added == set(OBJECTS[name])
    assert added == ADDED.get(name, set())


@pytest.mark.parametrize("name", OBJECTS)
def test_the_required_fields_are_those_of_the_contract(
    described_schemas: dict[str, Any], name: str
) -> None:
    required = {field for field, kind in OBJECTS[name].items() if kind_of(kind).required}
    assert set(described_schemas[name].get("required", [])) - ADDED.get(name, set()) == required


@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_a_field_has_its_type_default_and_closed_list(
    described_schemas: dict[str, Any], name: str, field: str
) -> None:
    kind, schema = kind_of(OBJECTS[name][field]), described_schemas[name]["properties"][field]
    assert nullable(schema) == kind.nullable
    assert ("default" in schema, schema.get("default")) == (kind.has_default, kind.default)
    allowed = ENUMS.get((name, field))
    listed = [value for value in schema.get("enum", []) if value is not None]
    assert listed == list(allowed or [])
    if kind.is_list:
        assert type_of(schema) == "array"
        schema = schema["items"]
    elif kind.is_map:
        assert type_of(schema) == "object"
        schema = schema["additionalProperties"]
    if kind.type == "any":
        assert schema.keys() <= {"description"}
        return
    if "$ref" in schema:
        referred = "ErrorDetails" if name == "Error" else kind.type
        assert schema["$ref"] == f"#/components/schemas/{referred}"
        return
    plain = "string" if kind.type in _FORMATS else kind.type
    assert (type_of(schema), schema.get("format")) == (plain, _FORMATS.get(kind.type))


def nullable(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("type"), list) and "null" in schema["type"]


def type_of(schema: dict[str, Any]) -> str:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    [kind] = [kind for kind in kinds if kind != "null"]
    return str(kind)
