"""The retired call request (contract, section 2.12)."""

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from app.schemas.base import LenientInput, Resource
from app.schemas.calls import Instructions, Spoken
from app.schemas.checks import (
    MAX_METADATA_KEY,
    MAX_METADATA_KEYS,
    MAX_METADATA_VALUE,
    Omittable,
    metadata_problem,
    refusal,
)
from app.schemas.fields import E164, FilledName, Uuid

_KEY = {"type": "string", "minLength": 1, "maxLength": MAX_METADATA_KEY}
_VALUE = {"type": ["string", "number", "boolean"], "maxLength": MAX_METADATA_VALUE}
_ENTRY = {
    "type": "object",
    "anyOf": [
        {"required": ["key", "value"], "properties": {"key": _KEY, "value": _VALUE}},
        {"required": ["name", "value"], "properties": {"name": _KEY, "value": _VALUE}},
        {
            "minProperties": 1,
            "maxProperties": 1,
            "propertyNames": {"minLength": 1, "maxLength": MAX_METADATA_KEY},
            "additionalProperties": _VALUE,
        },
    ],
}


def _form_entry(value: Any) -> tuple[str, Any]:
    """Return one key-value pair from any of the three shapes that clients send."""
    if not isinstance(value, dict):
        raise refusal("wrong_type", 'An entry is an object like {"key": "city", "value": "Leeds"}.')
    if "value" in value and ("key" in value or "name" in value):
        key, content = value["key"] if "key" in value else value["name"], value["value"]
    elif len(value) == 1:
        [(key, content)] = value.items()
    else:
        sentence = 'An entry is {"key": …, "value": …} or an object with exactly one property.'
        raise refusal("wrong_shape", sentence)
    if not isinstance(key, str) or not 0 < len(key) <= MAX_METADATA_KEY:
        sentence = f"The key of an entry is text of 1 to {MAX_METADATA_KEY} characters."
        raise refusal("wrong_shape", sentence)
    problem = metadata_problem(content)
    if problem:
        raise refusal(*problem)
    return key, content


FormEntry = Annotated[tuple[str, Any], PlainValidator(_form_entry), WithJsonSchema(_ENTRY)]


class LegacyCallInput(LenientInput):
    """One call in the retired format: introNotes, or introMessage with introVoicemail."""

    name: FilledName
    to_phone_number: E164
    from_phone_number: E164
    intro_notes: Omittable[Instructions] = None
    intro_message: Omittable[Spoken] = None
    intro_voicemail: Omittable[Spoken] = None
    form_info: Omittable[Annotated[list[FormEntry], Field(max_length=MAX_METADATA_KEYS)]] = None

    def first_and_last(self) -> tuple[str, str]:
        """Split ``name`` into its first word and the rest."""
        first, _, last = self.name.strip().partition(" ")
        return first, last.strip()

    def metadata(self) -> dict[str, Any]:
        """Return ``formInfo`` as the call's metadata; of two entries with one key the
        last counts."""
        return dict(self.form_info or [])


class LegacyCallAnswer(Resource):
    """The call is accepted; this body is an addition to the contract."""

    success: bool
    message: str
    call_id: Uuid
