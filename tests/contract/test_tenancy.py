"""Another tenant's id is answered, byte for byte, as one that does not exist.

Generated from the policy table: every route of Areas A and C is asked once for each id that it
takes, with that id alone belonging to another partner and all others to the caller.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from app.enums import Role
from app.models import (
    Assistant,
    OAuthClient,
    Organization,
    User,
    new_id,
)
from app.policy import ROUTES
from app.policy.caller import system_caller
from app.services import organization_groups, users
from app.services.credentials import api_keys
from app.services.organization_groups import GroupInput
from tests.contract.all_areas import add_outreach
from tests.fixtures.partner_api import PartnerApi
from tests.fixtures.tenants import OPERATOR

DAYS = "startDate=2026-05-01&endDate=2026-05-31"


@dataclass(frozen=True)
class Ids:
    """Everything that a request can name."""

    partner_id: UUID
    organization_id: UUID
    external_user_id: str
    user_email: str
    color_id: UUID
    assistant_id: UUID
    call_id: UUID
    campaign_id: UUID
    contact_id: UUID


QUERIES: Mapping[str, tuple[str, ...]] = {
    "partner_admin.find_subscription": ("organization_id", "user_email"),
    "partner_admin.find_usage": ("organization_id", "user_email"),
}
"""Endpoints whose query names a tenant's things: each selector is sent alone."""

BODIES: Mapping[str, Callable[[Ids], Any]] = {
    "partner_admin.update_partner": lambda ids: {
        "brandUIColors": [{"id": str(ids.color_id), "name": "primary", "value": "red"}]
    },
    "partner_admin.create_partner_user": lambda _: {"email": "n@x.example", "userType": "admin"},
    "partner_admin.update_organization": lambda _: {"agentLimit": 3},
    "partner_admin.create_partial_user": lambda ids: {
        "email": "n@x.example",
        "orgId": str(ids.organization_id),
    },
    "partner_admin.update_user": lambda _: {"email": "n@x.example"},
    "public.create_call": lambda ids: {
        "agentId": str(ids.assistant_id),
        "contact": {"phoneNumber": "+12025550123"},
        "introMessage": "Hello.",
        "voicemailMessage": "Hello.",
    },
    "public.send_contacts": lambda _: {"contacts": [{"phone": "+12025550123"}]},
}
BODY_IDS: Mapping[str, tuple[str, ...]] = {
    "partner_admin.update_partner": ("color_id",),
    "partner_admin.create_partial_user": ("organization_id",),
    "public.create_call": ("assistant_id",),
}
NAMES_NOTHING = {
    "partner_admin.list_partners",
    "partner_admin.create_partner",
    "partner_admin.create_user",
    "partner_admin.create_admin",
    "public.list_agents",
    "public.list_calls",
    "public.list_campaigns",
}
"""Operations without an id of anything: what they act on comes from the credential alone."""

OWN_STATUS: Mapping[str, int] = {"public.create_call": 409}
"""Statuses other than 200 of a request with one's own ids: the assistant has no number."""

ENDPOINTS = sorted(name for name in ROUTES if name.startswith(("partner_admin.", "public.")))


def ids_of(session: Session, organization: Organization, user: User, color_id: UUID) -> Ids:
    """The ids of one tenant, with a campaign, a contact and a call of its own."""
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == organization.id)
    ).one()
    campaign_id, contact_id, call_id = add_outreach(session, organization, assistant)
    users.set_external_id(session, OPERATOR, user.id, f"ext-{user.id.hex}")
    return Ids(
        organization.partner_id,
        organization.id,
        f"ext-{user.id.hex}",
        user.email,
        color_id,
        assistant.id,
        call_id,
        campaign_id,
        contact_id,
    )


def absent_ids() -> Ids:
    return Ids(
        new_id(),
        new_id(),
        f"ext-{new_id().hex}",
        f"{new_id().hex}@x.example",
        *(new_id() for _ in range(5)),
    )


@dataclass(frozen=True)
class Tenants:
    client: FlaskClient
    headers: Mapping[str, dict[str, str]]
    own: Ids
    strangers: Mapping[str, Ids]
    """Another partner's ids and, for Area C, those of the partner's other organization."""

    def ask(self, endpoint: str, ids: Ids, selector: str | None) -> TestResponse:
        rule = rule_of(self.client.application, endpoint)
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(getattr(ids, match[1])), rule.rule)
        if selector is not None:
            words = {"organization_id": "organizationId", "user_email": "userEmail"}
            path += f"?{words[selector]}={getattr(ids, selector)}&{DAYS}"
        method = next(m for m in ("POST", "PUT", "GET") if m in (rule.methods or ()))
        body = BODIES[endpoint](ids) if endpoint in BODIES else None
        area = endpoint.split(".", maxsplit=1)[0]
        return self.client.open(path, method=method, json=body, headers=self.headers[area])


@pytest.fixture
def tenants(partner_api: PartnerApi, session: Session) -> Tenants:
    colors = {}
    for each in (partner_api.tenant, partner_api.other_tenant):
        answer = partner_api.put(
            f"/api/partners/{each.partner.id}",
            {"brandUIColors": [{"name": "primary", "value": "red"}]},
            of=each,
        )
        colors[each.partner.id] = UUID(answer["brandUIColors"][0]["id"])
    tenant, other_tenant = partner_api.tenant, partner_api.other_tenant
    key = api_keys.create(
        session,
        system_caller("tests", partner_id=tenant.partner.id),
        organization_id=tenant.organization.id,
        name="tests",
    )
    session.get_one(Organization, tenant.organization.id).user_limit = 0
    session.get_one(Organization, other_tenant.organization.id).user_limit = 0
    found = Tenants(
        partner_api.client,
        {
            "partner_admin": partner_api.token(Role.PARTNER_ADMIN),
            "public": {"x-api-key": key.secret},
        },
        ids_of(session, tenant.organization, tenant.user, colors[tenant.partner.id]),
        {
            "other": ids_of(
                session,
                other_tenant.organization,
                other_tenant.user,
                colors[other_tenant.partner.id],
            ),
            "sibling": ids_of(session, tenant.plus, tenant.plus_user, colors[tenant.partner.id]),
        },
    )
    session.commit()
    return found


def rule_of(app: Flask, endpoint: str) -> Rule:
    [rule] = app.url_map.iter_rules(endpoint)
    return rule


def places_of(endpoint: str, app: Flask) -> Iterator[tuple[str, str | None]]:
    """The ids that an operation takes: each with the query parameter that carries it, if any."""
    for name in re.findall(r"<(?:\w+:)?(\w+)>", rule_of(app, endpoint).rule):
        yield name, None
    for name in BODY_IDS.get(endpoint, ()):
        yield name, None
    for name in QUERIES.get(endpoint, ()):
        yield name, name


def without_request_id(response: TestResponse) -> tuple[int, Any, dict[str, str]]:
    body = response.get_json()
    request_id = body["details"].pop("requestId")
    ignored = {"X-Request-Id", "Date", "Content-Length"}
    headers = {name: value for name, value in response.headers if name not in ignored}
    written = response.get_data(as_text=True).replace(request_id, "")
    assert json.loads(written) is not None
    return response.status_code, written, headers


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_an_id_of_another_tenant_is_answered_like_an_unknown_one(
    tenants: Tenants, endpoint: str
) -> None:
    places = list(places_of(endpoint, tenants.client.application))
    assert bool(places) == (endpoint not in NAMES_NOTHING)
    strangers = dict(tenants.strangers)
    if endpoint.startswith("partner_admin."):
        del strangers["sibling"]  # one partner's organizations are all its own
    for name, selector in places:
        no_one = replace(tenants.own, **{name: getattr(absent_ids(), name)})
        expected = without_request_id(tenants.ask(endpoint, no_one, selector))
        assert expected[0] in {400, 404}
        for stranger in strangers.values():
            theirs = replace(tenants.own, **{name: getattr(stranger, name)})
            found = without_request_id(tenants.ask(endpoint, theirs, selector))
            assert found == expected, name


@pytest.fixture
def limited_tenants(tenants: Tenants, partner_api: PartnerApi, session: Session) -> Tenants:
    """The same, asked by an admin's client that is limited to a group without the sibling."""
    admin, tenant = (
        partner_api.tenant.caller(Role.PARTNER_ADMIN),
        partner_api.tenant.organization.id,
    )
    group = organization_groups.create(session, admin, GroupInput("North", [tenant]))
    headers = partner_api.token(Role.ADMIN)
    client = session.scalars(
        select(OAuthClient).where(
            OAuthClient.role == Role.ADMIN, OAuthClient.partner_id == partner_api.tenant.partner.id
        )
    ).one()
    organization_groups.limit(session, admin, client, {group.id})
    session.commit()
    return replace(tenants, headers={**tenants.headers, "partner_admin": headers})


PARTNER_ADMIN = [name for name in ENDPOINTS if name.startswith("partner_admin.")]


@pytest.mark.parametrize("endpoint", [name for name in PARTNER_ADMIN if name not in NAMES_NOTHING])
def test_an_id_outside_a_limited_clients_groups_is_answered_like_an_unknown_one(
    limited_tenants: Tenants, endpoint: str
) -> None:
    for name, selector in places_of(endpoint, limited_tenants.client.application):
        if name in ("partner_id", "color_id"):
            continue  # its own partner's
        answers = [
            without_request_id(
                limited_tenants.ask(
                    endpoint, replace(limited_tenants.own, **{name: getattr(ids, name)}), selector
                )
            )
            for ids in (limited_tenants.strangers["sibling"], absent_ids())
        ]
        assert answers[0] == answers[1], name
        assert answers[0][0] in {400, 404}, name


def test_lists_of_a_limited_client_hold_nothing_outside_its_groups(
    limited_tenants: Tenants,
) -> None:
    sibling = limited_tenants.strangers["sibling"]
    planted = {
        str(getattr(sibling, name))
        for name in Ids.__dataclass_fields__
        if name not in ("partner_id", "color_id")
    } | {"Northwind Dental"}
    for endpoint in PARTNER_ADMIN:
        if "GET" not in (rule_of(limited_tenants.client.application, endpoint).methods or ()):
            continue
        for selector in QUERIES.get(endpoint, (None,)):
            answer = limited_tenants.ask(endpoint, limited_tenants.own, selector)
            assert answer.status_code == 200, endpoint
            assert {value for value in planted if value in answer.text} == set(), endpoint


@pytest.mark.parametrize("endpoint", [name for name in ENDPOINTS if name not in NAMES_NOTHING])
def test_the_same_request_with_own_ids_finds_its_objects(tenants: Tenants, endpoint: str) -> None:
    selectors = QUERIES.get(endpoint, (None,))
    for selector in selectors:
        answer = tenants.ask(endpoint, tenants.own, selector)
        foreign = {str(value) for value in vars(tenants.strangers["other"]).values()}
        found = {value for value in foreign if value in answer.text}
        assert (answer.status_code, found) == (OWN_STATUS.get(endpoint, 200), set()), answer.text


def test_users_of_another_tenant_are_answered_like_unknown_ones(
    tenants: Tenants, session: Session
) -> None:
    stranger = tenants.strangers["other"]
    user_id = session.scalars(
        select(User.id).where(User.idp_uid == stranger.external_user_id)
    ).one()
    for endpoint in ("partner_admin.update_user", "partner_admin.get_user_subscription"):
        answers = {
            without_request_id(
                tenants.ask(endpoint, replace(tenants.own, external_user_id=str(key)), None)
            )[:2]
            for key in (user_id, new_id())
        }
        [(status, _)] = answers
        assert status in {400, 404}, endpoint


def test_lists_never_contain_objects_of_another_tenant(tenants: Tenants) -> None:
    stranger = tenants.strangers["other"]
    planted = {str(getattr(stranger, name)) for name in Ids.__dataclass_fields__}
    for endpoint in ENDPOINTS:
        rule = rule_of(tenants.client.application, endpoint)
        if "GET" not in (rule.methods or ()):
            continue
        for selector in QUERIES.get(endpoint, (None,)):
            answer = tenants.ask(endpoint, tenants.own, selector)
            assert answer.status_code == 200, endpoint
            assert {value for value in planted if value in answer.text} == set(), endpoint
