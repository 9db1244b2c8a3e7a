"""A fast parser for ordinary JSON. In case of doubt `json_body` uses the exact one."""

from typing import Any

import orjson

_ALIKE = bytes.maketrans(b"123456789\t\n\r", b"000000000   ")
_LONG_NUMBER = b"0" * 19


def quick_object(body: bytes, max_depth: int) -> dict[str, Any] | None:
    """Return the same object as the exact reader; None if only that one can decide.

    orjson refuses invalid JSON, halves of surrogate pairs and numbers beyond a double. It accepts
    NUL, integers beyond 64 bits and repeated names in an object. The last are found by counting: in
    a body without space before a colon each name ends in ``":``, so there are at most as many names
    as that occurs, and no more names in the result than in the body. If both numbers agree, no name
    was lost.
    """
    alike = body.translate(_ALIKE)
    if _LONG_NUMBER in alike or b" :" in alike or b"\\u0000" in body:
        return None
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    inside = alike.count(b"{") + alike.count(b"[") - 1
    if _count_names(value, inside, max_depth) != alike.count(b'":'):
        return None
    return value


def _count_names(value: dict[str, Any], inside: int, max_depth: int) -> int:
    """Return the number of names in all objects; -1 for an object that is nested too deep.
    ``inside`` is the largest number of objects and lists in it."""
    count = 0
    level: list[Any] = [value]
    for _ in range(max_depth):
        count += sum([len(each) for each in level if type(each) is dict])
        if inside == 0:
            return count
        level = next_level(level)
        inside -= len(level)
        if not level:
            return count
    return -1


def next_level(level: list[Any]) -> list[Any]:
    """Return the objects and lists directly inside of those of a level."""
    return [
        inner
        for outer in level
        for inner in (outer.values() if type(outer) is dict else outer)
        if type(inner) is dict or type(inner) is list
    ]
