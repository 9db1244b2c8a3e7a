"""A campaign that is started while its organization is archived doesn't keep running."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CampaignStatus, Role
from app.errors import Conflict
from app.models import Campaign
from app.policy.caller import Caller
from app.services import campaigns, organizations
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.waiting import wait_for, waits_for_a_lock

T = TypeVar("T")

backend = runs_on(["postgresql"])


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        return make_tenant(session)


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    return tenant.caller(Role.PARTNER_ADMIN)


@pytest.fixture
def campaign_id(fresh_database: Database, tenant: Tenant, caller: Caller) -> UUID:
    with fresh_database.transaction() as session:
        return campaigns.create(session, caller, tenant.organization.id, name="Spring").id


def test_a_campaign_that_starts_meanwhile_is_paused(
    fresh_database: Database, tenant: Tenant, caller: Caller, campaign_id: UUID
) -> None:
    stopped = meanwhile(
        fresh_database,
        lambda session: campaigns.start(session, caller, campaign_id),
        lambda session: organizations.archive(session, caller, tenant.organization.id),
    )
    assert stopped.campaigns == 1
    assert status(fresh_database, campaign_id) is CampaignStatus.PAUSED


def test_a_campaign_does_not_start_after_it(
    fresh_database: Database, tenant: Tenant, caller: Caller, campaign_id: UUID
) -> None:
    with pytest.raises(Conflict, match="archived"):
        meanwhile(
            fresh_database,
            lambda session: organizations.archive(session, caller, tenant.organization.id),
            lambda session: campaigns.start(session, caller, campaign_id),
        )
    assert status(fresh_database, campaign_id) is CampaignStatus.PAUSED


def meanwhile(
    database: Database, first: Callable[[Session], object], second: Callable[[Session], T]
) -> T:
    """Return the result of ``second``, which begins before the transaction of ``first`` ends."""

    def work() -> T:
        with database.transaction() as session:
            return second(session)

    with ThreadPoolExecutor(1) as other:
        with database.transaction() as session:
            first(session)
            session.flush()
            result = other.submit(work)
            wait_for(lambda: result.done() or waits_for_a_lock(database))
        return result.result()


def status(database: Database, campaign_id: UUID) -> CampaignStatus:
    with database.transaction(read_only=True) as session:
        return session.get_one(Campaign, campaign_id).status
