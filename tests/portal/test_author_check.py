"""A request that is under way when its user loses access stores nothing."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database
from app.enums import Role
from app.factory import create_app
from app.models import AuditEntry, AuditLink, Organization, User
from app.services import organizations, partners
from app.services.auth import sessions
from app.services.users import status
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

ROUNDS = 12
NEW_NAME = "Renamed"


def suspend(session: Session, user: User) -> None:
    status.suspend(session, OPERATOR, user.id)


def deactivate(session: Session, user: User) -> None:
    status.deactivate(session, OPERATOR, user.id)


def change_role(session: Session, user: User) -> None:
    status.change_role(session, OPERATOR, user.id, Role.PARTNER_EDITOR)


def suspend_partner(session: Session, user: User) -> None:
    assert user.partner_id
    partners.suspend(session, OPERATOR, user.partner_id)


backend = runs_on(BACKENDS)
"""Both: SQLite has one writer at a time, PostgreSQL has locks."""


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        made = make_tenant(session)
        made.staff[Role.ADMIN].password_hash = "set"  # or a reactivated user is invited again
        return made


@pytest.fixture
def portal(fresh_database: Database, tmp_path: Path) -> Flask:
    return create_app(settings_for(url_of(fresh_database), tmp_path), fresh_database)


def opened_form(portal: Flask, database: Database, tenant: Tenant) -> Callable[[], TestResponse]:
    """An administrator has opened an organization; what is returned sends the form."""
    admin = tenant.staff[Role.ADMIN]
    with database.transaction() as session:
        token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="localhost")
    client = portal.test_client()
    give_session(client, token)
    path = f"/organizations/{tenant.organization.id}/edit"
    shown = client.get(path).text
    form = {
        name: re.findall(rf'name="{name}" value="([^"]*)"', shown)[0]
        for name in ("csrf_token", "version")
    }
    limits = {"agent_limit": "5", "user_limit": "5"}
    return lambda: client.post(path, data={**form, **limits, "name": NEW_NAME})


def name_of(database: Database, tenant: Tenant) -> str:
    with database.transaction() as session:
        return session.get_one(Organization, tenant.organization.id).name


@pytest.mark.parametrize(
    ("end", "answer"),
    [(suspend, 401), (deactivate, 401), (change_role, 404), (suspend_partner, 401)],
)
def test_a_change_is_refused_if_access_ends_before_it_is_written(
    portal: Flask,
    fresh_database: Database,
    tenant: Tenant,
    end: Callable[[Session, User], None],
    answer: int,
) -> None:
    send = opened_form(portal, fresh_database, tenant)

    def end_access() -> None:
        with fresh_database.transaction() as session:
            end(session, tenant.staff[Role.ADMIN])

    # Runs after the portal's own check of who asks.
    portal.before_request_funcs["portal"].append(end_access)
    assert send().status_code == answer
    assert name_of(fresh_database, tenant) == "Northwind Bakery"


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("end", "answer"), [(suspend, 401), (deactivate, 401), (change_role, 404)])
def test_access_that_ends_during_a_change_refuses_it(
    portal: Flask,
    fresh_database: Database,
    tenant: Tenant,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[Session, User], None],
    answer: int,
) -> None:
    send = opened_form(portal, fresh_database, tenant)
    update = organizations.update

    def update_and_end_access(*args: Any, **kwargs: Any) -> Organization:
        updated = update(*args, **kwargs)
        with fresh_database.transaction() as session:
            end(session, tenant.staff[Role.ADMIN])
        return updated

    monkeypatch.setattr(organizations, "update", update_and_end_access)
    assert send().status_code == answer
    assert name_of(fresh_database, tenant) == "Northwind Bakery"


def test_a_change_is_stored_before_access_ends_or_not_at_all(
    portal: Flask, fresh_database: Database, tenant: Tenant
) -> None:
    admin = tenant.staff[Role.ADMIN]
    for _ in range(ROUNDS):
        send, start = opened_form(portal, fresh_database, tenant), Barrier(2)

        def end_access(start: Barrier = start) -> None:
            start.wait()
            with fresh_database.transaction() as session:
                suspend(session, admin)

        def save(start: Barrier = start, send: Callable[[], TestResponse] = send) -> TestResponse:
            start.wait()
            return send()

        with ThreadPoolExecutor(2) as pool:
            ending, saving = pool.submit(end_access), pool.submit(save)
            ending.result()
            answer = saving.result()
        is_saved = answer.location == f"/organizations/{tenant.organization.id}"
        with fresh_database.transaction() as session:
            saved = ["organization.updated"] if is_saved else []
            assert actions(session, tenant) == [*saved, "user.suspended"]
            assert is_saved or answer.status_code in (303, 401)
            status.reactivate(session, OPERATOR, admin.id)
            session.get_one(Organization, tenant.organization.id).name = "Northwind Bakery"


def actions(session: Session, tenant: Tenant) -> list[str]:
    """The actions since the admin was last reactivated, in the order in which they were stored."""
    query = (
        select(AuditEntry.action)
        .join(AuditLink, AuditLink.entry_id == AuditEntry.id)
        .where(AuditLink.chain == tenant.partner.id)
        .order_by(AuditLink.number.desc())
    )
    found: list[str] = []
    for action in session.scalars(query):
        if action == "user.reactivated":
            break
        found.insert(0, action)
    return found
