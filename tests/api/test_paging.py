"""Parts of long lists: links that lead from part to part without loss or repetition."""

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.api.paging import CreationCursor, cursor_listing, json_list, page_links, start_position
from app.errors import ValidationFailed
from app.schemas.paging import CursorQuery
from app.schemas.parsing import read
from app.schemas.users import Message

APP = Flask("paging")


def linked(header: str) -> dict[str, str]:
    """rel -> address."""
    return {name: address for address, name in re.findall(r'<([^>]+)>; rel="(\w+)"', header)}


@pytest.mark.parametrize(
    ("number", "total", "expected"),
    [
        (1, 0, {"first": 1, "last": 1}),
        (1, 10, {"first": 1, "last": 1}),
        (1, 11, {"first": 1, "next": 2, "last": 2}),
        (2, 25, {"first": 1, "prev": 1, "next": 3, "last": 3}),
        (3, 25, {"first": 1, "prev": 2, "last": 3}),
        (9, 25, {"first": 1, "prev": 3, "last": 3}),
    ],
)
def test_a_page_links_to_its_neighbours(number: int, total: int, expected: dict[str, int]) -> None:
    with APP.test_request_context("/api/partners?name=a%26b&page=7&perPage=10"):
        found = linked(page_links(number, 10, total))
    assert found == {
        name: f"http://localhost/api/partners?name=a%26b&page={to}&perPage=10"
        for name, to in expected.items()
    }


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31)),  # noqa: DTZ001 - a zone is added
    st.uuids(),
)
def test_a_cursor_leads_back_to_its_place(moment: datetime, item: object) -> None:
    place = CreationCursor(moment.replace(tzinfo=UTC), item)  # type: ignore[arg-type] # Hypothesis' uuids are UUID
    with APP.test_request_context("/api/v1/outbound/calls?perPage=2"):
        answer = cursor_listing([], place)
        address = linked(answer.headers["Link"])["next"]
    cursor = address.partition("cursor=")[2]
    assert address.startswith("http://localhost/api/v1/outbound/calls?perPage=2&cursor=")
    assert start_position(read(CursorQuery, {"cursor": cursor})) == place


def test_the_last_page_has_no_link_to_a_next_one() -> None:
    with APP.test_request_context("/"):
        assert "Link" not in cursor_listing([], None).headers
    assert start_position(read(CursorQuery, {})) is None


@pytest.mark.parametrize("cursor", ["", "a", "....", "AAAA", "A" * 33, "A" * 31 + "é", "_" * 32])
def test_a_forged_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        start_position(read(CursorQuery, {"cursor": cursor}))
    assert refused.value.code == "invalid_cursor"


def test_a_list_is_a_bare_array_of_its_items() -> None:
    answer = json_list([Message(message="a"), {"message": "b"}])
    assert answer.get_json() == [{"message": "a"}, {"message": "b"}]
    assert json_list([]).get_json() == []


def test_two_items_of_the_same_moment_have_different_cursors() -> None:
    moment = datetime(2026, 5, 4, tzinfo=UTC) + timedelta(microseconds=1)
    with APP.test_request_context("/"):
        links = {
            cursor_listing([], CreationCursor(moment, uuid4())).headers["Link"] for _ in range(2)
        }
    assert len(links) == 2
