"""The page that explains why a user may do something or not."""

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask, url_for
from sqlalchemy.orm import Session
from werkzeug.routing import IntegerConverter
from werkzeug.routing import Rule as Route

from app.database import Database
from app.enums import OrganizationStatus, Role, UserStatus
from app.models import Organization, User, utcnow
from app.policy import API_KEY_SCOPES, ROLE_PERMISSIONS, ROUTES, Permission
from app.policy.parts import PARTS_OF_PAGES
from app.portal.access.labels import GROUPS, PART_LABELS, PERMISSION_LABELS
from app.portal.web.formats import ROLE_NAMES
from app.services import oauth_clients, organization_groups, rollup, users
from app.services.credentials import api_keys
from app.services.organization_groups import GroupInput
from app.services.users import access
from app.services.users.access import AccessExplanation, AccessRule
from app.services.users.loading import PARTNER_LEVEL, grantable_roles
from tests.fixtures.statements import counted
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.matrix import rotating
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
ROLES = [role for role in Role if role is not Role.OPERATOR]


def user_of(session: Session, tenant: Tenant, role: Role) -> User:
    if role in (Role.OWNER, Role.STANDARD):
        user = session.get_one(User, tenant.user.id)
        user.role = role
        session.commit()
        return user
    return tenant.staff[role]


@pytest.mark.parametrize("role", rotating("role that asks why", ROLES))
def test_the_page_answers_for_each_role_and_permission_as_the_policy_table_does(
    session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(user_of(session, tenant, role))
    for permission in Permission:
        shown = browser.get(f"/access/why?action={permission.value}")
        assert shown.status_code == 200
        answer = shown.text.partition("<h2>")[2].partition("</h2>")[0]
        is_allowed = permission in ROLE_PERMISSIONS[role]
        assert (permission, answer[:3]) == (permission, "Yes" if is_allowed else "No.")
        facts = shown.text.partition('<dl class="description-list">')[2]
        holders = facts.partition("<dt>Roles that allow it</dt>")[2].partition("</dd>")[0]
        reported = {
            str(name) for held, name in ROLE_NAMES.items() if permission in ROLE_PERMISSIONS[held]
        }
        assert set(holders.partition("<dd>")[2].split(", ")) == (reported or {"–"})


def test_the_explanations_of_all_actions_take_a_few_queries(
    tenant: Tenant, signed_in: SignedIn, database: Database
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    browser.get("/access/why")
    with counted(database.engine) as statements:
        assert browser.get("/access/why").status_code == 200
    assert len(statements) < len(PERMISSION_LABELS)


@pytest.mark.alternating
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("permission", list(Permission))
def test_only_users_who_can_give_the_role_are_named(
    session: Session, tenant: Tenant, role: Role, permission: Permission
) -> None:
    found = access.of_role(role, permission)
    if found.rule is not AccessRule.ROLE_TOO_LOW:
        assert found.changers == ()
        return
    assert found.changers
    for giver in found.changers:
        user = user_of(session, tenant, role)
        changed = [
            held
            for held in found.holders
            if held in grantable_roles(giver) and (held in PARTNER_LEVEL) == (role in PARTNER_LEVEL)
        ]
        caller = OPERATOR if giver is Role.OPERATOR else tenant.caller(giver)
        if giver is Role.OWNER:
            continue  # the tenant has one member, who would change their own role
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
            AccessExplanation(
                AccessRule.ROLE_TOO_LOW,
                (Role.OPERATOR, Role.PARTNER_ADMIN, Role.PARTNER_EDITOR),
                (Role.OPERATOR, Role.PARTNER_ADMIN),
            ),
        ),
        (
            Role.STANDARD,
            Permission.CREDENTIALS_MANAGE,
            AccessExplanation(AccessRule.OTHER_KIND, (Role.PARTNER_ADMIN,), ()),
        ),
        (
            Role.PARTNER_ADMIN,
            Permission.PARTNER_CREATE,
            AccessExplanation(AccessRule.OTHER_KIND, (Role.OPERATOR,), ()),
        ),
        (Role.PARTNER_ADMIN, Permission.LEGACY_CALL, AccessExplanation(AccessRule.NO_ROLE, (), ())),
    ],
)
def test_the_page_names_the_rule_that_decides(
    role: Role, permission: Permission, expected: AccessExplanation
) -> None:
    assert access.of_role(role, permission) == expected


@pytest.mark.parametrize("permission", list(Permission))
def test_a_key_is_answered_by_its_scopes(
    session: Session, tenant: Tenant, signed_in: SignedIn, permission: Permission
) -> None:
    held = Permission.CONTACTS_READ
    made = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.organization.id,
        name="Sync",
        scopes=[held],
    )
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    path = f"/access/why?action={permission.value}&key={made.key.id}"
    expected = (
        "Yes. The key “Sync” has this scope."
        if permission is held
        else "No. The key “Sync” doesn’t have this scope."
        if permission in API_KEY_SCOPES
        else "No. API keys can’t do this."
    )
    assert f"<h2>{expected}</h2>" in admin.get(path).text
    api_keys.revoke(session, tenant.caller(Role.PARTNER_ADMIN), made.key.id)
    session.commit()
    assert "is revoked or has expired" in admin.get(path).text


def test_only_users_who_manage_a_key_can_check_its_access(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    made = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.organization.id,
        name="Sync",
    )
    session.commit()
    path = f"/access/why?action=contacts:read&key={made.key.id}"
    for user in (tenant.user, tenant.staff[Role.ADMIN], other_tenant.staff[Role.PARTNER_ADMIN]):
        assert signed_in(user).get(path).status_code == 404


def suspend_user(session: Session, tenant: Tenant) -> None:
    session.get_one(User, tenant.user.id).status = UserStatus.SUSPENDED


def suspend_organization(session: Session, tenant: Tenant) -> None:
    found = session.get_one(Organization, tenant.organization.id)
    found.status = OrganizationStatus.SUSPENDED


@pytest.mark.parametrize(
    ("end", "words"),
    [(suspend_user, "is not active"), (suspend_organization, "is suspended or archived")],
)
def test_a_state_decides_before_the_role(
    session: Session,
    tenant: Tenant,
    signed_in: SignedIn,
    end: Callable[[Session, Tenant], None],
    words: str,
) -> None:
    end(session, tenant)
    session.commit()
    path = f"/access/why?action=campaigns:read&user={tenant.user.id}"
    assert words in signed_in(tenant.staff[Role.ADMIN]).get(path).text


def test_a_suspended_partner_decides_first(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    tenant.partner.suspended_at = utcnow()
    session.commit()
    path = f"/access/why?action=campaigns:read&user={tenant.user.id}"
    assert "The portal is suspended" in operator.get(path).text


def test_a_page_refused_to_a_role_links_the_explanation(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    refused = signed_in(tenant.user).get("/branding")
    assert refused.status_code == 404
    assert 'href="/access/why?action=branding:write"' in refused.text
    assert "/access/why" not in signed_in(tenant.user).get("/nowhere").text


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("/costs", "See the price to customers and the margin"),
        ("/alerts/rules/new", "Change alert rules and acknowledge alerts"),
        ("/settings/groups", "Manage groups of organizations"),
        ("/pricing/stripe", "Connect Stripe"),
    ],
)
def test_a_refused_page_names_the_part_of_the_permission_that_it_needs(
    tenant: Tenant, signed_in: SignedIn, page: str, words: str
) -> None:
    member = signed_in(tenant.user)
    [path] = re.findall(r'href="(/access/why[^"]*)"', member.get(page).text)
    assert f"<dd>{words}</dd>" in member.get(unescape(path)).text


def test_each_part_belongs_to_pages_that_need_its_permission() -> None:
    for start, permission, part in PARTS_OF_PAGES:
        needed = {needs for endpoint, needs in ROUTES.items() if endpoint.startswith(start)}
        assert PART_LABELS[part][0] == permission, start
        assert permission in needed, start


def test_users_read_what_they_may_not_do_and_which_roles_to_ask(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_EDITOR]).get("/access/why?action=users:write").text
    assert "<h1>Your access" in page
    assert "<dd>Invite, change and suspend users</dd>" in page
    assert "Ask a user with one of these roles for another role: " in page
    assert "Give the user a role" not in page
    about = f"/access/why?action=users:write&user={tenant.staff[Role.PARTNER_EDITOR].id}"
    assert "Give the user a role" in signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(about).text


def test_the_page_of_a_user_links_the_explanation(tenant: Tenant, signed_in: SignedIn) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_EDITOR]).get(f"/users/{tenant.user.id}").text
    assert f'href="/access/why?user={tenant.user.id}"' in page
    assert 'href="/access/why?action=users:write"' in page


def test_the_list_of_users_says_why_no_one_can_be_invited(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    link = 'href="/access/why?action=users:write"'
    assert link in signed_in(tenant.staff[Role.PARTNER_EDITOR]).get("/users").text
    assert link not in signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/users").text


def test_users_can_not_check_the_access_of_users_they_do_not_see(
    tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    path = "/access/why?action=campaigns:read&user="
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    shown = admin.get(f"{path}{tenant.user.id}")
    assert shown.status_code == 200
    assert tenant.user.email in shown.text
    for user_id in (other_tenant.user.id, "nonsense"):
        assert admin.get(f"{path}{user_id}").status_code == 404
    assert signed_in(tenant.user).get(f"{path}{tenant.plus_user.id}").status_code == 404


def test_an_unknown_action_is_not_found_and_unknown_parameters_are_ignored(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert admin.get("/access/why?action=nonsense").status_code == 404
    shown = admin.get("/access/why?_scheme=x&_method=y")
    assert "What this role allows, by area." in shown.text


def test_each_action_that_a_role_of_the_same_kind_allows_is_listed_with_its_answer(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    shown = signed_in(tenant.staff[Role.ADMIN]).get(f"/access/why?user={tenant.user.id}").text
    rows = re.findall(r'"visually-hidden">([^<:]+): </span>(.*?)</span>', shown)
    held, more = ROLE_PERMISSIONS[Role.STANDARD], ROLE_PERMISSIONS[Role.OWNER]
    assert {words: answer for answer, words in rows} == {
        PERMISSION_LABELS[each]: "Allowed" if each in held else "Not allowed"
        for each in held | more
    }
    whys = re.findall(rf"action=([a-z:]+)&(?:amp;)?user={tenant.user.id}", shown)
    assert sorted(whys) == sorted(each.value for each in more - held)


def test_each_permission_is_in_one_group() -> None:
    assert sorted(each for _, group in GROUPS for each in group) == sorted(Permission)


def test_users_read_who_gave_their_role_and_who_to_ask(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    editor, giver = tenant.staff[Role.PARTNER_EDITOR], tenant.staff[Role.PARTNER_ADMIN]
    caller = tenant.caller(Role.PARTNER_ADMIN)
    users.change_role(session, caller, editor.id, Role.ADMIN)
    users.change_role(session, caller, editor.id, Role.PARTNER_EDITOR)
    session.commit()
    page = unescape(signed_in(editor).get("/access/why").text)
    facts = dict(re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page))
    assert facts.pop("Given by").replace("<wbr>", "") == giver.email
    assert facts.keys() == {"Role", "Organizations", "Since"}
    assert (facts["Role"], facts["Organizations"]) == ("Partner editor", "All")
    asked = page.partition("To change this role, ask:")[2].partition("</p>")[0]
    assert f"mailto:{giver.email}" in asked
    member = signed_in(tenant.user).get("/access/why").text
    assert tenant.organization.name in member
    assert giver.email not in member


@pytest.mark.parametrize(
    ("permission", "state", "rule"),
    [
        (Permission.ORGANIZATIONS_WRITE, {}, AccessRule.CLIENT_ROLE_ALLOWS),
        (Permission.BRANDING_WRITE, {}, AccessRule.CLIENT_ROLE_TOO_LOW),
        (Permission.ORGANIZATIONS_WRITE, {"suspended_at": utcnow()}, AccessRule.CLIENT_SUSPENDED),
        (Permission.ORGANIZATIONS_WRITE, {"revoked_at": utcnow()}, AccessRule.CLIENT_ENDED),
        (Permission.ORGANIZATIONS_WRITE, {"expires_at": utcnow()}, AccessRule.CLIENT_ENDED),
    ],
)
def test_access_of_a_client_depends_on_its_state_and_its_role(
    session: Session,
    tenant: Tenant,
    signed_in: SignedIn,
    permission: Permission,
    state: dict[str, datetime],
    rule: AccessRule,
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    client = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN).client
    for name, value in state.items():
        setattr(client, name, value)
    session.commit()
    assert access.of_client(client, permission).rule is rule
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert f"client={client.id}" in browser.get(f"/api-access/clients/{client.id}").text
    page = browser.get(f"/access/why?client={client.id}&action={permission.value}")
    assert page.status_code == 200
    assert "Sync" in page.text
    other = signed_in(tenant.staff[Role.ADMIN]).get(f"/access/why?client={client.id}")
    assert other.status_code == 404


def test_a_user_who_can_not_change_plans_reads_why(tenant: Tenant, signed_in: SignedIn) -> None:
    link = 'href="/access/why?action=partner:write"'
    shown = {
        role: link in signed_in(tenant.staff[role]).get("/pricing").text
        for role in (Role.PARTNER_ADMIN, Role.ADMIN)
    }
    assert shown == {Role.PARTNER_ADMIN: False, Role.ADMIN: True}


def test_the_page_says_when_a_proof_is_asked_for_and_which_groups_are_seen(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin, limited = tenant.caller(Role.PARTNER_ADMIN), tenant.staff[Role.ADMIN]
    group = organization_groups.create(session, admin, GroupInput("North", []))
    organization_groups.limit(session, admin, limited, {group.id})
    session.commit()
    browser, page = signed_in(limited), "/access/why?action="
    asks, groups = "confirm it’s them", "Limited to the organizations of these groups: North."
    writing, reading = (browser.get(page + action).text for action in ("users:write", "users:read"))
    assert asks in writing
    assert asks not in reading
    assert groups in writing
    assert groups in reading
    organization_groups.remove(session, admin, group.id)
    session.commit()
    assert "but no group is left" in browser.get(f"{page}users:read").text
    unlimited = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(f"{page}users:read").text
    assert "Limited to" not in unlimited


@pytest.mark.parametrize(
    ("path", "permission"),
    [
        ("/organizations/{}/settings", "organizations:write"),
        ("/branding/surfaces", "partner:write"),
    ],
)
def test_screens_on_which_a_role_changes_nothing_lead_to_the_reason(
    tenant: Tenant, signed_in: SignedIn, path: str, permission: str
) -> None:
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    shown = editor.get(path.format(tenant.organization.id)).text
    assert f'<a href="/access/why?action={permission}">Why?</a>' in shown


def named_at_the_end(html: str) -> list[str]:
    line = html.partition('<p class="missing-actions">')[2].partition("</p>")[0]
    return re.findall(r'href="/access/why\?action=([^"]+)"', line)


def test_the_overview_leads_to_what_its_role_misses(tenant: Tenant, signed_in: SignedIn) -> None:
    shown = signed_in(tenant.user).get("/").text
    assert 'Some actions need another role. <a href="/access/why">See your access</a>' in shown
    assert "role doesn’t allow" not in shown


@pytest.mark.parametrize(
    ("role", "path", "expected"),
    [
        (Role.PARTNER_ADMIN, "/organizations/{}", []),
        (
            Role.PARTNER_EDITOR,
            "/organizations/{}",
            ["audit:read", "organizations:write", "users:write"],
        ),
        (Role.PARTNER_EDITOR, "/users", ["users:write"]),
        (Role.ADMIN, "/organizations/{}", ["audit:read"]),
        (Role.ADMIN, "/users", []),
        (Role.PARTNER_EDITOR, "/pricing", []),  # partner:write is beside it
        (Role.STANDARD, "/", []),  # it leads to all of them
        (Role.OWNER, "/", []),
        (Role.STANDARD, "/calls", []),
    ],
)
def test_the_end_of_a_page_names_the_actions_that_its_role_misses(
    session: Session,
    tenant: Tenant,
    signed_in: SignedIn,
    role: Role,
    path: str,
    expected: list[str],
) -> None:
    browser = signed_in(user_of(session, tenant, role))
    shown = browser.get(path.format(tenant.organization.id))
    assert (shown.status_code, named_at_the_end(shown.text)) == (200, expected)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/alerts", ["Change alert rules and acknowledge alerts"]),
        ("/report/month", ["See the price to customers and the margin", "Schedule report emails"]),
    ],
)
def test_the_end_of_a_page_names_the_part_of_a_permission_that_it_lacks(
    tenant: Tenant, signed_in: SignedIn, path: str, expected: list[str]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    line = browser.get(path).text.partition('<p class="missing-actions">')[2].partition("</p>")[0]
    links = re.findall(r'<a href="([^"]+)">([^<]+)</a>', line)
    assert [words for _url, words in links] == expected
    shown = browser.get(unescape(links[0][0])).text
    whole = "Add, change, suspend and archive organizations"
    assert f"<dd>{expected[0]}</dd>" in shown
    assert f"<dt>Part of</dt>\n  <dd>{whole}</dd>" in shown
    assert browser.get("/access/why?action=users:write&part=margin").status_code == 404


def value_of(rule: Route, name: str) -> Any:
    converter = rule._converters[name]
    if isinstance(converter, IntegerConverter):
        return 1
    return min(getattr(converter, "items", {uuid4()}))


@pytest.mark.alternating
@pytest.mark.parametrize("role", ROLES)
def test_each_page_that_a_role_may_not_open_leads_to_the_reason(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(user_of(session, tenant, role))
    refused = {}
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            needed = ROUTES.get(rule.endpoint)
            if (
                rule.endpoint.startswith("portal.")
                and "GET" in (rule.methods or ())
                and isinstance(needed, Permission)
                and needed not in ROLE_PERMISSIONS[role]
            ):
                values = {name: value_of(rule, name) for name in rule.arguments}
                refused[url_for(rule.endpoint, **values)] = needed
    assert refused
    answers = {path: browser.get(path) for path in refused}
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(
        refused, 404
    )
    assert [
        path
        for path, needed in refused.items()
        if f'href="/access/why?action={needed.value}' not in answers[path].text
    ] == []


@pytest.mark.parametrize("path", ["/usage", "/costs"])
def test_a_page_that_only_mentions_another_names_no_permission_of_it(
    session: Session, tenant: Tenant, signed_in: SignedIn, path: str
) -> None:
    rollup.add_cost(
        session,
        partner_id=tenant.partner.id,
        organization_id=tenant.plus.id,
        campaign_id=None,
        day=utcnow().date(),
        cost=Decimal("1.2"),
        currency="USD",
    )
    session.commit()
    assert named_at_the_end(signed_in(tenant.staff[Role.ADMIN]).get(path).text) == []


def test_users_read_about_themselves_as_you(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(user_of(session, tenant, Role.STANDARD))
    page = browser.get("/access/why?action=partner:write").text
    assert "and you can’t get one that does." in page
    assert re.findall("<title>([^<]*) ·", page) == ["Your access"]


def test_the_page_of_a_user_names_no_action_on_something_else(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    path = f"/users/{tenant.user.id}"
    page = signed_in(tenant.staff[Role.ADMIN]).get(path).text
    assert tenant.user.email in page
    assert "Your role doesn’t allow:" not in page
    editors = signed_in(tenant.staff[Role.PARTNER_EDITOR]).get(path).text
    named = editors.partition("Your role doesn’t allow:")[2].partition("</p>")[0]
    assert tenant.user.email in editors
    assert "company details" not in named
    assert "API keys" not in named
