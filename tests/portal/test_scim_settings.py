"""The directory in the settings: tokens that are shown once, the roles of groups."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.models import ScimGroup, ScimSettings, ScimToken, User
from app.services import users
from app.services.credentials import scim_tokens
from app.services.scim import groups
from app.services.scim import users as scim_users
from tests.fixtures.tenants import Tenant, caller_with, make_user
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
PAGE = "/settings/directory"
NEW = f"{PAGE}/tokens/new"


@pytest.fixture
def admin(tenant: Tenant, session: Session, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def group(tenant: Tenant, session: Session) -> ScimGroup:
    """A group with one user, who waits for a role."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    ada = scim_users.create(session, caller, scim_users.ScimUserFields("ada@northwind.example"))
    wanted = groups.ScimGroupFields("Sales", member_ids=frozenset({ada.user.id}))
    made = groups.create(session, caller, wanted)
    session.commit()
    return made


def secret_in(page: str) -> str | None:
    found = re.search(r"pps_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}", page)
    return found[0] if found else None


def works(app: Flask, secret: str) -> bool:
    headers = {"Authorization": f"Bearer {secret}"}
    return app.test_client().get("/scim/v2/Users", headers=headers).status_code == 200


def test_a_token_is_shown_once_rotated_and_revoked(
    admin: Browser, app: Flask, session: Session
) -> None:
    assert "No token" in admin.get(PAGE).text
    assert "http://localhost/scim/v2" in admin.get(PAGE).text.replace("<wbr>", "")
    secret = secret_in(admin.post(NEW, {"name": "Entra"}, page=NEW).text)
    assert secret is not None
    assert works(app, secret)
    assert secret_in(admin.get(PAGE).text) is None
    token = session.scalars(select(ScimToken)).one()
    rotate = f"{PAGE}/tokens/{token.id}/rotate"
    newer = secret_in(admin.post(rotate, {"overlap": "0"}, page=rotate).text)
    assert newer is not None
    assert not works(app, secret)
    assert works(app, newer)
    latest = session.scalars(select(ScimToken).where(ScimToken.id != token.id)).one()
    revoke = f"{PAGE}/tokens/{latest.id}/revoke"
    assert admin.post(revoke, {}, page=revoke).location == PAGE
    assert not works(app, newer)


def test_a_group_gives_its_role_to_its_users(
    admin: Browser, tenant: Tenant, group: ScimGroup, session: Session
) -> None:
    tenant.plus.user_limit = 2
    session.commit()
    assert "Sales" in admin.get(PAGE).text
    url = f"{PAGE}/groups/{group.id}"
    version = str(group.version)
    sent = {"role": "standard", "organization": "", "version": version}
    assert "Enter the organization of these members." in admin.post(url, sent, page=url).text
    sent["organization"] = "Northwind Dental"
    assert admin.post(url, sent, page=url).location == PAGE
    session.expire_all()
    user = session.scalars(select(User).where(User.email == "ada@northwind.example")).one()
    assert (user.role, user.status) == (Role.STANDARD, UserStatus.INVITED)
    page = admin.get(PAGE).text
    assert "Northwind Dental" in page


def test_a_refused_role_is_shown_at_the_field(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    own_id = tenant.staff[Role.PARTNER_ADMIN].id
    wanted = groups.ScimGroupFields("Owners", member_ids=frozenset({own_id}))
    made = groups.create(session, caller, wanted)
    session.commit()
    url = f"{PAGE}/groups/{made.id}"
    answer = admin.post(url, {"role": "admin", "version": str(made.version)}, page=url)
    assert answer.status_code == 422
    assert "You can’t change your own role." in answer.text
    session.expire_all()
    assert session.get_one(ScimGroup, made.id).role is None


@pytest.mark.parametrize(("sent", "stored"), [("admin", Role.ADMIN), ("", None)])
def test_the_default_role_is_saved(
    admin: Browser, session: Session, sent: str, stored: Role | None
) -> None:
    first = {"default_role": "partnerEditor", "version": "0"}
    assert admin.post(PAGE, first, page=PAGE).location == PAGE
    assert admin.post(PAGE, {"default_role": sent, "version": "1"}, page=PAGE).location == PAGE
    assert session.scalars(select(ScimSettings.default_role)).one() is stored


def test_a_default_role_beyond_staff_is_refused(admin: Browser, session: Session) -> None:
    sent = {"default_role": "partnerAdmin", "version": "0"}
    assert admin.post(PAGE, sent, page=PAGE).status_code == 422
    assert session.scalars(select(ScimSettings)).all() == []


@pytest.mark.parametrize("role", [Role.ADMIN, Role.PARTNER_EDITOR])
def test_only_partner_admins_manage_the_directory(
    tenant: Tenant, signed_in: SignedIn, group: ScimGroup, role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    paths = (PAGE, NEW, f"{PAGE}/groups/{group.id}")
    assert [browser.get(path).status_code for path in paths] == [404] * 3


def test_a_token_ends_with_the_user_who_created_it(tenant: Tenant, session: Session) -> None:
    leaving = make_user(session, tenant.partner.id, "leaving@northwind.example", Role.PARTNER_ADMIN)
    made = scim_tokens.create(session, caller_with(Role.PARTNER_ADMIN, leaving), name="Entra")
    session.commit()
    users.deactivate(session, tenant.caller(Role.PARTNER_ADMIN), leaving.id)
    assert made.token.revoked_at is not None


def test_a_directory_that_removes_the_creator_keeps_its_token(
    app: Flask, tenant: Tenant, session: Session
) -> None:
    leaving = make_user(session, tenant.partner.id, "leaving@northwind.example", Role.PARTNER_ADMIN)
    creator = caller_with(Role.PARTNER_ADMIN, leaving)
    used = scim_tokens.create(session, creator, name="Entra")
    other = scim_tokens.create(session, creator, name="Okta")
    session.commit()
    headers = {"Authorization": f"Bearer {used.secret}"}
    answer = app.test_client().delete(f"/scim/v2/Users/{leaving.id}", headers=headers)
    assert answer.status_code == 204
    session.expire_all()
    assert used.token.revoked_at is None
    assert other.token.revoked_at is not None
