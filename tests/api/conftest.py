"""A small application with one operation of each kind, on the machinery of the JSON areas."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid5

import pytest
from flask import Flask, Request
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.api.errors import register_error_handlers
from app.api.operation import area_blueprint, operation
from app.api.partner_admin.blueprint import DESCRIPTION
from app.api.request_log import RequestLog
from app.config import Settings
from app.database import Database, make_engine
from app.enums import CallerKind, Role
from app.errors import Unauthenticated
from app.http.rate_limit import TokenBuckets
from app.http.request_id import give_request_ids
from app.policy import ROLE_PERMISSIONS, ROUTES, Permission
from app.policy.caller import Caller
from app.schemas.partners import Partner, PartnerFilter, UpdatePartnerInput
from tests.fixtures.tenants import Tenant, make_tenant

PARTNER = UUID("0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01")
CREATED = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
BODY_LIMIT = 4096


def _authenticate(_session: Session, asked: Request) -> Caller:
    """Accept a word after ``Bearer`` as the role."""
    role = asked.headers.get("Authorization", "").removeprefix("Bearer ")
    if not role:
        message = "Send a token."
        raise Unauthenticated(message, "token_missing")
    known = Role(role)
    subject = uuid5(PARTNER, role)
    permissions = ROLE_PERMISSIONS[known]
    return Caller(CallerKind.CLIENT, known, subject, role, PARTNER, permissions=permissions)


@pytest.fixture
def things_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """``PUT /api/things/<id>``, ``GET /api/things`` and a view that breaks."""
    things = area_blueprint("things", DESCRIPTION, _authenticate, "/api")

    @things.put("/things/<thing_id>")
    @operation(summary="Change a thing", body=UpdatePartnerInput, output=Partner)
    def change_thing(thing_id: UUID, body: UpdatePartnerInput) -> Partner:
        changes = body.sent()
        name = changes.pop("partner_name", "unnamed")
        return Partner(
            id=thing_id, created_date=CREATED, updated_date=CREATED, partner_name=name, **changes
        )

    @things.get("/things")
    @operation(summary="List things", query=PartnerFilter, output=list[Partner])
    def list_things(query: PartnerFilter) -> list[Partner]:
        return (
            [
                Partner(
                    id=PARTNER, created_date=CREATED, updated_date=CREATED, partner_name=query.name
                )
            ]
            if query.name
            else []
        )

    @things.get("/broken")
    @operation(summary="Break", output=None)
    def broken() -> None:
        message = "a secret of the inside"
        raise RuntimeError(message)

    monkeypatch.setitem(ROUTES, "things.change_thing", Permission.PARTNER_WRITE)
    monkeypatch.setitem(ROUTES, "things.list_things", Permission.PARTNER_READ)
    monkeypatch.setitem(ROUTES, "things.broken", Permission.PARTNER_READ)

    app = Flask("probe")
    engine = make_engine(f"sqlite:///{tmp_path / 'probe.db'}")
    app.extensions["settings"] = Settings(env="test", max_body_bytes=BODY_LIMIT)
    app.extensions["database"] = Database(engine)
    app.extensions["rate_limit"] = TokenBuckets(100, 200)
    app.extensions["request_log"] = RequestLog(app.extensions["database"])
    give_request_ids(app)
    register_error_handlers(app)
    app.register_blueprint(things)
    yield app
    engine.dispose()


@pytest.fixture
def things_client(things_app: Flask) -> FlaskClient:
    return things_app.test_client()


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    session.commit()
    return tenant
