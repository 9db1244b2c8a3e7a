"""The one reader of JSON bodies, alone and behind an operation."""

import json
import time
from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from app.api.json_body import MAX_DEPTH, _parse_exactly, parse_json_object
from app.api.quick_json import quick_object
from app.errors import ValidationFailed
from tests.api.conftest import BODY_LIMIT, PARTNER
from tests.fixtures.hostile import HOSTILE_JSON

ADDRESS = f"/api/things/{PARTNER}"
ADMIN = {"Authorization": "Bearer partnerAdmin"}


@pytest.mark.parametrize(("body", "code"), HOSTILE_JSON.values(), ids=HOSTILE_JSON.keys())
def test_text_that_is_not_strict_json_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_json_object(body)
    assert refused.value.code == code


def test_a_repeated_name_among_many_is_refused_quickly() -> None:
    names = [f"n{index}" for index in range(20_000)]
    body = "".join(f'"{name}":0,' for name in names) + '"n":1,"n":1'
    start = time.process_time()
    with pytest.raises(ValidationFailed):
        parse_json_object(f"{{{body}}}".encode())
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b' \t\r\n{ "a" : 1 }\n', {"a": 1}),
        (b'{"a": 9223372036854775807}', {"a": 2**63 - 1}),
        (b'{"a": -9223372036854775808}', {"a": -(2**63)}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\N{GRINNING FACE}"}),
        (b'{"a": "\\\\u0000 \\\\ud800"}', {"a": "\\u0000 \\ud800"}),
        (b'{"a": ":", "b": "{\\"a\\": 1}"}', {"a": ":", "b": '{"a": 1}'}),
        (b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH, None),
    ],
)
def test_unusual_but_strict_json_is_read(body: bytes, value: dict[str, Any] | None) -> None:
    assert parse_json_object(body) == (orjson.loads(body) if value is None else value)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5), st.booleans(), st.sampled_from([None, 1]))
def test_every_value_is_read_as_it_was_written(
    value: dict[str, Any], escaped: bool, indent: int | None
) -> None:
    body = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()
    assert parse_json_object(body) == value


SIGNS = list('{}[],:"\\ 019-.eE+')
PIECES = ['"a"', '"b"', '"a":', "true", "null", "1", "-0", "1e5", "[]", "{}", "NaN", "\x00", "\n"]
ESCAPES = ["\\u0000", "\\ud83d", "\\ude00", "\\u0061", "é", "9" * 19, "9" * 40]
FRAGMENTS = st.sampled_from(SIGNS + PIECES + ESCAPES)


@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_the_quick_and_the_exact_reader_agree_on_accepted_json(inside: str) -> None:
    body = ("{" + inside + "}").encode()
    quick = quick_object(body, MAX_DEPTH)
    try:
        exact = _parse_exactly(body)
    except ValidationFailed:
        assert quick is None
    else:
        assert quick in (None, exact)
        assert orjson.loads(body) == exact == parse_json_object(body)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_the_quick_reader_reads_what_programs_write(value: dict[str, Any]) -> None:
    body = json.dumps(value, ensure_ascii=False).encode()
    assert quick_object(body, MAX_DEPTH) in (None, value)
    assert quick_object(b'{"a": {"b": [1, "c"]}, "d": ""}', MAX_DEPTH) is not None


@given(st.binary(max_size=40))
def test_any_bytes_give_an_object_or_a_refusal(body: bytes) -> None:
    try:
        assert isinstance(parse_json_object(body), dict)
    except ValidationFailed as refused:
        assert refused.message  # noqa: PT017 - either outcome is right


def refusal_of(answer: Any) -> tuple[int, str]:
    body = answer.get_json()
    assert answer.content_type == "application/json"
    assert body["statusCode"] == answer.status_code
    return answer.status_code, body["details"]["code"]


@pytest.mark.parametrize(("body", "code"), HOSTILE_JSON.values(), ids=HOSTILE_JSON.keys())
def test_an_operation_answers_hostile_json_with_400(
    things_client: FlaskClient, body: bytes, code: str
) -> None:
    if len(body) > BODY_LIMIT:
        body = b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"}"
    answer = things_client.put(ADDRESS, data=body, content_type="application/json", headers=ADMIN)
    assert refusal_of(answer) == (400, code)


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"],
)
def test_another_content_type_is_refused(things_client: FlaskClient, content_type: str) -> None:
    answer = things_client.put(ADDRESS, data=b"{}", content_type=content_type, headers=ADMIN)
    assert refusal_of(answer) == (415, "unsupported_media_type")


def test_a_charset_of_utf_8_is_accepted(things_client: FlaskClient) -> None:
    kind = 'application/json; charset="UTF-8"'
    plain = things_client.put(ADDRESS, json={"domain": "é.example"}, headers=ADMIN)
    answer = things_client.put(
        ADDRESS, data='{"domain": "é.example"}'.encode(), content_type=kind, headers=ADMIN
    )
    assert (answer.status_code, answer.get_json()) == (200, plain.get_json())


def test_a_compressed_body_is_refused(things_client: FlaskClient) -> None:
    headers = ADMIN | {"Content-Encoding": "gzip"}
    answer = things_client.put(ADDRESS, json={}, headers=headers)
    assert refusal_of(answer) == (415, "unsupported_encoding")


def test_a_body_over_the_limit_is_refused_and_one_at_the_limit_is_read(
    things_client: FlaskClient,
) -> None:
    exactly = b"{" + b" " * (BODY_LIMIT - 2) + b"}"
    read = things_client.put(ADDRESS, data=exactly, content_type="application/json", headers=ADMIN)
    over = things_client.put(
        ADDRESS, data=exactly + b" ", content_type="application/json", headers=ADMIN
    )
    assert read.status_code == 200
    assert refusal_of(over) == (413, "body_too_large")


def test_a_body_cut_off_is_refused(things_client: FlaskClient) -> None:
    answer = things_client.put(
        ADDRESS,
        data=b"{}",
        content_type="application/json",
        headers=ADMIN,
        environ_overrides={"CONTENT_LENGTH": "50"},
    )
    assert refusal_of(answer) == (400, "body_incomplete")
