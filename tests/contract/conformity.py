"""Checks a value of an answer against the interface's tables."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any
from uuid import UUID

from tests.contract.interface import ADDED, ENUMS, OBJECTS, Kind, kind_of

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "any": (object,),
}


def problems(value: Any, object_name: str, place: str = "$") -> Iterator[str]:
    """Everything in which the value is not an object of that name; a complete one is expected."""
    fields = OBJECTS[object_name]
    if not isinstance(value, dict):
        yield f"{place}: no object"
        return
    for name in value.keys() - fields.keys() - ADDED.get(object_name, set()):
        yield f"{place}.{name}: not in the contract"
    for name, written in fields.items():
        if name not in value:
            yield f"{place}.{name}: missing"
            continue
        allowed = ENUMS.get((object_name, name))
        if allowed and value[name] is not None and value[name] not in allowed:
            yield f"{place}.{name}: {value[name]!r} is not one of {allowed}"
        yield from _field_problems(value[name], kind_of(written), f"{place}.{name}")


def list_problems(value: Any, object_name: str) -> Iterator[str]:
    """The same for a bare array of such objects, which must not be empty."""
    if not isinstance(value, list) or not value:
        yield f"no filled array: {value!r}"
        return
    for index, item in enumerate(value):
        yield from problems(item, object_name, f"$[{index}]")


def _field_problems(value: Any, kind: Kind, place: str) -> Iterator[str]:
    if value is None:
        if not kind.nullable and kind.type != "any":
            yield f"{place}: null"
    elif kind.is_list and isinstance(value, list):
        for item in value:
            yield from _value_problems(item, kind.type, f"{place}[]")
    elif kind.is_map and isinstance(value, dict):
        for item in value.values():
            yield from _value_problems(item, kind.type, f"{place}[]")
    elif kind.is_list or kind.is_map:
        yield f"{place}: {value!r}"
    else:
        yield from _value_problems(value, kind.type, place)


def _value_problems(value: Any, kind: str, place: str) -> Iterator[str]:
    if kind in OBJECTS:
        yield from problems(value, kind, place)
    elif not _fits(value, kind):
        yield f"{place}: {value!r} is no {kind}"


def _fits(value: Any, kind: str) -> bool:
    if kind in _TYPES:
        is_flag = isinstance(value, bool)  # which Python takes for an integer too
        return isinstance(value, _TYPES[kind]) and is_flag <= (kind in {"boolean", "any"})
    if not isinstance(value, str):
        return False
    match kind:
        case "uuid":
            return _UUID.fullmatch(value) is not None and str(UUID(value)) == value
        case "date-time":
            return _MOMENT.fullmatch(value) is not None and bool(datetime.fromisoformat(value))
        case "date":
            return bool(date.fromisoformat(value))
        case _:
            return "@" in value
