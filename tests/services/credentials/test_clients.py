import re
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Area, Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, OAuthClient, utcnow
from app.policy import ROLE_PERMISSIONS, Permission
from app.policy.caller import Caller, system_caller
from app.services import oauth_clients
from tests.fixtures.tenants import Tenant, make_tenant
from tests.services.conftest import refusal

SUPPORT = system_caller("command line")


def make(session: Session, caller: Caller, role: Role = Role.ADMIN) -> oauth_clients.NewClient:
    return oauth_clients.create(session, caller, name=" Nightly sync ", role=role)


def test_an_administrator_creates_a_client_and_the_history_shows_it(
    session: Session, tenant: Tenant, admin: Caller
) -> None:
    made = make(session, admin)
    client = made.client
    assert (
        client.partner_id, client.organization_id, client.area, client.role, client.name,
        client.created_by,
    ) == (
        tenant.partner.id, None, Area.PARTNER_ADMIN, Role.ADMIN, "Nightly sync",
        "partnerAdmin@northwind.example",
    )  # fmt: skip
    assert re.fullmatch(r"ppcs_[0-9A-Za-z]{49}", made.secret)
    assert made.secret not in str(vars(client))
    written = session.scalars(select(AuditEntry).where(AuditEntry.action == "client.created")).one()
    assert (written.target_id, written.partner_id, written.after) == (
        str(client.id),
        tenant.partner.id,
        {"role": "admin", "area": "A", "expiresAt": (client.expires_at or utcnow()).isoformat()},
    )


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD, Role.OPERATOR])
def test_only_administrators_manage_clients(session: Session, tenant: Tenant, role: Role) -> None:
    caller = tenant.caller(role)
    forbidden = (Forbidden, "insufficient_scope")
    assert refusal(lambda: make(session, caller)) == forbidden
    assert refusal(lambda: oauth_clients.list_all(session, caller)) == forbidden


@pytest.mark.parametrize("role", [Role.STANDARD, Role.OPERATOR])
def test_a_partners_client_has_a_role_of_the_partners_staff(
    session: Session, admin: Caller, role: Role
) -> None:
    refused = refusal(lambda: make(session, admin, role))
    assert refused == (ValidationFailed, "role_not_allowed")


def test_a_limited_credential_creates_no_client_with_more_rights(
    session: Session, tenant: Tenant
) -> None:
    scopes = ROLE_PERMISSIONS[Role.ADMIN] | {Permission.CREDENTIALS_MANAGE}
    enough = tenant.caller(Role.PARTNER_ADMIN, scopes)
    assert make(session, enough, Role.ADMIN).client.role is Role.ADMIN
    for missing in ROLE_PERMISSIONS[Role.ADMIN]:
        narrowed = tenant.caller(Role.PARTNER_ADMIN, scopes - {missing})
        with pytest.raises(Forbidden):
            make(session, narrowed, Role.ADMIN)
    refused = refusal(lambda: make(session, enough, Role.PARTNER_ADMIN))
    assert refused == (Forbidden, "insufficient_scope")


def test_a_client_needs_a_name_and_an_end_in_the_future(session: Session, admin: Caller) -> None:
    def create(name: str, ends_in: timedelta | None = None) -> object:
        ends = utcnow() + ends_in if ends_in else None
        return oauth_clients.create(session, admin, name=name, role=Role.ADMIN, expires_at=ends)

    assert [
        refusal(lambda: create(" ")),
        refusal(lambda: create("x" * 201)),
        refusal(lambda: create("ok", timedelta(seconds=-1))),
    ] == [
        (ValidationFailed, "blank"),
        (ValidationFailed, "too_long"),
        (ValidationFailed, "in_the_past"),
    ]


def test_other_tenants_do_not_find_the_clients(
    session: Session, tenant: Tenant, admin: Caller
) -> None:
    client = make(session, admin).client
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    assert oauth_clients.list_all(session, stranger) == []
    absent = refusal(lambda: oauth_clients.get(session, stranger, uuid4()))
    for action in (
        oauth_clients.get,
        oauth_clients.suspend,
        oauth_clients.resume,
        oauth_clients.revoke,
        oauth_clients.rotate,
    ):
        assert refusal(partial(action, session, stranger, client.id)) == absent
    assert absent == (NotFound, "client_not_found")


def authenticates(session: Session, client: OAuthClient, secret: str) -> bool:
    return oauth_clients.authenticate(session, client.client_id, secret) == client


def test_only_the_right_secret_authenticates(session: Session, admin: Caller) -> None:
    made = make(session, admin)
    tried = (made.secret, "", made.secret[:-1], made.secret + "x", "\ud800")
    right = [secret for secret in tried if authenticates(session, made.client, secret)]
    assert right == [made.secret]
    for unknown in ("", "ppc_unknown", "\x00", "ü", "x" * 1000):
        assert oauth_clients.authenticate(session, unknown, made.secret) is None


def test_a_new_secret_replaces_the_old_one(session: Session, admin: Caller) -> None:
    made = make(session, admin)
    rotated = oauth_clients.rotate(session, admin, made.client.id)
    assert rotated.client == made.client
    assert not authenticates(session, made.client, made.secret)
    assert authenticates(session, made.client, rotated.secret)


def test_a_suspended_client_is_refused_until_resumed(session: Session, admin: Caller) -> None:
    made = make(session, admin)
    oauth_clients.suspend(session, admin, made.client.id)
    assert authenticates(session, made.client, made.secret) is False
    oauth_clients.resume(session, admin, made.client.id)
    assert authenticates(session, made.client, made.secret) is True


def test_a_revoked_client_stays_revoked(session: Session, admin: Caller) -> None:
    made = make(session, admin)
    for _ in range(2):
        oauth_clients.revoke(session, admin, made.client.id)
    assert authenticates(session, made.client, made.secret) is False
    for action in (oauth_clients.resume, oauth_clients.rotate, oauth_clients.suspend):
        refused = refusal(partial(action, session, admin, made.client.id))
        assert refused == (Conflict, "client_revoked")


def test_an_expired_client_and_one_of_a_suspended_partner_are_refused(
    session: Session, tenant: Tenant, admin: Caller
) -> None:
    made = make(session, admin)
    made.client.expires_at = utcnow()
    session.flush()
    assert authenticates(session, made.client, made.secret) is False
    made.client.expires_at = None
    tenant.partner.suspended_at = utcnow()
    session.flush()
    assert authenticates(session, made.client, made.secret) is False


def test_only_operators_issue_and_change_legacy_clients(
    session: Session, tenant: Tenant, admin: Caller
) -> None:
    made = oauth_clients.create_legacy(
        session, SUPPORT, organization_id=tenant.plus.id, name="Dialler"
    )
    client = made.client
    assert (client.partner_id, client.organization_id, client.area, client.role) == (
        tenant.partner.id,
        tenant.plus.id,
        Area.LEGACY_CALLS,
        None,
    )
    support_only = (Forbidden, "support_only")
    assert [
        refusal(
            lambda: oauth_clients.create_legacy(
                session, admin, organization_id=tenant.plus.id, name="Own"
            )
        ),
        refusal(lambda: oauth_clients.rotate(session, admin, client.id)),
        refusal(lambda: oauth_clients.suspend(session, admin, client.id)),
    ] == [support_only] * 3
    assert oauth_clients.list_all(session, admin, area=Area.LEGACY_CALLS) == [client]


def test_a_legacy_client_needs_an_organization(session: Session) -> None:
    refused = refusal(
        lambda: oauth_clients.create_legacy(
            session, SUPPORT, organization_id=uuid4(), name="Dialler"
        )
    )
    assert refused == (NotFound, "organization_not_found")
