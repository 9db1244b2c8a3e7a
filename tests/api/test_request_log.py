"""Of each request only the caller, the operation and the status are stored."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role
from app.models import ApiKey, ApiRequest, Campaign, new_id, utcnow
from app.policy.caller import system_caller
from app.services import campaigns, retention
from app.services.credentials import api_keys, request_log
from app.services.credentials.request_log import MAX_ROWS, AnsweredRequest
from tests.fixtures.tenants import Tenant, bearer, make_tenant

Kept = dict[str, Any]


@pytest.fixture
def tenant(session: Session) -> Tenant:
    made = make_tenant(session)
    session.commit()
    return made


@pytest.fixture
def campaign(session: Session, tenant: Tenant) -> Campaign:
    owner = system_caller("the owner", tenant.partner.id)
    made = campaigns.create(session, owner, tenant.organization.id, name="Recall")
    session.commit()
    return made


@pytest.fixture
def make_key(session: Session, tenant: Tenant) -> Callable[..., api_keys.NewKey]:
    def make(*scopes: str) -> api_keys.NewKey:
        owner = system_caller("the owner", tenant.partner.id)
        made = api_keys.create(
            session, owner, organization_id=tenant.organization.id, name="Sync", scopes=scopes
        )
        session.commit()
        return made

    return make


@pytest.fixture
def stored_requests(app: Flask, session: Session) -> Callable[[], list[Kept]]:
    """What the database holds after the buffer was written, oldest first."""

    def read() -> list[Kept]:
        app.extensions["request_log"].flush()
        session.expire_all()
        names = ("method", "route", "operation", "status", "code")
        rows = session.scalars(select(ApiRequest).order_by(ApiRequest.id))
        return [{name: getattr(row, name) for name in names} for row in rows]

    return read


def test_answers_and_refusals_are_logged_without_ids_and_parameters(
    client: FlaskClient,
    session: Session,
    campaign: Campaign,
    make_key: Callable[..., api_keys.NewKey],
    stored_requests: Callable[[], list[Kept]],
) -> None:
    new = make_key("contacts:read")
    headers = {"x-api-key": new.secret}
    path = f"/api/v1/campaigns/{campaign.id}/contacts"
    good = client.get(f"{path}?phone=%2B12025550123", headers=headers)
    client.get(f"{path}?perPage=0", headers=headers)
    client.post(path, json={"contacts": [{"phone": "+12025550123"}]}, headers=headers)
    client.get(f"/api/v1/campaigns/{new_id()}/contacts", headers=headers)
    route = "/api/v1/campaigns/{campaignId}/contacts"
    read = {"method": "GET", "route": route, "operation": "listContacts"}
    assert stored_requests() == [
        {**read, "status": 200, "code": None},
        {**read, "status": 400, "code": "out_of_range"},
        {
            "method": "POST",
            "route": route,
            "operation": "sendContacts",
            "status": 403,
            "code": "insufficient_scope",
        },
        {**read, "status": 404, "code": "campaign_not_found"},
    ]
    first = session.scalars(select(ApiRequest).order_by(ApiRequest.id)).first()
    assert first is not None
    assert (
        first.credential_id,
        first.partner_id,
        first.organization_id,
        first.request_id,
    ) == (
        new.key.id,
        new.key.partner_id,
        new.key.organization_id,
        good.headers["X-Request-Id"],
    )
    assert 0 < first.duration_ms < 10_000
    assert abs(utcnow() - first.at) < timedelta(minutes=1)


def test_requests_of_area_a_are_logged_too(
    client: FlaskClient,
    session: Session,
    settings: Settings,
    tenant: Tenant,
    stored_requests: Callable[[], list[Kept]],
) -> None:
    headers = bearer(session, settings, Role.ADMIN, tenant.partner.id)
    session.commit()
    client.put(f"/api/partners/{tenant.partner.id}", json={}, headers=headers)
    assert stored_requests() == [
        {
            "method": "PUT",
            "route": "/api/partners/{partnerId}",
            "operation": "updatePartner",
            "status": 403,
            "code": "insufficient_scope",
        }
    ]


def test_a_request_without_a_known_credential_is_not_logged(
    client: FlaskClient, tenant: Tenant, stored_requests: Callable[[], list[Kept]]
) -> None:
    client.get("/api/v1/agents", headers={"x-api-key": "ppk_live_nonsense"})
    client.get("/api/partners")
    assert stored_requests() == []


def line(key: ApiKey, **changes: Any) -> AnsweredRequest:
    values: dict[str, Any] = {
        "id": new_id(),
        "credential_id": key.id,
        "partner_id": key.partner_id,
        "organization_id": key.organization_id,
        "at": utcnow(),
        "method": "GET",
        "route": "/api/v1/agents",
        "operation": "listAgents",
        "status": 200,
        "code": None,
        "duration_ms": 1.5,
        "request_id": "req_1",
    }
    return cast(AnsweredRequest, values | changes)


def test_trimming_leaves_the_last_requests_of_that_credential_alone(
    session: Session, make_key: Callable[..., api_keys.NewKey]
) -> None:
    busy, quiet = make_key("calls:read").key, make_key("calls:read").key
    request_log.write(session, [line(busy, status=200 + n) for n in range(MAX_ROWS + 5)])
    request_log.write(session, [line(quiet)])
    request_log.trim(session, [busy.id, quiet.id])
    query = select(func.count(), func.min(ApiRequest.status)).group_by(ApiRequest.credential_id)
    assert sorted(map(tuple, session.execute(query))) == [(1, 200), (MAX_ROWS, 205)]


def test_old_requests_are_deleted(
    session: Session, make_key: Callable[..., api_keys.NewKey]
) -> None:
    key = make_key("calls:read").key
    old = utcnow() - timedelta(days=7, minutes=1)
    request_log.write(session, [line(key, at=old, request_id="old"), line(key, request_id="new")])
    retention.purge(session)
    assert session.scalars(select(ApiRequest.request_id)).all() == ["new"]


def test_another_partner_does_not_see_the_requests(
    session: Session, tenant: Tenant, make_key: Callable[..., api_keys.NewKey]
) -> None:
    key = make_key("calls:read").key
    request_log.write(session, [line(key)])
    stranger = make_tenant(session, "Southgate")
    seen = [
        len(request_log.latest(session, who.caller(Role.PARTNER_ADMIN), key.id, 10))
        for who in (tenant, stranger)
    ]
    assert seen == [1, 0]
