"""The stored number of a campaign's contacts is right, whatever was done to them."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from app.database import Database
from app.enums import ContactAction
from app.models import Campaign, Contact
from app.services import campaigns, contacts
from tests.fixtures.worker import CallingOrganization, create_calling_organization
from tests.services.contacts.conftest import Outreach, make_campaign

REMOVE, UPDATE, UPSERT = ContactAction.REMOVE, ContactAction.UPDATE_ONLY, ContactAction.UPSERT


def counted_and_there(outreach: Outreach) -> tuple[int, int]:
    outreach.session.refresh(outreach.campaign)
    query = select(func.count()).where(Contact.campaign_id == outreach.campaign.id)
    return outreach.campaign.contact_count, outreach.session.scalar(query) or 0


def test_each_kind_of_change_updates_the_count(outreach: Outreach) -> None:
    ada, ben = {"phone": "+12025550101"}, {"email": "ben@x.example"}
    steps: list[tuple[list[Any], dict[str, Any], int]] = [
        ([ada, ben, ada], {}, 2),
        ([{**ada, "firstName": "Ada"}], {}, 2),
        ([{**ada, "firstName": "Ida"}, {"phone": "+12025550102"}], {"action": UPDATE}, 2),
        ([{"phone": "+12025550103"}], {"dry_run": True}, 2),
        ([{"phone": "no number"}], {}, 2),
        ([ben, ben, {"phone": "+12025550104"}], {"action": REMOVE}, 1),
        ([ben], {}, 2),
    ]
    for sent, how, expected in steps:
        outreach.apply(*sent, **how)
        assert counted_and_there(outreach) == (expected, expected)


def test_random_batches_leave_the_count_exact(outreach: Outreach) -> None:
    chance = random.Random(11)
    for _ in range(60):
        sent = [
            {"phone": f"+1202555{chance.randrange(40):04}"}
            if chance.random() < 0.6
            else {"email": f"c{chance.randrange(40)}@x.example"}
            for _ in range(chance.randrange(1, 30))
        ]
        outreach.apply(*sent, action=chance.choice([UPSERT, UPSERT, UPDATE, REMOVE]))
        counted, there = counted_and_there(outreach)
        assert counted == there


def test_eight_clients_at_once_leave_the_count_exact(fresh_database: Database) -> None:
    calling_organization: CallingOrganization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        campaign_id: UUID = make_campaign(session, calling_organization).id

    def client(number: int) -> None:
        chance = random.Random(number)
        for turn in range(10):
            sent = [{"phone": f"+1202555{chance.randrange(60):04}"} for _ in range(20)]
            with fresh_database.transaction() as session:
                campaign = campaigns.get(session, calling_organization.key, campaign_id)
                contacts.apply(session, campaign, sent, REMOVE if turn % 3 == 2 else UPSERT)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(client, number) for number in range(8)]:
            done.result()
    with fresh_database.transaction() as session:
        query = select(func.count()).where(Contact.campaign_id == campaign_id)
        assert session.get_one(Campaign, campaign_id).contact_count == session.scalar(query)
