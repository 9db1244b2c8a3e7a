"""Eight clients rotate one key, one client and one SCIM token, revoke one key, or use one mailed
link: one wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.errors import DomainError
from app.models import ApiKey, AuditEntry, LinkPurpose, OAuthClient, ScimToken
from app.policy.caller import Caller
from app.services import oauth_clients
from app.services.auth import one_time_links
from app.services.credentials import api_keys, scim_tokens
from tests.fixtures.tenants import Tenant, make_tenant
from tests.matrix import rounds

CLIENTS = 8
ROUNDS = rounds(2)
WEEK = timedelta(days=7)


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        return make_tenant(session)


def at_once(database: Database, attempt: Callable[[Session], str]) -> list[str]:
    """The results of the clients that are not refused."""
    start = Barrier(CLIENTS)

    def client(_: int) -> str:
        start.wait()
        try:
            with database.transaction() as session:
                return attempt(session)
        except DomainError:
            return ""

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [got for got in pool.map(client, range(CLIENTS)) if got]


def test_a_key_and_a_token_are_rotated_once(
    fresh_database: Database, tenant: Tenant, admin: Caller
) -> None:
    for _ in range(ROUNDS):
        with fresh_database.transaction() as session:
            organization_id = tenant.organization.id
            key = api_keys.create(session, admin, organization_id=organization_id, name="Sync").key
            token = scim_tokens.create(session, admin, name="Entra").token
        keys = at_once(
            fresh_database,
            lambda session, id_=key.id: api_keys.rotate(session, admin, id_, overlap=WEEK).secret,  # type: ignore[misc]
        )
        tokens = at_once(
            fresh_database,
            lambda session, id_=token.id: scim_tokens.rotate(session, admin, id_).secret,  # type: ignore[misc]
        )
        assert (len(keys), len(tokens)) == (1, 1)
        with fresh_database.transaction() as session:
            counted = [
                session.scalar(select(func.count()).select_from(kind))
                for kind in (ApiKey, ScimToken)
            ]
            assert counted == [2, 2]
            session.execute(delete(ScimToken))
            session.execute(delete(ApiKey))


def test_of_secrets_rotated_at_once_the_last_works_and_the_one_before_it(
    fresh_database: Database, admin: Caller
) -> None:
    for _ in range(ROUNDS):
        with fresh_database.transaction() as session:
            made = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN)
            client_id, first = made.client.id, made.secret
        secrets = at_once(
            fresh_database,
            lambda session, id_=client_id: (
                oauth_clients.rotate(  # type: ignore[misc]
                    session, admin, id_, overlap=WEEK
                ).secret
            ),
        )
        assert len(secrets) == CLIENTS
        with fresh_database.transaction() as session:
            name = session.get_one(OAuthClient, client_id).client_id
            works = [
                oauth_clients.authenticate(session, name, secret) is not None
                for secret in (first, *secrets)
            ]
        assert (works[0], sum(works)) == (False, 2)


def test_a_key_is_revoked_once(fresh_database: Database, tenant: Tenant, admin: Caller) -> None:
    with fresh_database.transaction() as session:
        organization_id = tenant.organization.id
        new = api_keys.create(session, admin, organization_id=organization_id, name="Sync")
        key_id = new.key.id

    def revoke(session: Session) -> str:
        return str(api_keys.revoke(session, admin, key_id).revoked_at)

    assert len(set(at_once(fresh_database, revoke))) == 1
    with fresh_database.transaction(read_only=True) as session:
        revocations = select(func.count()).where(AuditEntry.action == "key.revoked")
        assert session.scalar(revocations) == 1


@pytest.mark.parametrize("purpose", [LinkPurpose.INVITATION, LinkPurpose.RESET_PASSWORD])
def test_a_mailed_link_is_used_once(
    fresh_database: Database, tenant: Tenant, purpose: LinkPurpose
) -> None:
    for _ in range(ROUNDS):
        with fresh_database.transaction() as session:
            token = one_time_links.create(session, tenant.user.id, purpose)

        def use(session: Session, token: str = token) -> str:
            one_time_links.redeem(session, token, purpose)
            return "used"

        assert at_once(fresh_database, use) == ["used"]
