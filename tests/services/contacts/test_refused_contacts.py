"""Each reason for which one contact is refused while the others of the request are processed."""

from typing import Any

import pytest

from app.enums import ContactAction
from tests.services.contacts.conftest import Outreach, codes

ADA = {"phone": "+12025550101", "email": "ada@example.com", "firstName": "Ada"}
LONG_KEY, LONG_VALUE = "k" * 65, "v" * 1001

REFUSED: list[tuple[Any, str, str | None]] = [
    ("Ada", "invalid_type", None),
    (None, "invalid_type", None),
    ([ADA], "invalid_type", None),
    ({}, "missing_identifier", "phone"),
    ({"firstName": "Ada"}, "missing_identifier", "phone"),
    ({"phone": "", "email": "  "}, "missing_identifier", "phone"),
    ({"phone": None, "email": None}, "missing_identifier", "phone"),
    ({"externalIdKey": "crmId", "externalIdValue": "new"}, "missing_identifier", "phone"),
    ({"phone": "12"}, "invalid_phone", "phone"),
    ({"phone": "not a number"}, "invalid_phone", "phone"),
    ({"phone": "555-0143"}, "invalid_phone", "phone"),
    ({"phone": "+15550143"}, "invalid_phone", "phone"),
    ({"phone": "+12025550101 or so"}, "invalid_phone", "phone"),
    ({"phone": "\uff0b12025550101 and more"}, "invalid_phone", "phone"),
    ({"phone": "1" * 5000}, "invalid_phone", "phone"),
    ({"phone": 12025550101}, "invalid_type", "phone"),
    ({"phone": ["+12025550101"]}, "invalid_type", "phone"),
    ({"email": "ada"}, "invalid_email", "email"),
    ({"email": "ada@example"}, "invalid_email", "email"),
    ({"email": "ada@exa mple.com"}, "invalid_email", "email"),
    ({"email": f"{'a' * 250}@example.com"}, "value_too_long", "email"),
    ({"email": 5}, "invalid_type", "email"),
    ({**ADA, "phone": "x", "email": "y"}, "invalid_phone", "phone"),
    ({**ADA, "firstName": "x" * 101}, "value_too_long", "firstName"),
    ({**ADA, "lastName": "x" * 101}, "value_too_long", "lastName"),
    ({**ADA, "firstName": True}, "invalid_type", "firstName"),
    ({**ADA, "status": "x" * 65}, "value_too_long", "status"),
    ({**ADA, "status": 1}, "invalid_type", "status"),
    ({**ADA, "contactMetadata": []}, "invalid_type", "contactMetadata"),
    ({**ADA, "contactMetadata": 0}, "invalid_type", "contactMetadata"),
    ({**ADA, "contactMetadata": "x"}, "invalid_type", "contactMetadata"),
    ({**ADA, "contactMetadata": {"a": {}}}, "invalid_type", "contactMetadata.a"),
    ({**ADA, "contactMetadata": {"a": [1]}}, "invalid_type", "contactMetadata.a"),
    ({**ADA, "contactMetadata": {"a": LONG_VALUE}}, "value_too_long", "contactMetadata.a"),
    ({**ADA, "contactMetadata": {LONG_KEY: 1}}, "value_too_long", "contactMetadata." + "k" * 64),
    (
        {**ADA, "contactMetadata": {f"k{n}": n for n in range(51)}},
        "too_many_metadata_keys",
        "contactMetadata",
    ),
    ({**ADA, "city": {"name": "Boston"}}, "invalid_type", "city"),
    ({**ADA, "city": LONG_VALUE}, "value_too_long", "city"),
    ({**ADA, "externalIdKey": "crmId"}, "external_id_pair_incomplete", "externalIdValue"),
    ({**ADA, "externalIdValue": "1"}, "external_id_pair_incomplete", "externalIdKey"),
    (
        {**ADA, "externalIdKey": "", "externalIdValue": "1"},
        "external_id_pair_incomplete",
        "externalIdKey",
    ),
    (
        {**ADA, "externalIdKey": None, "externalIdValue": "1"},
        "external_id_pair_incomplete",
        "externalIdKey",
    ),
    (
        {**ADA, "externalIdKey": "crmid", "externalIdValue": "1"},
        "unknown_external_id_key",
        "externalIdKey",
    ),
    (
        {**ADA, "externalIdKey": "crmId", "externalIdValue": "1" * 201},
        "value_too_long",
        "externalIdValue",
    ),
    (
        {**ADA, "externalIdKey": "crmId", "externalIdValue": 1},
        "invalid_type",
        "externalIdValue",
    ),
]


@pytest.mark.parametrize(("sent", "code", "field"), REFUSED)
def test_a_contact_is_refused_with_its_code_and_field(
    outreach: Outreach, sent: Any, code: str, field: str | None
) -> None:
    result = outreach.apply(sent, {"phone": "+12025550199"})
    assert codes(result) == [(0, code, field)]
    assert result.outcomes == ["failed", "created"]
    assert outreach.stored() == [{"phone": "+12025550199"}]


def test_the_answer_echoes_what_was_sent(outreach: Outreach) -> None:
    result = outreach.apply({"phone": "(202) 555-01", "email": "Ada@Example.com"})
    [error] = result.errors
    assert error == {
        "index": 0,
        "phone": "(202) 555-01",
        "email": "Ada@Example.com",
        "code": "invalid_phone",
        "field": "phone",
        "message": result.problems[0][0].message,
        "retryable": False,
    }


def test_every_problem_of_a_contact_is_reported(outreach: Outreach) -> None:
    result = outreach.apply({"phone": "x", "email": "y", "firstName": 1, "status": "s" * 65})
    assert [(each.field, each.code) for each in result.problems[0]] == [
        ("phone", "invalid_phone"),
        ("email", "invalid_email"),
        ("firstName", "invalid_type"),
        ("status", "value_too_long"),
    ]


def test_the_limit_of_metadata_keys_is_that_of_the_stored_contact(outreach: Outreach) -> None:
    outreach.apply({**ADA, "contactMetadata": {f"k{n}": n for n in range(50)}})
    full = outreach.stored()
    one_more = {**ADA, "contactMetadata": {"new": 1}}
    exchanged = {**ADA, "contactMetadata": {"new": 1, "k0": None}}
    assert codes(outreach.apply(one_more)) == [(0, "too_many_metadata_keys", "contactMetadata")]
    assert outreach.stored() == full
    assert outreach.apply(exchanged).updated == 1
    [contact] = outreach.stored()
    assert sorted(contact["contactMetadata"]) == sorted(["new", *(f"k{n}" for n in range(1, 50))])


def test_removing_needs_a_phone_or_an_email_even_beside_an_external_id(
    outreach: Outreach,
) -> None:
    outreach.apply({**ADA, "externalIdKey": "crmId", "externalIdValue": "1"})
    sent = {"externalIdKey": "crmId", "externalIdValue": "1"}
    result = outreach.apply(sent, action=ContactAction.REMOVE)
    assert codes(result) == [(0, "missing_identifier", "phone")]
    assert len(outreach.stored()) == 1


def test_removing_a_missing_contact_is_not_found(outreach: Outreach) -> None:
    outreach.apply(ADA)
    stranger = {"phone": "+12025550102"}
    result = outreach.apply(ADA, stranger, ADA, action=ContactAction.REMOVE)
    assert codes(result) == [(1, "not_found", "phone"), (2, "not_found", "phone")]
    assert result.outcomes == ["deleted", "failed", "failed"]
    assert outreach.stored() == []


def test_the_last_identifier_cannot_be_cleared(outreach: Outreach) -> None:
    pair = {"externalIdKey": "crmId", "externalIdValue": "1"}
    outreach.apply({"phone": "+12025550101", **pair})
    before = outreach.stored()
    assert codes(outreach.apply({"phone": None, **pair})) == [(0, "missing_identifier", "phone")]
    assert outreach.stored() == before
