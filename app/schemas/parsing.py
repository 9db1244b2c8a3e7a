"""Read decoded JSON, a form or a query string into a schema class, with all problems at once."""

from collections.abc import Iterable, Mapping, Sized
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.errors import Problem, Sentence, ValidationFailed
from app.languages import gettext, lazy_gettext
from app.schemas.base import Wire
from app.schemas.checks import NOT_NULLABLE

W = TypeVar("W", bound=Wire)

MAX_PROBLEMS = 100
"""Maximum problems in one response: naming each costs time."""

_NEEDS_TEXT = Sentence.gettext("Text is needed here; %(sent)s was sent.")
_NEEDS_WHOLE_NUMBER = Sentence.gettext("A whole number is needed here; %(sent)s was sent.")
_NEEDS_NUMBER = Sentence.gettext("A number is needed here; %(sent)s was sent.")
_NEEDS_FLAG = Sentence.gettext("True or false is needed here; %(sent)s was sent.")
_NEEDS_LIST = Sentence.gettext("A list is needed here; %(sent)s was sent.")
_NEEDS_OBJECT = Sentence.gettext("An object is needed here; %(sent)s was sent.")
_NEEDS_MOMENT = Sentence.gettext("A date and time is needed here; %(sent)s was sent.")
_NEEDED: dict[str, Sentence] = {
    "string_type": _NEEDS_TEXT,
    "string_sub_type": _NEEDS_TEXT,
    "int_type": _NEEDS_WHOLE_NUMBER,
    "int_from_float": _NEEDS_WHOLE_NUMBER,
    "float_type": _NEEDS_NUMBER,
    "bool_type": _NEEDS_FLAG,
    "list_type": _NEEDS_LIST,
    "dict_type": _NEEDS_OBJECT,
    "model_type": _NEEDS_OBJECT,
    "model_attributes_type": _NEEDS_OBJECT,
    "datetime_type": _NEEDS_MOMENT,
}
# Translators: values that were sent, in "Text is needed here; a number was sent."
_SENT: dict[type, str] = {
    str: lazy_gettext("text"),
    bool: lazy_gettext("true or false"),
    int: lazy_gettext("a number"),
    float: lazy_gettext("a number"),
    list: lazy_gettext("a list"),
    dict: lazy_gettext("an object"),
}
_SOMETHING_ELSE = lazy_gettext("something else")


def read(
    model: type[W],
    data: Any,
    *,
    by_name: bool = False,
    context: Mapping[str, Any] | None = None,
) -> W:
    """Return ``data`` as an instance of ``model``.

    ``by_name`` reads field names (forms, tests) instead of wire names. ``context`` holds limits
    that are configuration. Raises `ValidationFailed` with all problems of the data.
    """
    try:
        return model.model_validate(
            data, by_name=by_name, by_alias=not by_name, context=dict(context or {})
        )
    except ValidationError as error:
        details = error.errors(include_url=False)[:MAX_PROBLEMS]
        problems = [_problem(model, detail) for detail in details]
    raise ValidationFailed.of(*problems)


def _problem(model: type[BaseModel], details: ErrorDetails) -> Problem:
    location = [step for step in details["loc"] if step != "[key]"]
    named = details.get("ctx", {}).get("field")
    if named:
        location.append(named)
    code, message = _code_and_message(model, details)
    return Problem(".".join(str(step) for step in location), code, message)


_LIMITS: dict[str, tuple[str, Sentence]] = {
    "missing": ("required", Sentence.gettext("This is required.")),
    "string_too_long": (
        "too_long",
        Sentence.gettext("%(length)s characters are too many. Use at most %(max_length)s."),
    ),
    "string_too_short": ("blank", Sentence.gettext("This can't be left blank.")),
    "too_long": (
        "too_many",
        Sentence.gettext("%(length)s entries are too many. Use at most %(max_length)s."),
    ),
    "too_short": ("too_few", Sentence.gettext("Too few entries. Enter %(min_length)s or more.")),
    "greater_than_equal": ("out_of_range", Sentence.gettext("Enter %(ge)s or more.")),
    "less_than_equal": ("out_of_range", Sentence.gettext("Enter %(le)s or less.")),
    "string_unicode": (
        "lone_surrogate",
        Sentence.gettext("This text holds half of a surrogate pair."),
    ),
}


def _code_and_message(model: type[BaseModel], details: ErrorDetails) -> tuple[str, str]:
    """Return code and sentence; our own validators set both."""
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if "sentence" in context:
        return kind, context["sentence"]
    if kind in _LIMITS:
        code, template = _LIMITS[kind]
        length = len(value) if isinstance(value, Sized) else 0
        values = {"length": length, **context}
        return code, template(**{name: _format_value(value) for name, value in values.items()})
    if kind == "extra_forbidden":
        return "unknown_field", _unknown_field_message(model, details["loc"])
    if kind in _NEEDED and value is None:
        return "not_nullable", str(NOT_NULLABLE)
    if kind in _NEEDED:
        sent_type = _SENT.get(type(value), _SOMETHING_ELSE)
        return "wrong_type", _NEEDED[kind](sent=sent_type)
    message = gettext("This value can't be used here: check its type and format.")
    return "wrong_type", message


def _format_value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _unknown_field_message(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    *parents, last = location
    return unknown_name("field", str(last), _wire_fields(_model_at(model, parents)))


def unknown_name(kind: str, name: str, allowed: Iterable[str]) -> str:
    """Return the sentence for an unknown field or parameter; it suggests the nearest known name."""
    name = name[:100]
    by_folded = {each.casefold(): each for each in allowed}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    if near:
        return f'There is no {kind} "{name}" here. Did you mean "{by_folded[near[0]]}"?'
    return f'There is no {kind} "{name}" here.'


def _wire_fields(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_at(model: type[BaseModel], location: list[int | str]) -> type[BaseModel]:
    """Return the class of the object at a position of the body."""
    for step in location:
        if isinstance(step, int):
            continue
        for name, info in model.model_fields.items():
            if step in (info.alias, name):
                model = _model_in(info.annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        nested = _model_in(argument)
        if nested:
            return nested
    return None
