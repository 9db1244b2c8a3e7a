"""A partner's policy of signing in: who needs a second factor, and how long sessions last."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.enums import Proof, Role, SecondFactorFor
from app.models import AuditEntry, AuthenticatorApp, Partner, PortalSession, User, utcnow
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of

PAGE = "/settings/sign-in"
NEEDS = {
    SecondFactorFor.NONE: set(),
    SecondFactorFor.STAFF: {Role.PARTNER_ADMIN, Role.PARTNER_EDITOR},
    SecondFactorFor.ALL: {Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD},
}


def require(session: Session, tenant: Tenant, who: SecondFactorFor) -> None:
    session.execute(
        update(Partner).where(Partner.id == tenant.partner.id).values(second_factor_for=who.value)
    )
    session.commit()


@pytest.mark.parametrize("who", list(SecondFactorFor))
@pytest.mark.parametrize("role", sorted(NEEDS[SecondFactorFor.ALL]))
@pytest.mark.parametrize("proof", [None, Proof.APP])
def test_users_without_a_required_factor_reach_only_the_page_to_add_one(
    session: Session,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    who: SecondFactorFor,
    role: Role,
    proof: Proof | None,
) -> None:
    user = user_of(tenant, role)
    browser = signed_in(user)
    session.execute(
        update(PortalSession).where(PortalSession.user_id == user.id).values(factor=proof)
    )
    require(session, tenant, who)
    must = proof is None and role in NEEDS[who]
    answer = browser.get("/account")
    expected = (303, "/account/factors") if must else (200, None)
    assert (answer.status_code, answer.location) == expected
    page = browser.get("/account/factors")
    assert (page.status_code, 'class="sidebar-row"' in page.text) == (200, not must)


def test_the_page_counts_users_without_a_factor_and_leads_to_them(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin, editor = tenant.staff[Role.PARTNER_ADMIN], tenant.staff[Role.PARTNER_EDITOR]
    session.get_one(User, editor.id).second_factor_at = utcnow()
    session.commit()
    browser = signed_in(admin)
    page = unescape(browser.get(PAGE).text)
    [staff, everyone] = re.findall(r"(\d+) active users? ha\w+ none yet", page)
    link = "/users?factor=off&status=active"
    assert staff == "1"
    assert f'href="{link}"' in page
    listed = re.findall(r'class="name" href="/users/([0-9a-f-]{36})"', browser.get(link).text)
    assert len(listed) == int(everyone)
    assert str(editor.id) not in listed
    with_one = browser.get("/users?factor=on").text
    assert re.findall(r'class="name" href="/users/([0-9a-f-]{36})"', with_one) == [str(editor.id)]


def test_an_account_without_a_second_factor_recommends_one(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.user)
    assert "Add second factor" in browser.get("/account").text
    session.get_one(User, tenant.user.id).second_factor_at = utcnow()
    session.commit()
    page = browser.get("/account").text
    assert "Add second factor" not in page
    assert "Manage second factor" in page


def test_a_required_factor_is_not_the_last_one_removed(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(user)
    session.add(AuthenticatorApp(user_id=user.id, secret="sealed", confirmed_at=utcnow()))
    session.execute(update(User).where(User.id == user.id).values(second_factor_at=utcnow()))
    require(session, tenant, SecondFactorFor.STAFF)
    browser.post("/account/factors/app/remove", page="/account")
    assert "Add another one first" in browser.get("/account/factors").text
    session.expire_all()
    assert session.get(AuthenticatorApp, user.id) is not None


def test_the_policy_is_saved_recorded_and_in_effect_at_once(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    member = signed_in(tenant.user)
    sent = {"second_factor_for": "all", "session_hours": "8", "idle_minutes": "15"}
    answer = admin.post(PAGE, {**sent, "version": str(tenant.partner.version)}, page=PAGE)
    assert (answer.status_code, answer.location) == (303, PAGE)
    assert member.get("/account").location == "/account/factors"
    entry = session.query(AuditEntry).filter_by(action="partner.updated").one()
    assert entry.after == {"secondFactorFor": "all", "sessionHours": 8, "idleMinutes": 15}


@pytest.mark.parametrize(
    "sent",
    [
        {"session_hours": "13"},
        {"session_hours": "0"},
        {"session_hours": "many"},
        {"idle_minutes": "4"},
        {"idle_minutes": "61"},
        {"second_factor_for": "cats"},
    ],
)
def test_limits_longer_than_those_of_the_installation_are_refused(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser], sent: dict[str, str]
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    data = {"second_factor_for": "none", "version": str(tenant.partner.version), **sent}
    assert admin.post(PAGE, data, page=PAGE).status_code == 422
    session.refresh(tenant.partner)
    assert (tenant.partner.second_factor_for, tenant.partner.session_hours) == ("none", None)


@pytest.mark.parametrize(
    ("limits", "aged", "is_open"),
    [
        ({"idle_minutes": 15}, {"seen_at": timedelta(minutes=14)}, True),
        ({"idle_minutes": 15}, {"seen_at": timedelta(minutes=16)}, False),
        ({"session_hours": 2}, {"created_at": timedelta(minutes=119)}, True),
        ({"session_hours": 2}, {"created_at": timedelta(minutes=121)}, False),
    ],
)
def test_sessions_end_at_the_partners_limits(
    session: Session,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    limits: dict[str, int],
    aged: dict[str, timedelta],
    is_open: bool,
) -> None:
    browser = signed_in(tenant.user)
    session.execute(update(Partner).where(Partner.id == tenant.partner.id).values(**limits))
    session.execute(
        update(PortalSession)
        .where(PortalSession.user_id == tenant.user.id)
        .values({name: utcnow() - by for name, by in aged.items()})
    )
    session.commit()
    assert browser.get("/account").location == (None if is_open else "/sign-in?next=/account")


def test_an_editor_does_not_see_the_policy(
    tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    assert signed_in(tenant.staff[Role.PARTNER_EDITOR]).get(PAGE).status_code == 404
