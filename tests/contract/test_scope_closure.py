"""The operations that a credential with one scope can reach, also by creating another one."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import DomainError
from app.models import Base, User
from app.policy import API_KEY_SCOPES, ROLE_PERMISSIONS, Permission
from app.policy.caller import Caller
from app.services import oauth_clients, users
from app.services.credentials import api_keys, scim_tokens
from tests.contract.all_areas import AllAreas, good_bodies, known_routes
from tests.contract.interface import OPERATIONS
from tests.contract.requests import good, subject_of
from tests.fixtures.partner_api import PartnerApi
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

P = Permission
PARTNER = "/api/partners/{partnerId}"
ALONE = {
    "email": "moved@new.example",
    "paymentTier": "customerBasicPlan",
    "productName": "Reception",
    "billingEmail": "new@new.example",
}
"""Fields that are changed one by one."""
USER_TYPES = ("standard", "admin", "partnerAdmin", "partnerEditor")

REACHED: Mapping[Permission, set[str]] = {
    P.PARTNER_READ: {"GET /api/partners", f"GET {PARTNER}"},
    P.PARTNER_CREATE: {"POST /api/partners"},
    P.BRANDING_WRITE: {f"PUT {PARTNER} productName"},
    P.PRICING_READ: {f"GET {PARTNER}/pricing"},
    P.USERS_READ: {
        f"GET {PARTNER}/users",
        f"GET {PARTNER}/organizations/{{organizationId}}/users",
    },
    P.USERS_WRITE: {"PUT /api/users/{externalUserId} paymentTier"},
    P.ORGANIZATIONS_READ: {f"GET {PARTNER}/organizations"},
    P.ORGANIZATIONS_WRITE: {f"PUT {PARTNER}/organizations/{{organizationId}}"},
    P.REPORT_READ: {f"GET {PARTNER}/admin-report"},
    P.SUBSCRIPTION_READ: {
        "GET /api/users/subscription",
        "GET /api/users/{externalUserId}/subscription",
    },
    P.USAGE_READ: {"GET /api/users/usage"},
}
"""Requests of Area A that a token with this scope alone succeeds with; the other scopes need
company: a user or client of a role takes every scope of that role."""

CHANGED: Mapping[Permission, set[str]] = {
    P.PARTNER_CREATE: {
        "outside_pictures",  # what the worker fetches of the brand
        "partners",
        "partner_brand_colors",
        "partner_header_links",
        "partner_social_links",
        "partner_pricing",
        "partner_domains",  # of the partner's domain
        "partner_site_images",
        "spending_limits",  # the installation's limit of a new partner
    },
    P.BRANDING_WRITE: {"partners"},
    P.ORGANIZATIONS_WRITE: {"organizations", "partner_tiers"},
    # The contract makes the plan of a user's organization part of changing the user.
    P.USERS_WRITE: {"organizations", "partner_tiers"},
}
"""Tables that a token with only this scope may write to, besides `BOOKKEEPING`."""

BOOKKEEPING = {"api_requests", "audit_entries", "audit_links", "oauth_clients", "signing_keys"}

REACHED_BY_KEY: Mapping[Permission, set[str]] = {
    P.CONTACTS_READ: {"public.list_contacts", "public.get_contact"},
    P.CONTACTS_WRITE: {"public.send_contacts"},
    P.CALLS_READ: {"public.list_calls", "public.get_call"},
    P.CALLS_CREATE: {"public.create_call", "public.cancel_call"},
}
FOR_ANY_KEY = {"public.list_agents", "public.list_campaigns"}


def requests_of(partner_api: PartnerApi) -> Iterator[tuple[str, str, str, Any]]:
    """Each operation of Area A with a good body, and with bodies that ask for one thing alone."""
    for operation in OPERATIONS:
        name = operation.name
        method, path, body = good(name, subject_of(partner_api))
        match name:
            case "POST /api/users" | "POST /api/partners/{partnerId}/users":
                for kind in USER_TYPES:
                    yield f"{name} {kind}", method, path, copy.deepcopy(body) | {"userType": kind}
            case "PUT /api/users/{externalUserId}" | "PUT /api/partners/{partnerId}":
                for field, value in ALONE.items():
                    if field in body:
                        yield f"{name} {field}", method, path, {field: value}
            case _:
                yield name, method, path, body


def tables(session: Session) -> dict[str, list[str]]:
    session.rollback()
    return {
        table.name: sorted(map(repr, session.execute(select(table))))
        for table in Base.metadata.sorted_tables
        if table.name not in BOOKKEEPING
    }


@pytest.mark.parametrize("role", [Role.OPERATOR, *oauth_clients.CLIENT_ROLES])
def test_a_token_with_one_scope_reaches_nothing_outside_it(
    partner_api: PartnerApi, role: Role
) -> None:
    reached: dict[Permission, set[str]] = defaultdict(set)
    changed: dict[Permission, set[str]] = defaultdict(set)
    before = tables(partner_api.session)
    for scope in sorted(ROLE_PERMISSIONS[role]):
        for name, method, path, body in requests_of(partner_api):
            answer = partner_api.ask(method, path, body, as_role=role, scope=scope)
            if answer.status_code == 200:
                reached[scope].add(name)
                after = tables(partner_api.session) if method != "GET" else before
                changed[scope] |= {each for each in after if after[each] != before[each]}
                before = after
    held = {scope: REACHED[scope] for scope in ROLE_PERMISSIONS[role] & REACHED.keys()}
    if role is Role.OPERATOR:  # has no partner, for which these act
        del held[P.SUBSCRIPTION_READ], held[P.USAGE_READ], held[P.USERS_WRITE]
    assert dict(reached) == held
    outside = {scope: names - CHANGED.get(scope, set()) for scope, names in changed.items()}
    assert outside == {scope: set() for scope in changed}


@pytest.mark.parametrize("scope", sorted(API_KEY_SCOPES))
def test_a_key_with_one_scope_reaches_nothing_outside_it(
    all_areas: AllAreas, scope: Permission
) -> None:
    made = api_keys.create(
        all_areas.session,
        OPERATOR,
        organization_id=all_areas.tenant.plus.id,
        name="one scope",
        scopes=[scope],
    )
    all_areas.session.commit()
    headers = {"x-api-key": made.secret}
    reached = set()
    for endpoint, route in known_routes().items():
        if route.blueprint != "public":
            continue
        body = good_bodies(all_areas.ids).get(endpoint)
        path = route.path(all_areas.ids)
        answer = all_areas.client.open(path, method=route.method, headers=headers, json=body)
        if answer.status_code != 403:
            reached.add(endpoint)
    assert reached == REACHED_BY_KEY[scope] | FOR_ANY_KEY


def grants(session: Session, tenant: Tenant, caller: Caller) -> Iterator[frozenset[Permission]]:
    """The permissions that each allowed way to change a user or a client would give."""
    colleague = tenant.staff[Role.ADMIN]
    client = oauth_clients.create(
        session, tenant.caller(Role.PARTNER_ADMIN), name="script", role=Role.PARTNER_ADMIN
    ).client
    key = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.plus.id,
        name="key",
    ).key
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for old in scim_tokens.listing(session, admin):  # there is a limit
        scim_tokens.revoke(session, admin, old.id)
    token = scim_tokens.create(session, admin, name="token").token
    ways: list[tuple[frozenset[Permission], Callable[[], object]]] = []
    for role in oauth_clients.CLIENT_ROLES:
        powers = ROLE_PERMISSIONS[role]
        ways += [
            (powers, partial(oauth_clients.create, session, caller, name="x", role=role)),
            (powers, partial(users.change_role, session, caller, colleague.id, role)),
            (powers, partial(_invite, session, tenant, caller, role)),
        ]
    for scope in API_KEY_SCOPES:
        ways.append((frozenset({scope}), partial(_key, session, tenant, caller, scope)))
    ways += [
        (ROLE_PERMISSIONS[Role.STANDARD], partial(_invite, session, tenant, caller, Role.STANDARD)),
        (
            ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
            partial(oauth_clients.rotate, session, caller, client.id),
        ),
        (API_KEY_SCOPES, partial(api_keys.rotate, session, caller, key.id)),
        (
            ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
            partial(scim_tokens.create, session, caller, name="x"),
        ),
        (
            ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
            partial(scim_tokens.rotate, session, caller, token.id),
        ),
    ]
    for powers, give in ways:
        try:
            with session.begin_nested():
                give()
        except DomainError:
            continue
        yield powers


def _invite(session: Session, tenant: Tenant, caller: Caller, role: Role) -> User:
    return users.invite(
        session,
        caller,
        email=f"{role}@new.example",
        user_type=role,
        organization_id=tenant.organization.id if role is Role.STANDARD else None,
    )


def _key(session: Session, tenant: Tenant, caller: Caller, scope: Permission) -> api_keys.NewKey:
    return api_keys.create(
        session, caller, organization_id=tenant.plus.id, name="x", scopes=[scope]
    )


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN])
def test_a_created_credential_never_has_more_rights_than_its_creator(
    session: Session, role: Role
) -> None:
    tenant = make_tenant(session)
    tenant.organization.user_limit = 0
    scopes = sorted(ROLE_PERMISSIONS[role])
    pairs = [frozenset({P.CREDENTIALS_MANAGE, scope}) for scope in API_KEY_SCOPES]
    outside = {}
    for held in (*(frozenset({scope}) for scope in scopes), *pairs):
        caller = tenant.caller(role, held & ROLE_PERMISSIONS[role])
        given = frozenset[Permission]().union(*grants(session, tenant, caller))
        outside[held] = given - held
    assert outside == dict.fromkeys(outside, frozenset())
