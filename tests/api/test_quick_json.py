"""The quick reader of bodies says what the exact one says, or nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.json_body import MAX_DEPTH, _parse_exactly
from app.api.quick_json import quick_object
from app.errors import ValidationFailed

texts = st.text(st.sampled_from('ab":\\{}[], \t\n0é\u2028🎈'), max_size=8)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)
written = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : "), ("\n,", ":\t")])
# Pieces of JSON put together blindly: names twice, broken numbers, cut ends.
PIECES = [
    '{"a":',
    "{",
    "}",
    '"a"',
    '"b":',
    '"\\u0022:"',
    '"\\":"',
    ":",
    ",",
    "[",
    "]",
    "1",
    "1e400",
    "9223372036854775808",
    "-0",
    "null",
    "NaN",
    '"\\u0000"',
    '"\\ud800"',
]
pieces = st.lists(st.sampled_from([*PIECES, " ", "\x00"]), max_size=12).map("".join)


def exact(body: bytes) -> Any:
    try:
        return _parse_exactly(body)
    except ValidationFailed:
        return None


@given(st.dictionaries(texts, values, max_size=4), written, st.booleans())
def test_the_quick_reader_agrees_with_the_exact_one(
    value: dict[str, Any], separators: tuple[str, str], ascii_only: bool
) -> None:
    body = json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()
    quick = quick_object(body, MAX_DEPTH)
    assert quick is None or repr(quick) == repr(exact(body)) == repr(value)


@given(pieces)
def test_the_quick_reader_never_accepts_what_must_be_refused(text: str) -> None:
    body = text.encode()
    quick = quick_object(body, MAX_DEPTH)
    assert quick is None or repr(quick) == repr(exact(body))


@pytest.mark.parametrize(
    "body",
    [
        b'{"contacts":[{"phone":"+12025550101","contactMetadata":{"a":1,"b":[true,null]}}]}',
        b'{"contacts": [{"phone": "+12025550101", "note": "at 10:30"}]}',
        b'{\n  "contacts": [\n    {\n      "phone": "\\u002b12025550101"\n    }\n  ]\n}',
    ],
)
def test_ordinary_bodies_are_read_quickly(body: bytes) -> None:
    assert quick_object(body, MAX_DEPTH) == json.loads(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":2}',
        b'{"a" :1,"a":2}',
        b'{"a":{"b":1,"\\u0062":2}}',
        b'{"a":1,"a":"\\u0022:"}',
        b'{"a":"\\u0000"}',
        b'{"a":9223372036854775808}',
        b'{"a":NaN}',
        b'[{"a":1}]',
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"a":' + b"[" * 32 + b"]" * 32 + b"}",
    ],
)
def test_doubtful_bodies_are_left_to_the_exact_reader(body: bytes) -> None:
    assert quick_object(body, MAX_DEPTH) is None
