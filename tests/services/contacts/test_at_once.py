"""Clients that send the same contacts at the same moment."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from app.database import Database
from app.enums import ContactAction
from app.models import Campaign, Contact
from app.services import campaigns, contacts
from app.services.contacts import BulkResult
from tests.fixtures.worker import CallingOrganization, create_calling_organization
from tests.services.contacts.conftest import make_campaign

CLIENTS, ROUNDS, CONTACTS = 8, 12, 20


@pytest.fixture
def calling_organization(fresh_database: Database) -> CallingOrganization:
    return create_calling_organization(fresh_database)


@pytest.fixture
def campaign_id(fresh_database: Database, calling_organization: CallingOrganization) -> UUID:
    with fresh_database.transaction() as session:
        return make_campaign(session, calling_organization).id


def send(
    database: Database,
    calling_organization: CallingOrganization,
    campaign_id: UUID,
    sent: list[Any],
    action: ContactAction,
) -> BulkResult:
    with database.transaction() as session:
        campaign = campaigns.get(session, calling_organization.key, campaign_id)
        return contacts.apply(session, campaign, sent, action)


def test_eight_clients_upsert_the_same_contacts(
    fresh_database: Database, calling_organization: CallingOrganization, campaign_id: UUID
) -> None:
    barrier = Barrier(CLIENTS)

    def client(number: int) -> Counter[str]:
        counts: Counter[str] = Counter()
        for turn in range(ROUNDS):
            sent = [
                {
                    "phone": f"+1202555{place:04d}",
                    "email": f"contact{place}@example.com",
                    "contactMetadata": {f"client{number}": turn},
                }
                for place in range(CONTACTS)
            ]
            barrier.wait()
            # Half of the clients go through the contacts in the other direction.
            result = send(
                fresh_database,
                calling_organization,
                campaign_id,
                sent if number % 2 else sent[::-1],
                ContactAction.UPSERT,
            )
            counts.update(result.outcomes)
        return counts

    with ThreadPoolExecutor(CLIENTS) as pool:
        total = sum(pool.map(client, range(CLIENTS)), Counter())
    assert total == {"created": CONTACTS, "updated": CLIENTS * ROUNDS * CONTACTS - CONTACTS}
    with fresh_database.transaction(read_only=True) as session:
        everyone = {f"client{number}": ROUNDS - 1 for number in range(CLIENTS)}
        stored = session.scalars(select(Contact)).all()
        assert [contact.contact_metadata for contact in stored] == [everyone] * CONTACTS
        assert session.get_one(Campaign, campaign_id).revision == CLIENTS * ROUNDS


def test_of_many_that_remove_a_contact_one_removes_it(
    fresh_database: Database, calling_organization: CallingOrganization, campaign_id: UUID
) -> None:
    sent = [{"phone": f"+1202555{place:04d}"} for place in range(CONTACTS)]
    send(fresh_database, calling_organization, campaign_id, sent, ContactAction.UPSERT)
    barrier = Barrier(CLIENTS)

    def client(_number: int) -> Counter[str]:
        barrier.wait()
        result = send(fresh_database, calling_organization, campaign_id, sent, ContactAction.REMOVE)
        return Counter(result.outcomes)

    with ThreadPoolExecutor(CLIENTS) as pool:
        total = sum(pool.map(client, range(CLIENTS)), Counter())
    assert total == {"deleted": CONTACTS, "failed": (CLIENTS - 1) * CONTACTS}
    with fresh_database.transaction(read_only=True) as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 0
