"""Properties of any request: the counts add up, and a dry run says what the real one does."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.enums import ContactAction
from app.services.contacts import BulkResult
from tests.fixtures.databases import BACKENDS
from tests.matrix import rotating
from tests.services.contacts.conftest import Outreach

PHONES = ["+12025550101", "+12025550102", "202 555 0101", "+12025550103", "bad", "", None]
EMAILS = ["ada@example.com", "ADA@example.com", "grace@example.com", "bad", " ", None]
STATUSES = ["new", "completed", " Disqualified", "", None, "x" * 65]
KEYS = ["crmId", "crmId", "account", "unknown", ""]
VALUES = ["1", "2", "2", None]
METADATA: list[Any] = [None, {}, {"a": 1}, {"a": None}, {"b": "x", "a": ""}, {"a": []}, "text"]


def optional(field: str, values: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(st.just({}), st.sampled_from(values).map(lambda value: {field: value}))


contact = st.one_of(
    st.tuples(
        optional("phone", PHONES),
        optional("email", EMAILS),
        optional("status", STATUSES),
        optional("externalIdKey", KEYS),
        optional("externalIdValue", VALUES),
        optional("contactMetadata", METADATA),
        optional("city", ["Boston", None, {}]),
        optional("id", ["x", {}]),
        optional("externalIds", [{}, {"crmId": "1"}]),
    ).map(lambda parts: {name: value for part in parts for name, value in part.items()}),
    st.sampled_from([None, "text", 5, []]),
)
request_of = st.tuples(
    st.lists(contact, min_size=1, max_size=8),
    st.sampled_from(list(ContactAction)),
    st.sampled_from([None, ("crmId", "1"), ("account", "east")]),
).filter(lambda request: request[2] != ("crmId", "1") or len(request[0]) == 1)


def shape(result: BulkResult) -> dict[str, Any]:
    """The answer without the ids that only writing gives."""
    body = result.body()
    new = {each["id"] for each in body["success"] if each["action"] == "created"}
    for success in body["success"]:
        if success["id"] in new:
            success["id"] = None
    return body


@pytest.mark.parametrize("backend", rotating("any request", BACKENDS), indirect=True)
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(requests=st.lists(request_of, min_size=1, max_size=4))
def test_counts_add_up_and_a_dry_run_is_the_result(
    outreach: Outreach, requests: list[tuple[list[Any], ContactAction, tuple[str, str] | None]]
) -> None:
    with outreach.session.begin_nested() as savepoint:
        for sent, action, root in requests:
            before = outreach.stored()
            tried = outreach.apply(*sent, action=action, root_external_id=root, dry_run=True)
            assert outreach.stored() == before
            done = outreach.apply(*sent, action=action, root_external_id=root)
            assert shape(done) == shape(tried)
            assert done.outcomes == tried.outcomes
            assert sum(done.counts.values()) == len(sent) == len(done.outcomes)
            assert done.counts == {
                word: done.outcomes.count(word)
                for word in ("created", "updated", "deleted", "ignored", "failed")
            }
            assert len(outreach.stored()) == len(before) + done.created - done.deleted
        savepoint.rollback()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ([{"phone": "+12025550101"}], "1 contact was sent: 1 created, 0 updated, 0 deleted, "),
        ([{}, {}], "2 contacts were sent: 0 created, 0 updated, 0 deleted, 0 ignored, 2 failed."),
    ],
)
def test_the_message_says_the_counts(outreach: Outreach, sent: list[Any], message: str) -> None:
    assert outreach.apply(*sent).message.startswith(message)


def test_a_failed_contact_leaves_its_place_in_the_order(outreach: Outreach) -> None:
    numbers = [f"+1202555{n:04d}" if n % 3 else "bad" for n in range(1200)]
    result = outreach.apply(*({"phone": number} for number in numbers))
    assert [each["index"] for each in result.errors] == list(range(0, 1200, 3))
    assert [each["phone"] for each in result.success] == [n for n in numbers if n != "bad"]
    assert [each["phone"] for each in outreach.stored()] == [n for n in numbers if n != "bad"]
