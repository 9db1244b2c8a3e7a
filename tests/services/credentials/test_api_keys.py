import re
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, OrganizationStatus, Role
from app.errors import Conflict, Forbidden, NotFound, Unauthenticated, ValidationFailed
from app.models import ApiKey, AuditEntry, utcnow
from app.policy import API_KEY_SCOPES
from app.policy.caller import Caller
from app.services.credentials import api_keys, last_used
from app.services.credentials import secrets as credential_secrets
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant, make_tenant
from tests.services.conftest import refusal

WEEK = timedelta(days=7)


@pytest.fixture
def new_key(session: Session, tenant: Tenant, admin: Caller) -> api_keys.NewKey:
    return api_keys.create(session, admin, organization_id=tenant.organization.id, name="CRM")


def works(session: Session, secret: str) -> bool:
    try:
        api_keys.caller_from_key(session, secret)
    except Unauthenticated:
        return False
    return True


def test_a_key_gives_its_caller_and_scopes(session: Session, tenant: Tenant, admin: Caller) -> None:
    made = api_keys.create(
        session,
        admin,
        organization_id=tenant.organization.id,
        name=" CRM ",
        scopes=["calls:read", "contacts:write", "calls:read"],
        live=False,
    )
    caller = api_keys.caller_from_key(session, made.secret, ip="192.0.2.1", request_id="req_1")
    assert caller == Caller(
        kind=CallerKind.API_KEY,
        role=Role.STANDARD,
        subject_id=made.key.id,
        label=f"CRM ({made.key.public_id})",
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        permissions=frozenset(
            scope for scope in API_KEY_SCOPES if scope in ("calls:read", "contacts:write")
        ),
        live=False,
        ip="192.0.2.1",
        request_id="req_1",
    )


def test_keys_have_the_published_form_and_only_a_hash_is_stored(
    session: Session, tenant: Tenant, new_key: api_keys.NewKey
) -> None:
    assert re.fullmatch(r"ppk_live_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}", new_key.secret)
    assert new_key.secret.startswith(new_key.key.public_id + "_")
    body = new_key.secret[:-6]
    assert new_key.secret[-6:] == credential_secrets.checksum(body)
    stored = str(vars(new_key.key))
    assert body.rpartition("_")[2] not in stored
    written = session.scalars(select(AuditEntry).where(AuditEntry.action == "key.created")).one()
    assert (written.organization_id, written.after) == (
        tenant.organization.id,
        {
            "scopes": sorted(API_KEY_SCOPES),
            "live": True,
            "expiresAt": (new_key.key.expires_at or utcnow()).isoformat(),
        },
    )


def with_checksum(body: str) -> str:
    return body + credential_secrets.checksum(body)


def test_only_the_whole_key_works(session: Session, new_key: api_keys.NewKey) -> None:
    secret, body = new_key.secret, new_key.secret[:-6]
    wrong_secret = body[:-1] + ("a" if body[-1] != "a" else "b")
    unknown_id = body.replace(new_key.key.public_id, "ppk_live_" + "0" * 16)
    tried = [
        secret,
        "",
        secret + " ",
        secret + "\n",
        secret[:-1],
        secret.replace("live", "test"),
        with_checksum(body.replace("live", "test")),
        with_checksum(wrong_secret),
        with_checksum(unknown_id),
        wrong_secret + secret[-6:],
        "\x00" * 20,
        "ü" * 20,
    ]
    assert [candidate for candidate in tried if works(session, candidate)] == [secret]


def test_a_missing_key_is_refused_in_the_same_way(session: Session) -> None:
    refused = refusal(lambda: api_keys.caller_from_key(session, None))
    assert refused == (Unauthenticated, "invalid_api_key")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": " "}, "blank"),
        ({"name": "x" * 201}, "too_long"),
        ({"scopes": ["calls:read", "users:read"]}, "unknown_scope"),
        ({"scopes": []}, "scope_required"),
        ({"expires_at": utcnow() - timedelta(days=1)}, "in_the_past"),
    ],
)
def test_an_invalid_key_is_not_created(
    session: Session, tenant: Tenant, admin: Caller, changes: dict[str, object], code: str
) -> None:
    wanted: dict[str, object] = {"organization_id": tenant.organization.id, "name": "CRM"}
    refused = refusal(lambda: api_keys.create(session, admin, **(wanted | changes)))  # type: ignore[arg-type] # the cases differ in type
    assert refused == (ValidationFailed, code)


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD, Role.OPERATOR])
def test_only_administrators_manage_keys(session: Session, tenant: Tenant, role: Role) -> None:
    caller = tenant.caller(role)
    refused = refusal(lambda: api_keys.list_all(session, caller))
    assert refused == (Forbidden, "insufficient_scope")


def test_other_tenants_do_not_find_the_keys(
    session: Session, tenant: Tenant, new_key: api_keys.NewKey
) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    assert api_keys.list_all(session, stranger, organization_id=tenant.organization.id) == []
    assert [
        refusal(lambda: api_keys.get(session, stranger, new_key.key.id)),
        refusal(lambda: api_keys.rotate(session, stranger, new_key.key.id)),
        refusal(lambda: api_keys.revoke(session, stranger, new_key.key.id)),
        refusal(
            lambda: api_keys.create(
                session, stranger, organization_id=tenant.organization.id, name="CRM"
            )
        ),
    ] == [(NotFound, "key_not_found")] * 3 + [(NotFound, "organization_not_found")]
    absent = refusal(
        lambda: api_keys.create(session, stranger, organization_id=uuid4(), name="CRM")
    )
    assert absent == (NotFound, "organization_not_found")


def test_a_rotated_key_works_beside_its_successor_for_the_overlap(
    session: Session, clock: SetClock, admin: Caller, new_key: api_keys.NewKey
) -> None:
    rotated = api_keys.rotate(session, admin, new_key.key.id, overlap=WEEK)
    new = rotated.key
    assert (new.name, new.scopes, new.live, new.expires_at) == (
        new_key.key.name, new_key.key.scopes, True, clock.now + timedelta(days=365),
    )  # fmt: skip
    assert works(session, new_key.secret)
    assert works(session, rotated.secret)
    assert new_key.key.expires_at == clock.now + WEEK
    new_key.key.expires_at = clock.now
    session.flush()
    assert not works(session, new_key.secret)
    assert works(session, rotated.secret)


def test_a_key_rotated_without_overlap_stops_at_once(
    session: Session, admin: Caller, new_key: api_keys.NewKey
) -> None:
    rotated = api_keys.rotate(session, admin, new_key.key.id)
    assert not works(session, new_key.secret)
    assert works(session, rotated.secret)


def test_an_overlap_never_lengthens_a_keys_life(
    session: Session, admin: Caller, new_key: api_keys.NewKey
) -> None:
    tomorrow = utcnow() + timedelta(days=1)
    new_key.key.expires_at = tomorrow
    rotated = api_keys.rotate(session, admin, new_key.key.id, overlap=WEEK, expires_at=None)
    assert (new_key.key.expires_at, rotated.key.expires_at) == (tomorrow, None)


@pytest.mark.parametrize("overlap", [timedelta(seconds=-1), WEEK + timedelta(seconds=1)])
def test_an_overlap_is_at_most_a_week(
    session: Session, admin: Caller, new_key: api_keys.NewKey, overlap: timedelta
) -> None:
    refused = refusal(lambda: api_keys.rotate(session, admin, new_key.key.id, overlap=overlap))
    assert refused == (ValidationFailed, "overlap_out_of_range")


def test_a_key_is_rotated_once_and_not_after_its_end(
    session: Session, admin: Caller, new_key: api_keys.NewKey
) -> None:
    rotated = api_keys.rotate(session, admin, new_key.key.id, overlap=WEEK)
    api_keys.revoke(session, admin, rotated.key.id)
    for key in (new_key.key, rotated.key):
        refused = refusal(partial(api_keys.rotate, session, admin, key.id))
        assert refused == (Conflict, "key_ended")


def test_a_revoked_key_is_refused_at_once(
    session: Session, admin: Caller, new_key: api_keys.NewKey
) -> None:
    for _ in range(2):
        api_keys.revoke(session, admin, new_key.key.id)
    assert works(session, new_key.secret) is False


def test_suspensions_count_at_once(
    session: Session, tenant: Tenant, new_key: api_keys.NewKey
) -> None:
    tenant.organization.status = OrganizationStatus.SUSPENDED
    session.flush()
    refused = refusal(lambda: api_keys.caller_from_key(session, new_key.secret))
    assert refused == (Forbidden, "organization_suspended")
    tenant.partner.suspended_at = utcnow()
    session.flush()
    assert works(session, new_key.secret) is False


def test_use_is_noted_once_a_minute(
    session: Session, clock: SetClock, new_key: api_keys.NewKey
) -> None:
    caller = api_keys.caller_from_key(session, new_key.secret)
    assert [last_used.due(caller) for _ in range(3)] == [True, False, False]
    last_used.touch(session, caller)
    noted = clock.now
    assert session.scalars(select(ApiKey.last_used_at)).one() == noted
    clock.pass_by(seconds=59)
    last_used.touch(session, caller)
    assert session.scalars(select(ApiKey.last_used_at)).one() == noted
