"""Columns given to fields by a script, and what becomes of the others."""

import pytest

from app.contact_files import UnreadableFile
from app.errors import ValidationFailed
from app.services.imports.mapping_file import targets_of
from app.services.imports.suggestions import suggest

HEADER = ["Name", "Vorname", "Phone", "Phone 2", "crm", "A"]


def targets_for(chosen: object, header: list[str] | None = None, **keys: bool) -> list[str]:
    names = header or HEADER
    return [str(target) for target in targets_of(chosen, names, keys, suggest(names)).targets]


def test_columns_that_are_not_named_keep_their_detected_field() -> None:
    assert targets_for({"lastName": "Name"}) == [
        *("lastName", "firstName", "phone", "phone", "metadata:crm", "metadata:A"),
    ]
    assert targets_for({"phone": "Phone 2", "Number": "phone"}) == [
        *("fullName", "firstName", "metadata:Number", "phone", "metadata:crm", "metadata:A"),
    ]


def test_a_field_that_is_named_has_no_other_columns() -> None:
    assert targets_for({"phone": "Phone 2"})[2:4] == ["metadata:Phone", "phone"]


def test_a_whole_name_takes_the_place_of_its_parts() -> None:
    assert targets_for({"fullName": "Name"})[:2] == ["fullName", "metadata:Vorname"]
    assert targets_for({"firstName": "crm"})[:2] == ["metadata:Name", "metadata:Vorname"]


def test_a_column_name_is_preferred_to_a_column_letter() -> None:
    assert targets_for({"email": "A"})[5] == "email"
    assert targets_for({"email": "b"})[1] == "email"
    assert targets_for({"email": "F"})[5] == "email"


def test_external_ids_are_named_by_their_keys() -> None:
    for name in ("crmId", "externalId:crmId", "externalId", "externalIdValue"):
        assert targets_for({name: "crm"}, crmId=True)[4] == "externalId:crmId"
    with pytest.raises(ValidationFailed) as refused:
        targets_for({"externalId": "crm"}, crmId=True, siteId=False)
    assert refused.value.message == (
        "The mapping can't be used: “externalId” isn't an external id of the campaign, which has: "
        "crmId, siteId."
    )


def test_an_external_id_is_named_by_a_column_where_both_halves_are_given() -> None:
    chosen = {"externalIdKey": "A", "externalIdValue": "B"}
    assert targets_for(chosen, ["What", "Which"]) == ["externalIdKey", "externalIdValue"]


def test_columns_are_left_out() -> None:
    assert targets_for({"ignore": ["crm", "A"]})[4:] == ["ignore", "ignore"]


def test_phones_count_in_the_order_in_which_they_are_named() -> None:
    assert targets_of({"phone": ["D", "C"]}, HEADER, {}, suggest(HEADER)).phone_order == [3, 2]


def test_a_key_is_not_given_twice() -> None:
    assert targets_for({"B": "A"}, ["A", "B"]) == ["metadata:B", "metadata:B (2)"]


def test_a_column_beyond_the_last_is_none() -> None:
    with pytest.raises(UnreadableFile) as refused:
        targets_for({"phone": "G"})
    assert refused.value.code == "no_such_column"
