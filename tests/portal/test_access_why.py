"""The page that explains why a user may do something or not."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.models import Organization, User, utcnow
from app.policy import API_KEY_SCOPES, ROLE_PERMISSIONS, Permission
from app.portal.users.labels import PERMISSION_WORDS
from app.portal.web.navigation import ROLE_NAMES
from app.services import users
from app.services.credentials import api_keys
from app.services.users import access
from app.services.users.access import Explanation, Rule
from tests.fixtures.cast import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
ROLES = [role for role in Role if role is not Role.OPERATOR]


def user_of(session: Session, own: Tenant, role: Role) -> User:
    if role in (Role.OWNER, Role.STANDARD):
        user = session.get_one(User, own.user.id)
        user.role = role
        session.commit()
        return user
    return own.staff[role]


@pytest.mark.parametrize("role", ROLES)
def test_every_role_reads_about_every_permission_what_the_table_says(
    session: Session, own: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(user_of(session, own, role))
    for permission in Permission:
        shown = browser.get(f"/access/why?action={permission.value}")
        assert shown.status_code == 200
        answer = shown.text.partition("<h2>")[2].partition("</h2>")[0]
        is_allowed = permission in ROLE_PERMISSIONS[role]
        assert (permission, answer[:3]) == (permission, "Yes" if is_allowed else "No.")
        facts = shown.text.partition('<dl class="facts">')[2]
        holders = facts.partition("<dt>Roles that allow it</dt>")[2].partition("</dd>")[0]
        told = {
            str(name) for held, name in ROLE_NAMES.items() if permission in ROLE_PERMISSIONS[held]
        }
        assert set(holders.partition("<dd>")[2].split(", ")) == (told or {"–"})


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("permission", list(Permission))
def test_who_is_named_can_really_give_a_role_that_allows_it(
    session: Session, own: Tenant, role: Role, permission: Permission
) -> None:
    found = access.of_role(role, permission)
    assert all(permission in ROLE_PERMISSIONS[held] for held in found.attainable)
    if found.rule is not Rule.ROLE_TOO_LOW:
        assert (found.attainable, found.changers) == ((), ())
        return
    assert found.changers
    for giver in found.changers:
        user = user_of(session, own, role)
        changed = [held for held in found.attainable if held in users.loading.grantable(giver)]
        caller = OPERATOR if giver is Role.OPERATOR else own.caller(giver)
        if giver is Role.OWNER:
            continue  # the cast has one member, who would change their own role
        with session.begin_nested() as attempt:
            users.change_role(session, caller, user.id, changed[0])
            assert permission in ROLE_PERMISSIONS[user.role]
            attempt.rollback()
        session.expire_all()


@pytest.mark.parametrize(
    ("role", "permission", "expected"),
    [
        (
            Role.ADMIN,
            Permission.BRANDING_WRITE,
            Explanation(
                Rule.ROLE_TOO_LOW,
                (Role.OPERATOR, Role.PARTNER_ADMIN, Role.PARTNER_EDITOR),
                (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR),
                (Role.OPERATOR, Role.PARTNER_ADMIN),
            ),
        ),
        (
            Role.STANDARD,
            Permission.CREDENTIALS_MANAGE,
            Explanation(Rule.OTHER_KIND, (Role.PARTNER_ADMIN,), (), ()),
        ),
        (
            Role.PARTNER_ADMIN,
            Permission.PARTNER_CREATE,
            Explanation(Rule.OTHER_KIND, (Role.OPERATOR,), (), ()),
        ),
        (Role.PARTNER_ADMIN, Permission.LEGACY_CALL, Explanation(Rule.NO_ROLE, (), (), ())),
    ],
)
def test_the_rule_that_decides(role: Role, permission: Permission, expected: Explanation) -> None:
    assert access.of_role(role, permission) == expected


@pytest.mark.parametrize("permission", list(Permission))
def test_a_key_is_answered_by_its_scopes(
    session: Session, own: Tenant, signed_in: SignedIn, permission: Permission
) -> None:
    held = Permission.CONTACTS_READ
    made = api_keys.create(
        session,
        own.caller(Role.PARTNER_ADMIN),
        organization_id=own.organization.id,
        name="Sync",
        scopes=[held],
    )
    session.commit()
    admin = signed_in(own.staff[Role.PARTNER_ADMIN])
    path = f"/access/why?action={permission.value}&key={made.key.id}"
    expected = (
        "Yes. The key “Sync” has this scope."
        if permission is held
        else "No. The key “Sync” doesn’t have this scope."
        if permission in API_KEY_SCOPES
        else "No. API keys can’t do this."
    )
    assert f"<h2>{expected}</h2>" in admin.get(path).text
    api_keys.revoke(session, own.caller(Role.PARTNER_ADMIN), made.key.id)
    session.commit()
    assert "is revoked or has expired" in admin.get(path).text


def test_only_who_manages_a_key_reads_about_it(
    session: Session, own: Tenant, other: Tenant, signed_in: SignedIn
) -> None:
    made = api_keys.create(
        session,
        own.caller(Role.PARTNER_ADMIN),
        organization_id=own.organization.id,
        name="Sync",
    )
    session.commit()
    path = f"/access/why?action=contacts:read&key={made.key.id}"
    for user in (own.user, own.staff[Role.ADMIN], other.staff[Role.PARTNER_ADMIN]):
        assert signed_in(user).get(path).status_code == 404


def suspend_user(session: Session, own: Tenant) -> None:
    session.get_one(User, own.user.id).status = UserStatus.SUSPENDED


def suspend_organization(session: Session, own: Tenant) -> None:
    found = session.get_one(Organization, own.organization.id)
    found.status = OrganizationStatus.SUSPENDED


@pytest.mark.parametrize(
    ("end", "words"),
    [(suspend_user, "is not active"), (suspend_organization, "is suspended or archived")],
)
def test_a_state_decides_before_the_role(
    session: Session,
    own: Tenant,
    signed_in: SignedIn,
    end: Callable[[Session, Tenant], None],
    words: str,
) -> None:
    end(session, own)
    session.commit()
    path = f"/access/why?action=campaigns:read&user={own.user.id}"
    assert words in signed_in(own.staff[Role.ADMIN]).get(path).text


def test_a_suspended_partner_decides_first(
    session: Session, own: Tenant, operator: Browser
) -> None:
    own.partner.suspended_at = utcnow()
    session.commit()
    path = f"/access/why?action=campaigns:read&user={own.user.id}"
    assert "The portal is suspended" in operator.get(path).text


def test_a_page_refused_to_a_role_links_the_explanation(own: Tenant, signed_in: SignedIn) -> None:
    refused = signed_in(own.user).get("/branding")
    assert refused.status_code == 404
    assert 'href="/access/why?action=branding:write"' in refused.text
    assert "/access/why" not in signed_in(own.user).get("/nowhere").text


def test_the_page_of_a_user_links_the_explanation(own: Tenant, signed_in: SignedIn) -> None:
    page = signed_in(own.staff[Role.PARTNER_EDITOR]).get(f"/people/{own.user.id}").text
    assert f'href="/access/why?user={own.user.id}"' in page
    assert 'href="/access/why?action=users:write"' in page


def test_the_list_of_users_says_why_nobody_can_be_invited(own: Tenant, signed_in: SignedIn) -> None:
    link = 'href="/access/why?action=users:write"'
    assert link in signed_in(own.staff[Role.PARTNER_EDITOR]).get("/people").text
    assert link not in signed_in(own.staff[Role.PARTNER_ADMIN]).get("/people").text


def test_nobody_reads_about_users_they_cannot_see(
    own: Tenant, other: Tenant, signed_in: SignedIn
) -> None:
    path = "/access/why?action=campaigns:read&user="
    admin = signed_in(own.staff[Role.PARTNER_ADMIN])
    assert admin.get(f"{path}{own.user.id}").status_code == 200
    assert admin.get(f"{path}{other.user.id}").status_code == 404
    assert admin.get(f"{path}nonsense").status_code == 404
    assert admin.get("/access/why?action=nonsense").status_code == 404
    assert admin.get("/access/why?_scheme=x&_method=y").status_code == 200
    assert signed_in(own.user).get(f"{path}{own.plus_user.id}").status_code == 404


def test_every_action_is_listed_with_its_answer(own: Tenant, signed_in: SignedIn) -> None:
    shown = signed_in(own.staff[Role.ADMIN]).get(f"/access/why?user={own.user.id}").text
    table = shown.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r'action=([a-z:/.]+)[&"].*?class="badge[^"]*">([^<]+)<', table, re.DOTALL)
    held = ROLE_PERMISSIONS[Role.STANDARD]
    assert dict(rows) == {
        key.value: "Allowed" if key in held else "Not allowed" for key in PERMISSION_WORDS
    }
    assert table.count(f"user={own.user.id}") == len(rows)
