"""userLimit and agentLimit hold, one at a time and under race. 0 means no limit."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.errors import ValidationFailed
from app.models import Assistant, Organization, User
from app.services import assistants, organizations, users
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.matrix import rounds

CLIENTS, ROUNDS = 8, rounds(10)


def invite(session: Session, tenant: Tenant, email: str) -> User:
    return users.invite(
        session,
        tenant.caller(Role.ADMIN),
        email=email,
        user_type=Role.STANDARD,
        organization_id=tenant.organization.id,
    )


def test_the_limit_counts_every_user_who_is_not_deactivated(session: Session) -> None:
    tenant = make_tenant(session)
    tenant.organization.user_limit = 2
    admin = tenant.caller(Role.ADMIN)
    first = invite(session, tenant, "1@x.example")
    users.suspend(session, admin, first.id)
    with pytest.raises(ValidationFailed) as refused:
        invite(session, tenant, "2@x.example")
    assert refused.value.code == "user_limit_reached"
    users.deactivate(session, admin, first.id)
    invite(session, tenant, "2@x.example")
    with pytest.raises(ValidationFailed) as again:
        users.reactivate(session, admin, first.id)
    assert again.value.code == "user_limit_reached"


def test_without_a_limit_every_user_is_accepted(session: Session) -> None:
    tenant = make_tenant(session)
    tenant.organization.user_limit = tenant.organization.assistant_limit = 0
    for number in range(5):
        invite(session, tenant, f"{number}@x.example")
        assistants.add_assistant(session, OPERATOR, tenant.organization, name=f"Assistant {number}")
    count = select(func.count()).where(User.organization_id == tenant.organization.id)
    assert session.scalar(count) == 6


def test_assistants_are_limited_too(session: Session) -> None:
    tenant = make_tenant(session)
    with pytest.raises(ValidationFailed) as refused:
        assistants.add_assistant(session, OPERATOR, tenant.organization, name="Second")
    assert refused.value.code == "agent_limit_reached"


@pytest.mark.parametrize("what", ["user", "agent"])
def test_of_eight_invitations_for_the_last_seat_one_is_accepted(
    fresh_database: Database, what: str
) -> None:
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        session.get_one(Organization, tenant.organization.id).assistant_limit = 1
    together = Barrier(CLIENTS)

    def try_it(number: int) -> str:
        together.wait()
        try:
            with fresh_database.transaction() as session:
                if what == "user":
                    invite(session, tenant, f"{number}@x.example")
                else:
                    found = organizations.get(session, OPERATOR, tenant.organization.id)
                    assistants.add_assistant(session, OPERATOR, found, name=f"Assistant {number}")
        except ValidationFailed as error:
            return error.code
        return "in"

    outcomes = []
    with ThreadPoolExecutor(CLIENTS) as clients:
        for turn in range(1, ROUNDS + 1):
            with fresh_database.transaction() as session:
                found = session.get_one(Organization, tenant.organization.id)
                found.user_limit = found.assistant_limit = turn + 1
            numbers = range(turn * CLIENTS, (turn + 1) * CLIENTS)
            outcomes.append(Counter(clients.map(try_it, numbers)))
    assert outcomes == [{"in": 1, f"{what}_limit_reached": CLIENTS - 1}] * ROUNDS
    counted = User if what == "user" else Assistant
    with fresh_database.transaction(read_only=True) as session:
        count = select(func.count()).where(counted.organization_id == tenant.organization.id)
        assert session.scalar(count) == ROUNDS + 1


def test_of_eight_users_with_the_same_email_one_is_created(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        session.get_one(Organization, tenant.organization.id).user_limit = 0
    together = Barrier(CLIENTS)

    def try_it(number: int) -> str:
        together.wait()
        try:
            with fresh_database.transaction() as session:
                invite(session, tenant, f"same{number // CLIENTS}@x.example")
        except ValidationFailed as error:
            return error.code
        return "in"

    with ThreadPoolExecutor(CLIENTS) as clients:
        for turn in range(rounds(1)):
            numbers = range(turn * CLIENTS, (turn + 1) * CLIENTS)
            outcomes = sorted(clients.map(try_it, numbers))
            assert outcomes == ["email_exists"] * (CLIENTS - 1) + ["in"]
