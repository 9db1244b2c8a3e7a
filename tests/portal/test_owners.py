"""Owners of an organization: who makes them, and what they can do that members can't."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.models import Assistant, AuditEntry, User
from app.services import users
from tests.fixtures.tenants import Tenant
from tests.portal.checked_lines import form_of
from tests.portal.conftest import Browser, fresh

SignedIn = Callable[[User], Browser]


@pytest.fixture
def owner(session: Session, tenant: Tenant, signed_in: SignedIn) -> Browser:
    tenant.user.role = Role.OWNER
    tenant.organization.user_limit = 0
    session.commit()
    return signed_in(tenant.user)


def save_role(browser: Browser, user: User, role: Role) -> int:
    page = f"/users/{user.id}/edit"
    typed = {"email": user.email, "name": "", "role": role.value, "version": str(user.version)}
    return browser.post(page, typed, page=page).status_code


def invite(browser: Browser, role: Role, **more: str) -> int:
    typed = {"email": "ada@x.example", "name": "Ada", "role": role.value, "once": "abc", **more}
    return browser.post("/users/invite", typed, page="/users/invite").status_code


@pytest.mark.parametrize("by", [Role.PARTNER_ADMIN, Role.ADMIN])
def test_staff_make_a_member_an_owner_and_a_member_again(
    session: Session, tenant: Tenant, signed_in: SignedIn, by: Role
) -> None:
    browser = signed_in(tenant.staff[by])
    seen = []
    for role in (Role.OWNER, Role.STANDARD):
        assert save_role(browser, fresh(session, tenant.user), role) == 303
        user = fresh(session, tenant.user)
        seen.append((user.role, user.user_type, user.is_owner))
    assert seen == [
        (Role.OWNER, Role.STANDARD, True),
        (Role.STANDARD, Role.STANDARD, False),
    ]
    changes = session.scalars(
        select(AuditEntry).where(AuditEntry.action == "user.role_changed").order_by(AuditEntry.id)
    ).all()
    assert [(row.before, row.after) for row in changes] == [
        ({"userType": "standard"}, {"userType": "owner"}),
        ({"userType": "owner"}, {"userType": "standard"}),
    ]


def test_members_and_staff_can_not_change_into_each_other(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert save_role(browser, tenant.user, Role.ADMIN) == 422
    assert save_role(browser, tenant.staff[Role.ADMIN], Role.OWNER) == 422
    roles = [fresh(session, user).role for user in (tenant.user, tenant.staff[Role.ADMIN])]
    assert roles == [Role.STANDARD, Role.ADMIN]


@pytest.mark.parametrize("role", [Role.STANDARD, Role.OWNER])
def test_an_owner_invites_into_their_own_organization_only(
    session: Session, tenant: Tenant, owner: Browser, role: Role
) -> None:
    page = owner.get(f"/users/invite?organization={tenant.plus.id}").text
    assert tenant.plus.name not in page
    assert invite(owner, role, organization=tenant.plus.name) == 303
    made = session.scalars(select(User).where(User.email == "ada@x.example")).one()
    assert (made.organization_id, made.role, made.status) == (
        tenant.organization.id,
        role,
        UserStatus.INVITED,
    )


def test_an_owner_is_not_offered_to_search_by_organization(owner: Browser, admin: Browser) -> None:
    assert "Name, email or organization" not in owner.get("/users").text
    assert "Name, email or organization" in admin.get("/users").text


def test_an_owner_invites_several_into_their_own_organization(
    session: Session, tenant: Tenant, owner: Browser
) -> None:
    lines = f"a@x.example\nb@x.example, Bea, {tenant.plus.name}\nc@x.example"
    page = owner.post("/users/invite-many/check", {"users": lines}, page="/users/invite-many").text
    owner.post("/users/invite-many", form_of(page), page="/users/invite-many")
    made = session.scalars(select(User).where(User.email.endswith("@x.example"))).all()
    assert {(user.email, user.organization_id) for user in made} == {
        ("a@x.example", tenant.organization.id),
        ("c@x.example", tenant.organization.id),
    }


def test_an_owner_invites_no_staff(session: Session, owner: Browser) -> None:
    assert invite(owner, Role.PARTNER_ADMIN) == 422
    assert session.scalar(select(User.id).where(User.email == "ada@x.example")) is None


def test_an_owner_sees_and_changes_the_users_of_their_own_organization_alone(
    tenant: Tenant, other_tenant: Tenant, owner: Browser
) -> None:
    page = owner.get("/users").text
    assert tenant.user.email in page
    assert tenant.plus_user.email not in page
    for stranger in (tenant.plus_user, tenant.staff[Role.ADMIN], other_tenant.user):
        assert owner.get(f"/users/{stranger.id}").status_code == 404
        assert owner.post(f"/users/{stranger.id}/suspend", page="/users").status_code == 404


def test_an_owner_makes_a_colleague_an_owner_and_suspends_them_but_not_themselves(
    session: Session, tenant: Tenant, owner: Browser
) -> None:
    assert invite(owner, Role.STANDARD) == 303
    colleague = session.scalars(select(User).where(User.email == "ada@x.example")).one()
    assert save_role(owner, colleague, Role.OWNER) == 303
    assert fresh(session, colleague).role is Role.OWNER
    for user in (colleague, tenant.user):
        owner.post(f"/users/{user.id}/suspend", page="/users/invite")
    assert [fresh(session, user).status for user in (colleague, tenant.user)] == [
        UserStatus.SUSPENDED,
        UserStatus.ACTIVE,
    ]


def test_an_owner_changes_their_assistants_and_adds_none(
    session: Session, tenant: Tenant, owner: Browser
) -> None:
    mine, theirs = (
        session.scalars(select(Assistant).where(Assistant.organization_id == each.id)).one()
        for each in (tenant.organization, tenant.plus)
    )
    page = f"/assistants/{mine.id}/edit"
    typed = {"name": "Vera", "active": "y", "version": str(mine.version)}
    assert owner.post(page, typed, page=page).status_code == 303
    session.expire_all()
    assert mine.name == "Vera"
    refused = [f"/assistants/{theirs.id}", f"/assistants/{theirs.id}/edit", "/assistants/new"]
    refused += [
        "/organizations",
        f"/organizations/{tenant.organization.id}",
        "/pricing",
        "/history",
    ]
    assert {path: owner.get(path).status_code for path in refused} == dict.fromkeys(refused, 404)


def test_invitations_of_a_former_owner_end_after_a_confirmation(
    session: Session, tenant: Tenant, owner: Browser, signed_in: SignedIn
) -> None:
    assert invite(owner, Role.OWNER) == 303
    colleague = session.scalars(select(User).where(User.email == "ada@x.example")).one()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert save_role(admin, fresh(session, tenant.user), Role.STANDARD) == 303
    assert fresh(session, tenant.user).role is Role.OWNER
    confirm = f"/users/{tenant.user.id}/role/standard"
    assert "ada@x.example" in admin.get(confirm).text
    assert admin.post(confirm, page=confirm).status_code == 303
    former, invited = fresh(session, tenant.user), fresh(session, colleague)
    assert (former.role, invited.status) == (Role.STANDARD, UserStatus.DEACTIVATED)


def test_json_shows_an_owner_as_a_standard_user(tenant: Tenant, owner: Browser) -> None:
    resource = users.to_resource(tenant.user)
    assert (resource.user_type, resource.org_id) == (Role.STANDARD, tenant.organization.id)


def contact_of(page: str, act: str) -> list[str]:
    """Return who the page says to ask."""
    return re.findall(rf'[Ww]rite to <a href="mailto:([^"]+)">[^<]+</a> to {act}\.', page)


def test_an_owner_reads_who_to_ask_for_another_assistant(
    session: Session, tenant: Tenant, owner: Browser, signed_in: SignedIn
) -> None:
    tenant.partner.support_email = "help@own.example"
    session.commit()
    staff = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    pages = [each.get("/assistants").text for each in (owner, staff)]
    assert [contact_of(page, "add an assistant") for page in pages] == [["help@own.example"], []]


def test_an_owner_without_a_free_seat_reads_who_to_ask_instead_of_a_form(
    session: Session, tenant: Tenant, owner: Browser
) -> None:
    tenant.partner.support_email = "help@own.example"
    session.commit()
    assert contact_of(owner.get("/users/invite").text, "raise the limit") == []
    assert 'href="/users/invite"' in owner.get("/").text
    tenant.organization.user_limit = 1
    session.commit()
    refused = owner.post("/users/invite", {"email": "ada@x.example", "once": "a"}, page="/users")
    assert refused.status_code == 422
    pages = [owner.get(path).text for path in ("/users/invite", "/users/invite-many")]
    for page in (refused.text, *pages):
        assert page.count("Your organization uses 1 of 1 seats.") == 1
        assert contact_of(page, "raise the limit") == ["help@own.example"]
        assert "Raise its user limit" not in page
        assert 'name="email"' not in page
        assert 'name="users"' not in page
    overview = owner.get("/").text
    assert 'href="/users/invite"' not in overview
    assert "All seats are taken. Write to help@own.example to raise the limit." in overview


def test_reactivating_into_a_full_organization_says_what_the_role_can_do(
    session: Session, tenant: Tenant, owner: Browser, signed_in: SignedIn
) -> None:
    tenant.partner.support_email = "help@own.example"
    session.commit()
    invite(owner, Role.STANDARD)
    colleague = session.scalars(select(User).where(User.email == "ada@x.example")).one()
    owner.post(f"/users/{colleague.id}/deactivate", page="/users")
    tenant.organization.user_limit = 1
    session.commit()
    message = []
    for browser in (owner, signed_in(tenant.staff[Role.ADMIN])):
        browser.post(f"/users/{colleague.id}/reactivate", page="/users")
        page = browser.get(f"/users/{colleague.id}").text.replace("<wbr>", "")
        message += re.findall(r"(?:seats|users)\. (.*) Nothing was changed\.", page)
    assert message == [
        "Deactivate a user, or write to help@own.example to raise the limit.",
        "Raise its user limit or deactivate a user.",
    ]


def test_the_users_of_an_owner_show_the_seats_and_invite_only_into_a_free_one(
    session: Session, tenant: Tenant, owner: Browser
) -> None:
    for limit, is_inviting in ((0, True), (2, True), (1, False)):
        tenant.organization.user_limit = limit
        session.commit()
        page = owner.get("/users").text
        assert ("seats in use." in page) == bool(limit)
        assert (f"1 of {limit} seats in use." in page) == bool(limit)
        assert ('class="btn" href="/users/invite' in page) == is_inviting
