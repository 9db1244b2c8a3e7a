"""Whatever is wrong with a value, in every class of the wire: a refusal with a published code."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args

import pytest
from pydantic import BeforeValidator
from pydantic_core import PydanticKnownError, core_schema

from app.api import error_codes
from app.errors import Problem, ValidationFailed
from app.schemas import calls, contacts, figures, legacy, organizations, paging, partners, users
from app.schemas.base import Input, Query, Wire
from app.schemas.parsing import read

MODULES = (calls, contacts, figures, legacy, organizations, paging, partners, users)
READ = sorted(
    {
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Input | Query)
    },
    key=lambda kind: kind.__name__,
)
PUBLISHED = {
    *(*error_codes.EVERY_BODY, *error_codes.QUERY, *error_codes.SELECTORS, *error_codes.DAYS),
    *("too_many_contacts", "external_id_pair_incomplete"),
}
HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e300, 2**31, 2**63 - 1),
    *("", " ", "x", "\x00", "é" * 300, "x" * 20_000, "+", "#", "2026-02-30", "9" * 30),
    *([], [None], ["x"] * 101, [{}] * 101, [[[]]], [{"id": None}], [{"x": 1}]),
    *({}, {"": ""}, {"x": None}, {"x" * 200: "#fff"}, {"x": {"y": {}}}),
    {str(number): "#fff" for number in range(101)},
    {str(number): "x" * 20_000 for number in range(51)},
)
"""Values that the JSON reader accepts: of every type and beyond every limit."""
SIZES = {"min_length": 1, "max_length": 1, "max_digits": 1, "decimal_places": 1, "whole_digits": 1}
LIMITS = {"gt": 1, "ge": 1, "lt": 1, "le": 1, "multiple_of": 1, "expected_version": 1}
NAMES = (
    *("attribute", "class", "class_name", "discriminator", "encoding", "encoding_error", "error"),
    *("expected", "expected_schemes", "expected_tags", "field_type", "method_name", "pattern"),
    "tag",
)
CONTEXT = {
    **dict.fromkeys(NAMES, "x"),
    **SIZES,
    **LIMITS,
    "tz_expected": 1,
    "tz_actual": 1,
    "actual_length": None,
}


def problems(kind: type[Wire], data: Any) -> Iterator[Problem]:
    try:
        read(kind, data)
    except ValidationFailed as refused:
        yield from refused.problems


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_every_value_of_every_field_is_accepted_or_refused_with_a_published_code(
    kind: type[Wire],
) -> None:
    found = [
        problem
        for field in kind.wire_fields()
        for value in HOSTILE
        if isinstance(value, str) or not issubclass(kind, Query)  # which holds texts only
        for problem in problems(kind, {field: value})
    ]
    assert {problem.code for problem in found} - PUBLISHED == set()
    assert [each for each in found if not each.message.endswith((".", "?"))] == []


@pytest.mark.parametrize("error", get_args(core_schema.ErrorType))
def test_every_kind_of_error_has_a_published_code_and_a_sentence(error: Any) -> None:
    length = {"actual_length": 1} if error == "too_short" else {}

    def refuse(_value: Any) -> Any:
        raise PydanticKnownError(error, CONTEXT | length)

    class Refusing(Input):
        field: Annotated[Any, BeforeValidator(refuse)]

    values: tuple[Any, ...] = (None, "x", 3, [], {"a": 1})
    found = [each for value in values for each in problems(Refusing, {"field": value})]
    assert {problem.code for problem in found} - PUBLISHED == set()
    assert len(found) == len(values)
    for problem in found:
        assert problem.message.endswith((".", "?"))


@pytest.mark.parametrize(
    ("kind", "field", "allowed"),
    [
        (partners.UpdatePartnerInput, "chatTemplateColors", 100),
        (calls.OutboundCallInput, "metadata", 50),
    ],
)
def test_an_object_with_too_many_entries_is_refused_with_their_number(
    kind: type[Wire], field: str, allowed: int
) -> None:
    entries = {f"key{number}": "#fff" for number in range(allowed + 1)}
    call = {"agentId": "a", "contact": {"phoneNumber": "+12025550123"}}
    data = (call if kind is calls.OutboundCallInput else {}) | {field: entries}
    message = f"{allowed + 1} entries are too many. Use at most {allowed}."
    assert list(problems(kind, data)) == [Problem(field, "too_many", message)]
