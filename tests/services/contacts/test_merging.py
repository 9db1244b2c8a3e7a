"""Updates of a contact: an absent field is kept, null clears it, metadata is merged."""

from typing import Any

import pytest

from app.enums import ContactAction
from tests.services.contacts.conftest import Outreach, actions, codes

PHONE = "+12025550101"
FULL: dict[str, Any] = {
    "phone": PHONE,
    "email": "Ada@example.com",
    "firstName": "Ada",
    "lastName": "Lovelace",
    "status": "New",
    "contactMetadata": {"city": "Boston", "visits": 3},
}


def without(*names: str, **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in (FULL | changes).items() if name not in names}


@pytest.mark.parametrize(
    ("sent", "after"),
    [
        ({}, FULL),
        ({"firstName": "", "lastName": "  ", "email": "", "status": " "}, FULL),
        ({"contactMetadata": {}}, FULL),
        ({"contactMetadata": ""}, FULL),
        ({"contactMetadata": {"city": "", "visits": "  "}}, FULL),
        ({"firstName": "Augusta"}, without(firstName="Augusta")),
        ({"firstName": None}, without("firstName")),
        ({"email": None}, without("email")),
        ({"lastName": None, "status": None}, without("lastName", "status")),
        ({"contactMetadata": None}, without("contactMetadata")),
        ({"contactMetadata": {"city": None, "visits": None}}, without("contactMetadata")),
        ({"contactMetadata": {"city": None}}, without(contactMetadata={"visits": 3})),
        (
            {"contactMetadata": {"vip": True, "visits": 4.5}},
            without(contactMetadata={"city": "Boston", "visits": 4.5, "vip": True}),
        ),
        ({"city": "Paris"}, without(contactMetadata={"city": "Paris", "visits": 3})),
        ({"city": None}, without(contactMetadata={"visits": 3})),
        ({"city": " "}, FULL),
        (
            {"city": "Paris", "contactMetadata": {"city": "Rome"}},
            without(contactMetadata={"city": "Rome", "visits": 3}),
        ),
        (
            {"city": "Paris", "contactMetadata": None},
            without(contactMetadata={"city": "Paris"}),
        ),
        ({"status": "Not now"}, without(status="Not now")),
        ({"externalIds": {}, "updatedAt": None, "id": ""}, FULL),
        (
            {"id": 7, "externalIds": "A-1, A-2", "createdAt": "2026-01-01", "updatedAt": True},
            without(
                contactMetadata={
                    **FULL["contactMetadata"],
                    "createdAt": "2026-01-01",
                    "externalIds": "A-1, A-2",
                    "id": 7,
                    "updatedAt": True,
                }
            ),
        ),
        (
            {"id": "top", "contactMetadata": {"id": "inner"}},
            without(contactMetadata={**FULL["contactMetadata"], "id": "inner"}),
        ),
    ],
)
@pytest.mark.parametrize("action", [ContactAction.UPSERT, ContactAction.UPDATE_ONLY])
def test_an_update_merges(
    outreach: Outreach, sent: dict[str, Any], after: dict[str, Any], action: ContactAction
) -> None:
    outreach.apply(FULL)
    assert actions(outreach.apply({"phone": PHONE, **sent}, action=action)) == ["updated"]
    assert outreach.stored() == [after]


def test_unknown_fields_of_a_new_contact_become_metadata(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, "city": "Boston", "vip": True, "note": "", "gone": None})
    assert outreach.stored() == [
        {"phone": PHONE, "contactMetadata": {"city": "Boston", "vip": True}}
    ]


def test_names_of_read_only_fields_of_a_new_contact_become_metadata(outreach: Outreach) -> None:
    named = {"id": "crm-7", "createdAt": "2026-01-01", "updatedAt": 5, "externalIds": "none"}
    outreach.apply({"phone": PHONE, **named}, {"phone": "+12025550102", "externalIds": {}})
    assert outreach.stored() == [
        {"phone": PHONE, "contactMetadata": named},
        {"phone": "+12025550102"},
    ]


@pytest.mark.parametrize("sent", [{"crmId": "2"}, {"crmId": 1}, {"crmId": "1", "account": "x"}, []])
def test_external_ids_other_than_those_stored_are_no_metadata(
    outreach: Outreach, sent: Any
) -> None:
    outreach.apply({"phone": PHONE, "externalIdKey": "crmId", "externalIdValue": "1"})
    outreach.apply({"phone": PHONE, "externalIds": {"crmId": "1"}, "firstName": "Ada"})
    result = outreach.apply({"phone": PHONE, "externalIds": sent, "firstName": "Augusta"})
    assert codes(result) == [(0, "invalid_type", "externalIds")]
    assert outreach.stored() == [
        {"phone": PHONE, "firstName": "Ada", "externalIds": {"crmId": "1"}}
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"one": 1, "true": True, "float": 1.0},
        {"zero": 0, "false": False},
        {"large": 2**63 - 1, "small": -(2**63), "huge": 1e300, "tiny": 5e-324},
        {"b": 1, "a": 2, "é": "ü", "quote": 'say "hi"', "slash": "a\\b\t\n", "emoji": "🎈"},
    ],
)
def test_metadata_comes_back_as_it_was_sent(outreach: Outreach, values: dict[str, Any]) -> None:
    outreach.apply({"phone": PHONE, "contactMetadata": values})
    [contact] = outreach.stored()
    assert [(name, repr(value)) for name, value in contact["contactMetadata"].items()] == [
        (name, repr(value)) for name, value in values.items()
    ]


def test_true_instead_of_1_is_a_change(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, "contactMetadata": {"flag": 1}})
    outreach.apply({"phone": PHONE, "contactMetadata": {"flag": True}})
    [contact] = outreach.stored()
    assert contact["contactMetadata"]["flag"] is True


def test_texts_with_every_special_character_of_the_bulk_format_survive(
    outreach: Outreach,
) -> None:
    name = "a\tb\\N\\.\n'\"%s:x{}\r\u2028é🎈"
    outreach.apply({"phone": PHONE, "firstName": name, "status": "\\N", "lastName": "\\."})
    assert outreach.stored() == [
        {"phone": PHONE, "firstName": name, "status": "\\N", "lastName": "\\."}
    ]


def test_a_request_that_changes_nothing_is_no_revision(outreach: Outreach) -> None:
    assert outreach.revision() == 0
    outreach.apply(FULL)
    assert outreach.revision() == 1
    outreach.apply(FULL)
    outreach.apply({"phone": "bad"}, {"phone": "+12025550102", "status": "completed"})
    outreach.apply({"phone": "+12025550102"}, action=ContactAction.REMOVE)
    assert outreach.revision() == 1
    outreach.apply({"phone": PHONE, "firstName": "Augusta"})
    outreach.apply({"phone": PHONE, "externalIdKey": "crmId", "externalIdValue": "1"})
    outreach.apply({"phone": PHONE}, action=ContactAction.REMOVE)
    assert outreach.revision() == 4


def test_the_undo_log_has_the_states_before_and_after(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, "externalIdKey": "crmId", "externalIdValue": "1"})
    result = outreach.apply(
        {"phone": PHONE, "firstName": "Ada"},
        {"phone": "bad"},
        {"phone": "+12025550102", "contactMetadata": {"city": "Boston"}},
        row_numbers=[2, 3, 5],
        collect_changes=True,
    )
    empty: dict[str, Any] = {"email": None, "lastName": None, "status": None, "metadata": None}
    held = {"crmId": {"value": "1", "identifies": True}}
    before = {**empty, "phone": PHONE, "firstName": None, "externalIds": held}
    new = {
        **empty,
        "phone": "+12025550102",
        "firstName": None,
        "metadata": '{"city":"Boston"}',
        "externalIds": {},
    }
    assert [(each.row_number, each.action, each.before, each.after) for each in result.changes] == [
        (2, "updated", before, {**before, "firstName": "Ada"}),
        (5, "created", None, new),
    ]
    assert [each.contact_id for each in result.changes] == [each["id"] for each in result.success]
    removed = outreach.apply({"phone": PHONE}, action=ContactAction.REMOVE, collect_changes=True)
    (gone,) = removed.changes
    assert gone.before is not None
    age = {"createdAt": gone.before["createdAt"]}
    consent = {"consent": None, "consentSource": None, "consentAt": None}
    assert (gone.action, gone.before, gone.after) == (
        "deleted",
        {**before, "firstName": "Ada", **age, **consent},
        None,
    )
