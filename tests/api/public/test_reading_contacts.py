"""Reading what is stored: one contact, the list with its filters, the campaigns."""

from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.models import Campaign, new_id
from app.services import contacts
from tests.api.public.conftest import Script
from tests.fixtures.worker import CallingOrganization, make_calling_organization
from tests.services.contacts.conftest import make_campaign

LONGEST = f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 53}.example"
PEOPLE: list[dict[str, Any]] = [
    {
        "phone": "+12025550101",
        "email": "Ada@Example.com",
        "firstName": "Ada",
        "lastName": "Lovelace",
        "status": "new",
        "contactMetadata": {"city": "London", "visits": 3},
        "externalIdKey": "crmId",
        "externalIdValue": "A-1",
    },
    {
        "phone": "+442079460000",
        "status": "new",
        "externalIdKey": "account",
        "externalIdValue": "east",
    },
    {
        "email": "grace@example.com",
        "status": "busy",
        "externalIdKey": "account",
        "externalIdValue": "east",
    },
]


@pytest.fixture
def campaign(session: Session, calling_organization: CallingOrganization) -> Campaign:
    made = make_campaign(session, calling_organization)
    contacts.apply(session, made, PEOPLE, ContactAction.UPSERT)
    session.commit()
    return made


def names(found: list[dict[str, Any]]) -> list[str]:
    return [contact["phone"] or contact["email"] for contact in found]


def test_a_contact_is_read_as_it_is_stored(script: Script, campaign: Campaign) -> None:
    [first] = script.get(f"/campaigns/{campaign.id}/contacts?email=ADA@example.com").get_json()
    answer = script.get(f"/campaigns/{campaign.id}/contacts/{first['id']}")
    assert answer.status_code == 200
    read = answer.get_json()
    assert read == first
    assert read.pop("createdAt") == read.pop("updatedAt")
    assert read == {
        "id": first["id"],
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": "Ada@Example.com",
        "phone": "+12025550101",
        "contactMetadata": {"city": "London", "visits": 3},
        "status": "new",
        "externalIds": {"crmId": "A-1"},
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["grace@example.com", "+442079460000", "+12025550101"]),
        ("?phone=%2B442079460000", ["+442079460000"]),
        ("?phone=+442079460000", ["+442079460000"]),
        ("?phone=(202)%20555-0101", ["+12025550101"]),
        ("?phone=%20%2B12025550101%20", ["+12025550101"]),
        ("?phone=%20%202025550101", ["+12025550101"]),
        ("?phone=%C2%A0%2B1 202 555 0101", ["+12025550101"]),
        ("?phone=2025550199", []),
        ("?email=GRACE@example.com", ["grace@example.com"]),
        ("?email=%20grace@example.com%20", ["grace@example.com"]),
        ("?email=%25", []),
        ("?externalIdValue=east", ["grace@example.com", "+442079460000"]),
        ("?externalIdValue=A-1", ["+12025550101"]),
        ("?status=new", ["+442079460000", "+12025550101"]),
        ("?status=new&externalIdValue=east", ["+442079460000"]),
        ("?status=gone", []),
    ],
)
def test_filters_narrow_the_list(
    script: Script, campaign: Campaign, query: str, expected: list[str]
) -> None:
    assert names(script.get(f"/campaigns/{campaign.id}/contacts{query}").get_json()) == expected


def test_an_invalid_phone_number_gets_400(script: Script, campaign: Campaign) -> None:
    answer = script.get(f"/campaigns/{campaign.id}/contacts?phone=abc")
    assert answer.status_code == 400
    assert answer.get_json()["details"]["code"] == "invalid_phone"


def test_pages_have_no_gaps_or_repeats(
    script: Script, campaign: Campaign, session: Session
) -> None:
    more = [{"phone": f"+1202555{place:04d}"} for place in range(250)]
    contacts.apply(session, campaign, more, ContactAction.UPSERT)
    session.commit()
    whole = names(script.get(f"/campaigns/{campaign.id}/contacts?perPage=1000").get_json())
    assert len(whole) == 252
    seen: list[str] = []
    path = f"/campaigns/{campaign.id}/contacts"
    sizes = []
    while path:
        answer = script.get(path)
        sizes.append(len(answer.get_json()))
        seen += names(answer.get_json())
        link = answer.headers.get("Link", "")
        path = link.partition("/api/v1")[2].partition(">")[0]
    assert sizes == [100, 100, 52]
    assert seen == whole


def test_a_contact_can_be_sent_back_as_it_was_read(script: Script, campaign: Campaign) -> None:
    before = script.get(f"/campaigns/{campaign.id}/contacts").get_json()
    answer = script.client.post(
        f"/api/v1/campaigns/{campaign.id}/contacts",
        headers={"x-api-key": script.secret},
        json={"contacts": before},
    )
    assert answer.get_json()["errors"] == []
    assert script.get(f"/campaigns/{campaign.id}/contacts").get_json() == before


@pytest.mark.parametrize("name", ["id", "createdAt", "updatedAt"])
def test_fields_that_the_portal_sets_are_kept_as_metadata_if_they_differ(
    script: Script, campaign: Campaign, name: str
) -> None:
    path = f"/campaigns/{campaign.id}/contacts"
    [before] = script.get(f"{path}?phone=%2B12025550101").get_json()
    answer = script.client.post(
        f"/api/v1{path}",
        headers={"x-api-key": script.secret},
        json={"contacts": [before | {name: "mine"}]},
    )
    assert [each["action"] for each in answer.get_json()["success"]] == ["updated"]
    [after] = script.get(f"{path}?phone=%2B12025550101").get_json()
    assert after == before | {
        "contactMetadata": {**before["contactMetadata"], name: "mine"},
        "updatedAt": after["updatedAt"],
    }


def test_a_contact_of_another_tenant_gets_the_same_404_as_a_missing_one(
    script: Script, campaign: Campaign, session: Session
) -> None:
    foreign = make_campaign(session, make_calling_organization(session))
    contacts.apply(session, foreign, PEOPLE, ContactAction.UPSERT)
    theirs = contacts.search(session, foreign).items[0]
    session.commit()
    absent = new_id()
    answers = [
        script.get(f"/campaigns/{campaign_id}/contacts{rest}")
        for campaign_id, rest in (
            (absent, ""),
            (foreign.id, ""),
            (absent, f"/{theirs.id}"),
            (foreign.id, f"/{theirs.id}"),
            (campaign.id, f"/{theirs.id}"),
            (campaign.id, f"/{absent}"),
        )
    ]
    assert [(each.status_code, each.get_json()["details"]["code"]) for each in answers] == [
        (404, "campaign_not_found"),
        (404, "campaign_not_found"),
        (404, "campaign_not_found"),
        (404, "campaign_not_found"),
        (404, "contact_not_found"),
        (404, "contact_not_found"),
    ]


def test_the_campaigns_a_key_may_use_are_listed(
    script: Script, campaign: Campaign, session: Session, calling_organization: CallingOrganization
) -> None:
    make_campaign(session, make_calling_organization(session))
    bare = Campaign(
        partner_id=calling_organization.partner_id,
        organization_id=calling_organization.organization_id,
        name="Nobody's",
    )
    session.add(bare)
    session.commit()
    assert script.get("/campaigns").get_json() == [
        {
            "id": str(campaign.id),
            "name": "Spring check-ups",
            "status": "paused",
            "externalIdKeys": ["account", "crmId"],
        },
        {"id": str(bare.id), "name": "Nobody's", "status": "paused", "externalIdKeys": []},
    ]


def test_the_longest_address_that_is_stored_can_be_asked_for(
    script: Script, session: Session, campaign: Campaign
) -> None:
    assert len(LONGEST) == 254
    contacts.apply(session, campaign, [{"email": LONGEST}], ContactAction.UPSERT)
    session.commit()
    path = f"/campaigns/{campaign.id}/contacts?email="
    for written in (LONGEST, f"%20{LONGEST}%20", LONGEST.upper()):
        assert names(script.get(path + written).get_json()) == [LONGEST]
    longer = script.get(f"{path}{LONGEST}x")
    assert (longer.status_code, longer.get_json()["details"]["code"]) == (400, "too_long")
