"""The schema classes as JSON Schema (draft 2020-12, that of OpenAPI 3.1)."""

from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import (
    GenerateJsonSchema,
    JsonSchemaMode,
    JsonSchemaValue,
    models_json_schema,
)
from pydantic_core import core_schema

from app.schemas.base import Resource, Wire

REF_TEMPLATE = "#/components/schemas/{model}"


class _WireSchema(GenerateJsonSchema):
    """Null as a second type in place of a union, no titles, no ``default: null``."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        if isinstance(inner.get("type"), str):
            nullable = inner | {"type": [inner["type"], "null"]}
            if "enum" in inner:
                nullable["enum"] = [*inner["enum"], None]
            return nullable
        return super().nullable_schema(schema)

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") is None and "default_factory" not in schema:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - signature of the base class
        return False


def component_schemas(models: Iterable[type[Wire]]) -> dict[str, dict[str, Any]]:
    """Return the schemas, by name, of the models and of everything they refer to.

    Resources are described as they are written, inputs and queries as they are read.
    """
    modes: list[tuple[type[Wire], JsonSchemaMode]] = [
        (model, "serialization" if issubclass(model, Resource) else "validation")
        for model in dict.fromkeys(models)
    ]
    _, document = models_json_schema(
        modes, by_alias=True, ref_template=REF_TEMPLATE, schema_generator=_WireSchema
    )
    answers = _names_of(Resource)
    return {
        name: _public_schema(schema, closed=name not in answers)
        for name, schema in sorted(document["$defs"].items())
    }


def _names_of(base: type[Wire]) -> set[str]:
    """Return the names of all classes derived from ``base``."""
    names = {base.__name__}
    for child in base.__subclasses__():
        names |= _names_of(child)
    return names


def _public_schema(schema: dict[str, Any], *, closed: bool) -> dict[str, Any]:
    """Return the schema without the internal name; answers may get further fields,
    bodies may not."""
    dropped = {"title"} if closed else {"title", "additionalProperties"}
    published = {key: value for key, value in schema.items() if key not in dropped}
    if "description" in published:
        published["description"] = published["description"].replace("``", "`")
    return published
