"""The published schemas say what the contract's tables say, field by field."""

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from app.schemas import (
    calls,
    contacts,
    errors,
    figures,
    legacy,
    oauth,
    organizations,
    partners,
    users,
)
from app.schemas.base import Wire
from app.schemas.json_schema import component_schemas
from app.schemas.parsing import read
from tests.schemas.contract_tables import NO_DEFAULT, TABLES, DeclaredType

ID = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"
MODULES = (calls, contacts, errors, figures, legacy, oauth, organizations, partners, users)
MODELS = [
    thing
    for module in MODULES
    for thing in vars(module).values()
    if isinstance(thing, type) and issubclass(thing, Wire) and thing.model_fields
]
PUBLISHED = component_schemas(MODELS)


def property_of(schema: dict[str, Any], *, required: bool) -> DeclaredType:
    """A property of a published schema in the words of the contract."""
    if "$ref" in schema:
        return DeclaredType(type=schema["$ref"].rpartition("/")[2], required=required)
    kinds = schema["type"]
    nullable = isinstance(kinds, list)
    items = schema.get("items")
    of = None
    if items is not None:
        of = items["$ref"].rpartition("/")[2] if "$ref" in items else items["type"]
    enum = schema.get("enum")
    return DeclaredType(
        type=kinds[0] if nullable else kinds,
        format=schema.get("format"),
        nullable=nullable,
        required=required,
        default=schema.get("default", NO_DEFAULT),
        enum=tuple(value for value in enum if value is not None) if enum else None,
        of=of,
    )


@pytest.mark.parametrize("name", TABLES)
def test_the_published_schema_says_what_the_contract_says(name: str) -> None:
    published = PUBLISHED[name]
    required = published.get("required", [])
    found = {
        field: property_of(schema, required=field in required)
        for field, schema in published["properties"].items()
        if not schema.get("x-addition")
    }
    assert found == TABLES[name]


@pytest.mark.parametrize("name", TABLES)
def test_a_nullable_list_of_values_lists_null(name: str) -> None:
    for schema in PUBLISHED[name]["properties"].values():
        if "enum" in schema:
            assert (None in schema["enum"]) == isinstance(schema["type"], list)


def test_the_additions_to_the_contract_are_exactly_these() -> None:
    added = {
        f"{name}.{field}"
        for name, schema in PUBLISHED.items()
        for field, inner in schema["properties"].items()
        if inner.get("x-addition") and field not in {"page", "perPage"}
    }
    assert added == {
        "BulkQuery.dryRun",
        "BulkResult.ignored",
        "BulkSuccess.id",
        "Call.statusDetail",
        "CallAccepted.callId",
        "CallAccepted.status",
        "Organization.name",
        "User.userType",
    }


def test_bodies_refuse_unknown_fields_and_answers_may_have_more() -> None:
    closed = {name for name, schema in PUBLISHED.items() if "additionalProperties" in schema}
    assert {"CreatePartnerInput", "BrandUIColor", "UpdateUserInput", "BulkContactsInput"} <= closed
    assert closed.isdisjoint({"Partner", "User", "Error", "OutboundCallInput", "LegacyCallInput"})


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("UpdatePartnerInput", {"brandUIColors": [{"name": "a", "value": "RebeccaPurple"}]}),
        ("UpdatePartnerInput", {"chatTemplateColors": {"head": "RGB(1, 2, 3)"}}),
        ("UpdatePartnerInput", {"supportEmail": "ünal@münchen.example"}),
        ("UpdatePartnerInput", {"id": ID, "createdDate": "?", "processorTrackingCustomerId": 1}),
        ("UpdateOrganizationInput", {"id": ID, "name": "Hillside", "tempDemoOrg": False}),
        ("UpdateUserInput", {"id": ID, "userType": "standard", "orgId": None}),
    ],
)
def test_an_accepted_body_fits_the_published_schema(name: str, sent: dict[str, Any]) -> None:
    models = {model.__name__: model for model in MODELS}
    read(models[name], sent)
    document = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": PUBLISHED}}
    assert list(Draft202012Validator(document).iter_errors(sent)) == []


@pytest.mark.parametrize("name", ["UpdatePartnerInput", "UpdateUserInput", "CreatePartnerInput"])
def test_an_unknown_field_fits_no_published_schema(name: str) -> None:
    document = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": PUBLISHED}}
    sent = {"partnerName": "x"} if name == "CreatePartnerInput" else {}
    assert Draft202012Validator(document).is_valid(sent)
    assert not Draft202012Validator(document).is_valid(sent | {"colour": "red"})
