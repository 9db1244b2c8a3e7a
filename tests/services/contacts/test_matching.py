"""Which stored contact a contact of a request is."""

from typing import Any

import pytest
from sqlalchemy import update

from app.enums import ContactAction
from app.errors import Problem, ValidationFailed
from app.models import ExternalIdKey
from tests.services.contacts.conftest import Outreach, actions, codes

PHONE, OTHER_PHONE = "+12025550101", "+12025550102"
EMAIL, OTHER_EMAIL = "ada@example.com", "grace@example.com"


def crm(value: str | None) -> dict[str, Any]:
    return {"externalIdKey": "crmId", "externalIdValue": value}


@pytest.mark.parametrize(
    ("stored", "sent", "after"),
    [
        ({"phone": PHONE}, {"phone": "(202) 555-0101"}, {"phone": PHONE}),
        ({"phone": PHONE}, {"phone": "1 202 555 0101"}, {"phone": PHONE}),
        ({"email": EMAIL}, {"email": " ADA@Example.COM "}, {"email": "ADA@Example.COM"}),
        (
            {"phone": PHONE},
            {"phone": PHONE, "email": EMAIL},
            {"phone": PHONE, "email": EMAIL},
        ),
        (
            {"phone": PHONE, "email": EMAIL},
            {"phone": OTHER_PHONE, "email": EMAIL},
            {"phone": OTHER_PHONE, "email": EMAIL},
        ),
        (
            {"phone": PHONE, **crm("7")},
            {"phone": OTHER_PHONE, **crm("7")},
            {"phone": OTHER_PHONE, "externalIds": {"crmId": "7"}},
        ),
        (
            {"phone": PHONE, **crm("7")},
            {"firstName": "Ada", **crm(" 7 ")},
            {"phone": PHONE, "firstName": "Ada", "externalIds": {"crmId": "7"}},
        ),
        (
            {"phone": PHONE, **crm("7")},
            {"phone": PHONE, **crm("8")},
            {"phone": PHONE, "externalIds": {"crmId": "8"}},
        ),
        (
            {"phone": PHONE, **crm("7")},
            {"phone": PHONE, **crm(None)},
            {"phone": PHONE},
        ),
    ],
)
def test_a_contact_is_found_by_any_of_its_identifiers(
    outreach: Outreach, stored: dict[str, Any], sent: dict[str, Any], after: dict[str, Any]
) -> None:
    created = outreach.apply(stored)
    updated = outreach.apply(sent)
    assert actions(updated) == ["updated"]
    assert updated.success[0]["id"] == created.success[0]["id"]
    assert outreach.stored() == [after]


@pytest.mark.parametrize(
    "sent",
    [
        {"phone": PHONE, "email": OTHER_EMAIL},
        {"phone": PHONE, **crm("2")},
        {"email": EMAIL, **crm("2")},
        {"phone": OTHER_PHONE, "email": OTHER_EMAIL, **crm("1")},
    ],
)
@pytest.mark.parametrize("action", list(ContactAction))
def test_identifiers_of_different_contacts_are_ambiguous(
    outreach: Outreach, sent: dict[str, Any], action: ContactAction
) -> None:
    outreach.apply(
        {"phone": PHONE, "email": EMAIL, **crm("1")},
        {"phone": OTHER_PHONE, "email": OTHER_EMAIL, **crm("2")},
    )
    before = outreach.stored()
    result = outreach.apply(sent, action=action)
    assert codes(result) == [(0, "ambiguous_match", "phone")]
    assert outreach.stored() == before


def test_the_same_contact_twice_is_processed_in_order(outreach: Outreach) -> None:
    result = outreach.apply(
        {"phone": PHONE, "firstName": "Ada", "contactMetadata": {"visits": 1}},
        {"phone": PHONE, "email": EMAIL, "contactMetadata": {"city": "Boston"}},
        {"email": EMAIL, "firstName": "Augusta", "contactMetadata": {"visits": 2}},
    )
    assert actions(result) == ["created", "updated", "updated"]
    assert len({success["id"] for success in result.success}) == 1
    assert outreach.stored() == [
        {
            "phone": PHONE,
            "email": EMAIL,
            "firstName": "Augusta",
            "contactMetadata": {"visits": 2, "city": "Boston"},
        }
    ]


def test_a_number_released_within_the_request_is_free_again(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, "email": EMAIL})
    result = outreach.apply(
        {"phone": OTHER_PHONE, "email": EMAIL},
        {"phone": PHONE, "email": OTHER_EMAIL},
    )
    assert actions(result) == ["updated", "created"]
    assert outreach.stored() == [
        {"phone": OTHER_PHONE, "email": EMAIL},
        {"phone": PHONE, "email": OTHER_EMAIL},
    ]


def test_contacts_may_exchange_their_identifiers(outreach: Outreach) -> None:
    outreach.apply(
        {"phone": PHONE, "email": EMAIL, **crm("1")},
        {"phone": OTHER_PHONE, "email": OTHER_EMAIL, **crm("2")},
    )
    result = outreach.apply(
        {"phone": "+12025550103", "email": "tmp@example.com", **crm("1")},
        {"phone": PHONE, "email": EMAIL, **crm("2")},
        {"phone": OTHER_PHONE, "email": OTHER_EMAIL, **crm("1")},
    )
    assert actions(result) == ["updated", "updated", "updated"]
    assert outreach.stored() == [
        {"phone": OTHER_PHONE, "email": OTHER_EMAIL, "externalIds": {"crmId": "1"}},
        {"phone": PHONE, "email": EMAIL, "externalIds": {"crmId": "2"}},
    ]


def test_contacts_may_exchange_their_external_ids(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, **crm("1")}, {"phone": OTHER_PHONE, **crm("2")})
    outreach.apply(
        {"phone": PHONE, **crm(None)},
        {"phone": OTHER_PHONE, **crm("1")},
        {"phone": PHONE, **crm("2")},
    )
    assert outreach.stored() == [
        {"phone": PHONE, "externalIds": {"crmId": "2"}},
        {"phone": OTHER_PHONE, "externalIds": {"crmId": "1"}},
    ]


def test_a_routing_value_is_shared_and_matches_no_contact(outreach: Outreach) -> None:
    account = {"externalIdKey": "account", "externalIdValue": "east"}
    result = outreach.apply({"phone": PHONE, **account}, {"phone": OTHER_PHONE, **account})
    assert actions(result) == ["created", "created"]
    assert outreach.stored() == [
        {"phone": PHONE, "externalIds": {"account": "east"}},
        {"phone": OTHER_PHONE, "externalIds": {"account": "east"}},
    ]
    assert codes(outreach.apply(account)) == [(0, "missing_identifier", "phone")]


def test_a_root_pair_routes_the_contacts_without_one_of_their_own(outreach: Outreach) -> None:
    result = outreach.apply(
        {"phone": PHONE},
        {"phone": OTHER_PHONE},
        {"phone": "+12025550103", **crm("own")},
        root_external_id=("account", "shared"),
    )
    assert actions(result) == ["created"] * 3
    assert outreach.stored() == [
        {"phone": PHONE, "externalIds": {"account": "shared"}},
        {"phone": OTHER_PHONE, "externalIds": {"account": "shared"}},
        {"phone": "+12025550103", "externalIds": {"crmId": "own"}},
    ]


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("action", ContactAction)
def test_a_root_pair_that_identifies_one_contact_is_refused_for_several(
    outreach: Outreach, action: ContactAction, dry_run: bool
) -> None:
    outreach.apply({"phone": PHONE})
    sent = [{"phone": PHONE, "firstName": "Ada"}, {"phone": OTHER_PHONE, **crm("own")}]
    with pytest.raises(ValidationFailed) as refused:
        outreach.apply(*sent, action=action, root_external_id=("crmId", "1"), dry_run=dry_run)
    message = (
        '"crmId" identifies one contact, and several were sent: '
        "send externalIdKey and externalIdValue with each contact."
    )
    assert refused.value.problems == (
        Problem("externalIdKey", "identifying_external_id_key", message),
    )
    assert outreach.stored() == [{"phone": PHONE}]


def test_a_root_pair_never_replaces_what_identifies_a_contact(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, **crm("1")})
    outreach.session.execute(update(ExternalIdKey).values(identifies=False))
    outreach.apply({"phone": PHONE}, {"phone": OTHER_PHONE}, root_external_id=("crmId", "shared"))
    assert outreach.stored() == [
        {"phone": PHONE, "externalIds": {"crmId": "1"}},
        {"phone": OTHER_PHONE, "externalIds": {"crmId": "shared"}},
    ]


def test_the_root_pair_of_a_single_contact_is_its_own(outreach: Outreach) -> None:
    root = ("crmId", "1")
    assert actions(outreach.apply({"phone": PHONE}, root_external_id=root)) == ["created"]
    renamed = outreach.apply({"firstName": "Ada"}, root_external_id=root)
    assert actions(renamed) == ["updated"]
    assert outreach.stored() == [
        {"phone": PHONE, "firstName": "Ada", "externalIds": {"crmId": "1"}}
    ]


def test_a_row_of_a_file_is_matched_like_one_of_many(outreach: Outreach) -> None:
    with pytest.raises(ValidationFailed) as refused:
        outreach.apply({"phone": PHONE}, root_external_id=("crmId", "1"), row_numbers=[12])
    assert refused.value.code == "identifying_external_id_key"
    outreach.apply({"phone": PHONE}, root_external_id=("account", "1"), row_numbers=[12])
    assert outreach.stored() == [{"phone": PHONE, "externalIds": {"account": "1"}}]


def test_update_only_ignores_contacts_that_are_not_in_the_campaign(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE})
    result = outreach.apply(
        {"phone": PHONE, "firstName": "Ada"},
        {"phone": OTHER_PHONE, "email": "Grace@example.com"},
        {**crm("absent")},
        action=ContactAction.UPDATE_ONLY,
    )
    assert actions(result) == ["updated"]
    assert result.ignored == [
        {
            "index": 1,
            "phone": OTHER_PHONE,
            "email": "Grace@example.com",
            "code": "not_in_campaign",
        },
        {"index": 2, "phone": None, "email": None, "code": "not_in_campaign"},
    ]
    assert outreach.stored() == [{"phone": PHONE, "firstName": "Ada"}]


def test_campaigns_do_not_see_each_others_contacts(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE, **crm("1")})
    first = outreach.campaign
    second = type(first)(
        partner_id=first.partner_id,
        organization_id=first.organization_id,
        name="Autumn",
        all_assistants=True,
    )
    outreach.session.add(second)
    outreach.session.flush()
    outreach.campaign = second
    assert actions(outreach.apply({"phone": PHONE, **crm("1")})) == ["created"]
    assert actions(outreach.apply({"phone": PHONE}, action=ContactAction.REMOVE)) == ["deleted"]
    outreach.campaign = first
    assert outreach.stored() == [{"phone": PHONE, "externalIds": {"crmId": "1"}}]
