"""The base of all schema classes: names, strictness and partial updates.

Fields are snake_case in the code and have the contract's names on the wire. `wire_name` is the only
place that translates between the two.
"""

from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    JsonValue,
    ModelWrapValidatorHandler,
    model_validator,
)
from pydantic_core import CoreSchema

_EXCEPTIONS = {
    "brand_ui_colors": "brandUIColors",
    "referral_ui_customization": "referralUICustomization",
    "assistant_id": "agentId",
    "assistant_limit": "agentLimit",
    "assistant_timezone": "agentTimezone",
    "chat_assistant_id": "chatAgentId",
    "default_assistant_limit": "defaultAgentLimit",
    "default_assistant_name": "defaultAgentName",
    "total_assistants_created": "totalAgentsCreated",
    "last_sign_in": "lastLogin",
}
"""Names that a plain camel-case rule converts wrongly, and words that only the contract uses."""


ADDITION: dict[str, JsonValue] = {"x-addition": True}
"""Marks a field that the contract does not have, in the published schemas."""


def wire_name(name: str) -> str:
    """``logo_img_url`` -> ``logoImgUrl``."""
    if name in _EXCEPTIONS:
        return _EXCEPTIONS[name]
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class Wire(BaseModel):
    """Base of every schema class. The code uses field names, JSON has wire names."""

    model_config = ConfigDict(
        alias_generator=wire_name,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
    )

    @classmethod
    def wire_fields(cls) -> list[str]:
        """The names of its fields on the wire, in order."""
        return [info.alias or name for name, info in cls.model_fields.items()]


class Resource(Wire):
    """A response, filled by services field by field."""


class Input(Wire):
    """A request body. Nothing is coerced: ``"1"`` and ``true`` aren't integers.

    An unknown field is refused (`LenientInput` ignores it). Where ``resource`` is set, the other
    fields of that resource are read-only here: sent back as they were answered, they are ignored.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    resource: ClassVar[type[Resource] | None] = None

    @model_validator(mode="wrap")
    @classmethod
    def _ignore_read_only_fields(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if cls.resource is not None and isinstance(data, dict):
            read_only = set(cls.resource.wire_fields()) - set(cls.wire_fields())
            data = {name: value for name, value in data.items() if name not in read_only}
        return handler(data)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        json_schema = handler(schema)
        if cls.resource is not None:
            ignored = {"description": "Read-only: ignored when it is sent back."}
            names = "|".join(sorted(set(cls.resource.wire_fields()) - set(cls.wire_fields())))
            published = handler.resolve_ref_schema(json_schema)
            published["patternProperties"] = {f"^(?:{names})$": ignored}
        return json_schema

    def sent(self) -> dict[str, Any]:
        """Return the fields that the request sent, by field name; absent ones are not included."""
        return {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set
        }


class LenientInput(Input):
    """A request body that ignores unknown fields (docs/decisions/json-api.md#request-bodies)."""

    model_config = ConfigDict(extra="ignore")


class Query(Wire):
    """The query string: values arrive as text, unknown parameters are ignored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")
