"""Undoing what a file changed: apply then undo is as before, and what others did since stays."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.enums import ContactAction
from app.services.contacts.results import UndoStep
from app.services.contacts.undo import undo
from tests.services.contacts.conftest import Outreach
from tests.services.contacts.test_counts_and_dry_runs import request_of

ADA, GRACE = "+12025550101", "+12025550102"


def batched(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def everything(outreach: Outreach) -> list[tuple[Any, ...]]:
    """Every column of the campaign's contacts and of their external ids, but when they changed."""
    columns = "id, phone, email, email_key, first_name, last_name, status, created_at"
    columns += ", consent, consent_source, consent_at"
    queries = (
        f"SELECT {columns}, CAST(contact_metadata AS TEXT) FROM contacts ORDER BY id",
        "SELECT contact_id, key, value, identifies FROM contact_external_ids ORDER BY 1, 2",
    )
    outreach.session.flush()
    return [tuple(row) for query in queries for row in outreach.session.execute(text(query))]


def change(
    outreach: Outreach,
    *sent: Any,
    action: ContactAction = ContactAction.UPSERT,
    batch_size: int = 500,
) -> list[UndoStep]:
    """Applies contacts as those of a file; its undo log, the last step first."""
    steps: list[UndoStep] = []
    for number, part in enumerate(batched(sent, batch_size)):
        rows = range(number * batch_size, number * batch_size + len(part))
        result = outreach.apply(*part, action=action, row_numbers=rows, collect_changes=True)
        steps += result.changes
    return steps[::-1]


def undo_import(outreach: Outreach, steps: list[UndoStep]) -> list[tuple[str, dict[str, str]]]:
    tried = undo(outreach.session, outreach.campaign, steps, dry_run=True)
    done = undo(outreach.session, outreach.campaign, steps)
    assert done == tried
    return [(one.outcome, one.fields_left) for one in done]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    first=st.lists(request_of, max_size=3),
    request=request_of,
    more=request_of,
    batch_size=st.integers(1, 4),
)
def test_an_undo_restores_the_state_before(
    outreach: Outreach, first: list[Any], request: Any, more: Any, batch_size: int
) -> None:
    with outreach.session.begin_nested() as savepoint:
        for sent, action, root in first:
            outreach.apply(*sent, action=action, root_external_id=root)
        before = everything(outreach)
        sent, action, _ = request
        steps = change(outreach, *sent, *more[0], action=action, batch_size=batch_size)
        for part in batched(steps, batch_size):
            outcomes = {one.outcome for one in undo(outreach.session, outreach.campaign, part)}
            assert outcomes <= {"removed", "restored", "broughtBack", "unchanged"}
        assert everything(outreach) == before
        savepoint.rollback()
    outreach.session.expire_all()


def test_fields_that_changed_since_are_kept(outreach: Outreach) -> None:
    outreach.apply(
        {"phone": ADA, "firstName": "Ada", "lastName": "King", "city": "Hove", "visits": 1}
    )
    steps = change(
        outreach,
        {"phone": ADA, "firstName": "Adah", "lastName": "Byron", "city": "Bath", "visits": True},
    )
    outreach.apply({"phone": ADA, "lastName": "Lovelace", "city": "York", "note": "kept"})
    assert undo_import(outreach, steps) == [
        ("partly", {"lastName": "changedSince", "contactMetadata.city": "changedSince"})
    ]
    assert outreach.stored() == [
        {
            "phone": ADA,
            "firstName": "Ada",
            "lastName": "Lovelace",
            "contactMetadata": {"city": "York", "visits": 1, "note": "kept"},
        }
    ]


def test_a_value_that_was_set_by_hand_to_that_of_an_earlier_row_is_kept(outreach: Outreach) -> None:
    before = {"phone": ADA, "firstName": "Ada", "consent": "yes", "plan": "A"}
    own = {"externalIdKey": "crmId", "externalIdValue": "7"}
    outreach.apply(before | own)
    steps = change(
        outreach,
        {"phone": ADA, "firstName": "Adah", "consent": "no", "plan": "B", **own},
        {"phone": ADA, "firstName": "Adele", "consent": "yes", "lastName": "King"},
        {"phone": ADA, "plan": "C", "externalIdKey": "crmId", "externalIdValue": "8"},
        {"phone": ADA, "plan": "A", "externalIdKey": "crmId", "externalIdValue": "7"},
    )
    since = {"phone": ADA, "firstName": "Adah", "consent": "no", "plan": "C"}
    outreach.apply(since | own | {"externalIdValue": "8"})
    assert undo_import(outreach, steps) == [
        ("unchanged", {"contactMetadata.plan": "putBack", "externalIds.crmId": "putBack"}),
        ("unchanged", {}),
        ("restored", {"firstName": "putBack", "contactMetadata.consent": "putBack"}),
        ("unchanged", {}),
    ]
    metadata = {"consent": "no", "plan": "C"}
    ids = {"externalIds": {"crmId": "8"}}
    assert outreach.stored() == [
        {"phone": ADA, "firstName": "Adah", "contactMetadata": metadata} | ids
    ]


def test_consent_that_is_restored_is_as_old_as_it_was(outreach: Outreach) -> None:
    outreach.apply({"phone": ADA, "consent": "yes"}, {"phone": GRACE, "consent": "no"})
    before = everything(outreach)
    refused = {"phone": ADA, "consent": "no", "consentSource": "letter"}
    steps = change(outreach, refused, {"phone": ADA, "consent": "yes"}, batch_size=1)
    steps = change(outreach, {"phone": GRACE, "consent": None}) + steps
    for step in steps:
        assert undo_import(outreach, [step]) == [("restored", {})]
    assert everything(outreach) == before


def test_a_number_that_another_contact_has_by_now_stays_with_it(outreach: Outreach) -> None:
    outreach.apply({"phone": ADA, "email": "ada@example.com"})
    steps = change(outreach, {"phone": GRACE, "email": "ada@example.com", "firstName": "Ada"})
    outreach.apply({"phone": ADA, "firstName": "Grace"})
    assert undo_import(outreach, steps) == [("partly", {"phone": "taken"})]
    assert outreach.stored() == [
        {"phone": GRACE, "email": "ada@example.com"},
        {"phone": ADA, "firstName": "Grace"},
    ]


def test_the_only_identifier_of_a_contact_is_left(outreach: Outreach) -> None:
    outreach.apply({"email": "ada@example.com"})
    steps = change(outreach, {"phone": ADA, "email": "ada@example.com"})
    outreach.apply({"phone": ADA, "email": None}, contact_id=UUID(steps[0].contact_id))
    assert undo_import(outreach, steps) == [("left", {"phone": "needed"})]
    assert outreach.stored() == [{"phone": ADA}]


def test_created_contacts_are_removed_and_changed_ones_are_listed(
    outreach: Outreach,
) -> None:
    steps = change(outreach, {"phone": ADA}, {"phone": GRACE}, {"email": "gone@example.com"})
    outreach.apply({"phone": GRACE, "firstName": "Grace"})
    outreach.apply({"email": "gone@example.com"}, action=ContactAction.REMOVE)
    assert undo_import(outreach, steps) == [("gone", {}), ("removedChanged", {}), ("removed", {})]
    assert outreach.stored() == []


def test_removed_contacts_come_back_unless_their_identity_is_taken(outreach: Outreach) -> None:
    outreach.apply(
        {"phone": ADA, "externalIdKey": "crmId", "externalIdValue": "7", "b": 1.0, "a": "x"},
        {"phone": GRACE},
    )
    before = everything(outreach)
    steps = change(outreach, {"phone": ADA}, {"phone": GRACE}, action=ContactAction.REMOVE)
    assert outreach.stored() == []
    outreach.apply({"phone": GRACE, "firstName": "Another"})
    assert undo_import(outreach, steps) == [("taken", {}), ("broughtBack", {})]
    after = everything(outreach)
    assert [row for row in before if row in after] == [before[0], before[2]]
    assert [each.get("firstName") for each in outreach.stored()] == [None, "Another"]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_external_id_goes_back_to_its_earlier_contact(outreach: Outreach) -> None:
    own = {"externalIdKey": "crmId", "externalIdValue": "7"}
    outreach.apply({"phone": ADA, **own}, {"phone": GRACE})
    before = everything(outreach)
    steps = change(
        outreach,
        {"phone": ADA, "externalIdKey": "crmId", "externalIdValue": "8"},
        {"phone": GRACE, **own},
        batch_size=1,
    )
    for step in steps:
        assert undo_import(outreach, [step]) == [("restored", {})]
    assert everything(outreach) == before
