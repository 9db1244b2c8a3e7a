"""Anything that a token's holder sends is answered below 500, with a SCIM error."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from tests.api.scim.conftest import PATCH, USER, Directory

ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
FEW = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NAMES = st.sampled_from(
    [
        *("userName", "active", "emails", "emails.value", "name", "name.givenName", "groups", "id"),
        *("externalId", "meta.created", "members", "schemas", "displayName", "nothing", "$ref"),
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["value", "type", "primary", "givenName", "x"]), inner)
    ),
    max_leaves=5,
)
WORDS = st.sampled_from(
    [
        *("eq", "ne", "co", "sw", "pr", "gt", "and", "or", "not", "(", ")", "[", "]", ".", "null"),
        *("true", '"x"', '"\\u0000"', '"\\ud800"', "5", '"2020-01-01T00:00:00Z"', "\x00", "ß"),
    ]
)


def is_sound(answer: TestResponse) -> bool:
    """Whether the answer is a resource or list, or an error that names its own status."""
    body = answer.get_json()
    if answer.status_code == 200:
        return "id" in body or "totalResults" in body
    return set(body["schemas"]) == {ERROR} and body["status"] == str(answer.status_code)


@pytest.mark.alternating
@FEW
@given(parts=st.lists(NAMES | WORDS, max_size=9))
def test_a_hostile_filter_gets_a_valid_answer(directory: Directory, parts: list[str]) -> None:
    for path in ("/Users", "/Groups"):
        answer = directory.client.get(
            f"/scim/v2{path}",
            query_string={"filter": " ".join(parts)},
            headers={"Authorization": f"Bearer {directory.secret}"},
        )
        assert answer.status_code in {200, 400}, answer.text
        assert is_sound(answer), answer.text


@pytest.mark.alternating
@FEW
@given(
    operations=st.lists(
        st.fixed_dictionaries(
            {"op": st.sampled_from(["add", "Replace", "remove"])},
            optional={"path": NAMES | st.text(max_size=10), "value": VALUES},
        ),
        max_size=3,
    )
)
def test_a_hostile_patch_gets_a_valid_answer(
    directory: Directory, people: tuple[str, str], operations: list[Any]
) -> None:
    for path in people:
        answer = directory.send("PATCH", path, {"schemas": [PATCH], "Operations": operations})
        assert answer.status_code in {200, 400, 403, 409}, answer.text
        assert is_sound(answer), answer.text


@FEW
@given(body=st.dictionaries(NAMES, VALUES, max_size=4))
def test_a_hostile_body_gets_a_valid_answer(
    directory: Directory, people: tuple[str, str], body: dict[str, Any]
) -> None:
    for path in people:
        answer = directory.send("PUT", path, {"schemas": [USER], **body})
        assert answer.status_code in {200, 400, 403, 409}, answer.text
        assert is_sound(answer), answer.text


@pytest.fixture
def people(directory: Directory) -> tuple[str, str]:
    """The paths of a user and of a group with the user in it."""
    ada = directory.add_user("ada@northwind.example")
    group = directory.add_group("Sales", ada["id"])
    return f"/Users/{ada['id']}", f"/Groups/{group['id']}"


@pytest.mark.parametrize("path", ["/Users/%00", "/Users/x%2Fy", "/Groups/%FF", "/Schemas/%00"])
def test_hostile_paths_are_not_found(directory: Directory, path: str) -> None:
    assert directory.get(path).status_code == 404


def test_a_body_beyond_the_limit_is_refused(directory: Directory) -> None:
    sent = {"schemas": [USER], "userName": "x" * (1024 * 1024)}
    answer = directory.send("POST", "/Users", sent)
    assert (answer.status_code, answer.get_json()["status"]) == (413, "413")
