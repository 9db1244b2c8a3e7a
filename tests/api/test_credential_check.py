"""A script's request that is under way when its credential ends stores nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import Role
from app.factory import create_app
from app.models import ApiKey, Contact, OAuthClient, Organization
from app.services import campaigns, oauth_clients, organizations, partners
from app.services.credentials import api_keys
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, bearer, make_tenant

A_MOMENT = 0.3


@dataclass(frozen=True)
class WriteRequest:
    """A request of a script, with a key or a token."""

    area: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    partner_id: UUID
    organization_id: UUID


backend = runs_on(BACKENDS)
"""Both: SQLite has one writer at a time, PostgreSQL has locks."""


@pytest.fixture
def settings(fresh_database: Database, tmp_path: Path) -> Settings:
    return settings_for(url_of(fresh_database), tmp_path)


@pytest.fixture
def app(settings: Settings, fresh_database: Database) -> Flask:
    return create_app(settings, fresh_database)


@pytest.fixture
def key(fresh_database: Database) -> WriteRequest:
    """Adds a contact."""
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        own = tenant.organization.id
        campaign = campaigns.create(session, tenant.caller(Role.PARTNER_ADMIN), own, name="Recall")
        secret = api_keys.create(session, OPERATOR, organization_id=own, name="CRM").secret
        return WriteRequest(
            area="public",
            path=f"/api/v1/campaigns/{campaign.id}/contacts",
            headers={"x-api-key": secret},
            body={"action": "upsert", "contacts": [{"phoneNumber": "+12025550101"}]},
            partner_id=tenant.partner.id,
            organization_id=own,
        )


@pytest.fixture
def token(fresh_database: Database, settings: Settings) -> WriteRequest:
    """Changes an organization."""
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        partner_id = tenant.partner.id
        return WriteRequest(
            area="partner_admin",
            path=f"/api/partners/{partner_id}/organizations/{tenant.organization.id}",
            headers=bearer(session, settings, Role.PARTNER_ADMIN, partner_id),
            body={"referralCode": "FRIEND"},
            partner_id=partner_id,
            organization_id=tenant.organization.id,
        )


End = Callable[[Session, WriteRequest], None]


def revoke_key(session: Session, _writing: WriteRequest) -> None:
    api_keys.revoke(session, OPERATOR, session.scalars(select(ApiKey.id)).one())


def suspend_organization(session: Session, write_request: WriteRequest) -> None:
    organizations.suspend(session, OPERATOR, write_request.organization_id)


def suspend_partner(session: Session, write_request: WriteRequest) -> None:
    partners.suspend(session, OPERATOR, write_request.partner_id)


def suspend_client(session: Session, _writing: WriteRequest) -> None:
    oauth_clients.suspend(session, OPERATOR, session.scalars(select(OAuthClient.id)).one())


def stored(database: Database) -> tuple[int, int]:
    """The contacts, and the organizations with a referral code."""
    with database.transaction(read_only=True) as session:
        contacts = session.scalar(select(func.count(Contact.id))) or 0
        codes = session.scalar(select(func.count(Organization.referral_code))) or 0
        return contacts, codes


def send(app: Flask, write_request: WriteRequest, method: str) -> tuple[int, Any]:
    client = app.test_client()
    answer = client.open(
        write_request.path, method=method, headers=write_request.headers, json=write_request.body
    )
    assert answer.json is not None
    return answer.status_code, answer.json["details"]["code"]


CASES: list[tuple[str, str, End, tuple[int, str]]] = [
    ("key", "POST", revoke_key, (401, "invalid_api_key")),
    ("key", "POST", suspend_partner, (401, "invalid_api_key")),
    ("key", "POST", suspend_organization, (403, "organization_suspended")),
    ("token", "PUT", suspend_client, (401, "invalid_token")),
    ("token", "PUT", suspend_partner, (401, "invalid_token")),
]


@pytest.mark.parametrize(("credential", "method", "end", "refused"), CASES)
def test_a_credential_that_ends_before_the_commit_stores_nothing(
    app: Flask,
    fresh_database: Database,
    request: pytest.FixtureRequest,
    credential: str,
    method: str,
    end: End,
    refused: tuple[int, str],
) -> None:
    write_request: WriteRequest = request.getfixturevalue(credential)
    before = stored(fresh_database)

    def end_access() -> None:
        with fresh_database.transaction() as session:
            end(session, write_request)

    # Runs after the area's own check of the credential.
    app.before_request_funcs.setdefault(write_request.area, []).append(end_access)
    assert send(app, write_request, method) == refused
    assert stored(fresh_database) == before


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("credential", "method", "end", "refused"), [CASES[0], CASES[3]])
def test_a_write_waits_for_the_end_of_its_credential(
    app: Flask,
    fresh_database: Database,
    request: pytest.FixtureRequest,
    credential: str,
    method: str,
    end: End,
    refused: tuple[int, str],
) -> None:
    write_request: WriteRequest = request.getfixturevalue(credential)
    with ThreadPoolExecutor(1) as pool:
        with fresh_database.transaction() as session:
            end(session, write_request)
            session.flush()
            answer = pool.submit(send, app, write_request, method)
            assert not wait([answer], timeout=A_MOMENT).done
        assert answer.result() == refused
