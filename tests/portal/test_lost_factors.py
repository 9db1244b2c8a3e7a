"""Lost phones and passkeys: who may reset a second factor, and what a stranger can't do."""

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, AuthenticatorApp, Mail, PortalSession, User, utcnow
from app.services.factors import recovery_codes
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignIn = Callable[[User], Browser]


@pytest.fixture
def user_without_factors(session: Session, tenant: Tenant) -> User:
    """A member who needs a second step and has lost everything for it."""
    user = tenant.user
    user.second_factor_at = utcnow()
    session.add(AuthenticatorApp(user_id=user.id, secret="sealed", confirmed_at=utcnow()))
    recovery_codes.replace(session, user.id)
    session.commit()
    return user


def reset(browser: Browser, user: User) -> int:
    path = f"/users/{user.id}/reset-factors"
    return browser.post(path, page="/account").status_code


def has_factor(session: Session, user: User) -> bool:
    session.expire_all()
    return user.second_factor_at is not None


def test_an_administrator_resets_the_factor_after_a_confirmation(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignIn, user_without_factors: User
) -> None:
    theirs, admin = signed_in(user_without_factors), signed_in(tenant.staff[Role.PARTNER_ADMIN])
    shown = admin.get(f"/users/{user_without_factors.id}/reset-factors").text
    assert "Make sure that you are really talking to this user" in shown
    assert has_factor(session, user_without_factors)
    assert reset(admin, user_without_factors) == 303
    assert not has_factor(session, user_without_factors)
    assert theirs.get("/account").status_code == 303  # signed out
    browser = Browser(app.test_client())
    browser.sign_in(user_without_factors.email)
    assert browser.get("/account").status_code == 200
    mail = session.scalars(
        select(Mail).where(Mail.user_id == user_without_factors.id).order_by(Mail.id)
    ).first()
    assert mail is not None
    by = tenant.staff[Role.PARTNER_ADMIN].email
    assert (mail.kind, mail.details) == ("factors_changed", {"what": "factors_reset", "by": by})
    actions = session.scalars(
        select(AuditEntry.action).where(AuditEntry.target_id == str(user_without_factors.id))
    ).all()
    assert actions == ["user.factors_reset", "user.signed_in"]


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.STANDARD])
def test_roles_that_manage_no_users_reset_nothing(
    session: Session, tenant: Tenant, signed_in: SignIn, user_without_factors: User, role: Role
) -> None:
    stranger = tenant.plus_user if role is Role.STANDARD else tenant.staff[role]
    assert reset(signed_in(stranger), user_without_factors) == 404
    assert has_factor(session, user_without_factors)


def test_an_administrator_of_another_partner_resets_nothing(
    session: Session, other_tenant: Tenant, signed_in: SignIn, user_without_factors: User
) -> None:
    assert reset(signed_in(other_tenant.staff[Role.PARTNER_ADMIN]), user_without_factors) == 404
    assert has_factor(session, user_without_factors)


def test_users_do_not_reset_those_above_them_or_themselves(
    session: Session, tenant: Tenant, signed_in: SignIn, user_without_factors: User
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.second_factor_at = utcnow()
    session.commit()
    reset(signed_in(tenant.staff[Role.ADMIN]), admin)
    reset(signed_in(admin), admin)
    assert has_factor(session, admin)


def test_a_stranger_with_the_password_and_the_mailbox_stays_out(
    app: Flask, session: Session, user_without_factors: User
) -> None:
    stranger = Browser(app.test_client())
    stranger.sign_in(user_without_factors.email)
    stranger.post(
        "/forgot-password", {"email": user_without_factors.email}, page="/forgot-password"
    )
    paths = ("/account", "/account/factors", "/account/confirm", "/")
    answers = {path: stranger.get(path) for path in paths}
    for path, answer in answers.items():
        to_sign_in = "/sign-in" if path == "/" else f"/sign-in?next={path}"
        assert (answer.status_code, answer.location) == (303, to_sign_in)


def test_an_administrator_signs_a_user_out_everywhere(
    session: Session, tenant: Tenant, signed_in: SignIn
) -> None:
    theirs = signed_in(tenant.user)
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    answer = admin.post(f"/users/{tenant.user.id}/sign-out", page="/account")
    assert answer.status_code == 303
    assert theirs.get("/account").status_code == 303
    assert (
        session.scalars(
            select(PortalSession.user_id).where(PortalSession.user_id == tenant.user.id)
        ).all()
        == []
    )
