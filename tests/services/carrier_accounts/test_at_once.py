"""Several people who save an owner's first account at the same moment."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import select

from app.database import Database
from app.errors import Conflict
from app.gateways.carriers.sip.account import Trunk
from app.models import CarrierAccount, Organization
from app.policy.caller import system_caller
from app.services import carrier_accounts
from app.services.carrier_accounts import AccountFields
from tests.fixtures.settings import settings_for
from tests.fixtures.worker import create_calling_organization

PEOPLE = 4
KEYS = settings_for("sqlite://", Path()).secret_keys


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_the_first_change_is_saved_and_the_others_get_a_conflict(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    for organization_id in (None, calling_organization.organization_id):
        reported = at_once(fresh_database, calling_organization.partner_id, organization_id)
        assert reported == {"saved": 1, "changed_meanwhile": PEOPLE - 1}
    with fresh_database.transaction(read_only=True) as session:
        found = session.scalars(select(CarrierAccount.version)).all()
    assert found == [1, 1]


def at_once(database: Database, partner_id: UUID, organization_id: UUID | None) -> Counter[str]:
    barrier = Barrier(PEOPLE)

    def save(number: int) -> str:
        barrier.wait()
        try:
            with database.transaction() as session:
                named = session.get(Organization, organization_id) if organization_id else None
                carrier_accounts.save(
                    session,
                    system_caller(f"person {number}", partner_id),
                    KEYS,
                    AccountFields("right", trunk=Trunk("sip.example.com", user=f"user{number}")),
                    organization=named,
                    expected_version=0,
                )
        except Conflict as error:
            return error.code
        return "saved"

    with ThreadPoolExecutor(PEOPLE) as pool:
        return Counter(pool.map(save, range(PEOPLE)))
