"""One answer of every published status of every operation; `Answers` holds each against the
schema that is published for it."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from app.api.openapi import openapi_document
from app.enums import CallStatus, OrganizationStatus, Role
from app.http.rate_limit import TokenBuckets
from app.models import Call, Organization, new_id
from app.policy import Permission
from app.policy.caller import system_caller
from app.schemas.base import wire_name
from app.services.credentials import api_keys
from tests.contract.all_areas import BODY_LIMIT, AllAreas, Route, known_routes
from tests.fixtures.tenants import bearer

pytestmark = pytest.mark.alternating

OUT_OF_REACH: dict[str, set[int]] = {
    "partner_admin.list_partners": {404},  # no match is an empty list
    "partner_admin.create_admin": {404},  # the partner is that of the token
    "legacy_calls.place_call": {410},  # the area is in service here; see test_retirement
    "oauth.token": {429},  # no limit that a test would meet here; see test_token_endpoint
    "oauth.revoke_token": {429},
}
QUERIES = {"partner_admin.find_usage": "?startDate=2026-01-01&endDate=2026-01-31&organizationId="}
QUERIES["partner_admin.find_subscription"] = "?organizationId="


@pytest.mark.parametrize("name", known_routes())
def test_every_published_status_is_answered_as_it_is_published(
    all_areas: AllAreas, name: str
) -> None:
    route = known_routes()[name]
    got = {int(status) for status in _statuses(all_areas, route)}
    assert (got - _published(all_areas, name), _published(all_areas, name) - got) == (
        set(),
        OUT_OF_REACH.get(name, set()),
    )


def _published(all_areas: AllAreas, name: str) -> set[int]:
    wanted = wire_name(name.rpartition(".")[2])
    return {
        int(status)
        for methods in openapi_document(all_areas.app)["paths"].values()
        for operation in methods.values()
        if operation["operationId"] == wanted
        for status in operation["responses"]
    }


def _statuses(all_areas: AllAreas, route: Route) -> Iterator[int]:
    def ask(path: str | None = None, **how: Any) -> int:
        how.setdefault("headers", dict(all_areas.headers(route)))
        response = all_areas.client.open(
            path or _path(all_areas, route), method=route.method, **how
        )
        return response.status_code

    good = _good(all_areas, route)
    yield ask(**good)
    yield ask(**good, headers={})
    yield ask(_path(all_areas, route, absent=True), **_naming_no_one(good))
    joint = "&" if "?" in _path(all_areas, route) else "?"
    yield ask(f"{_path(all_areas, route)}{joint}perPage=0&x=1", **good)
    yield ask(route.path(dict.fromkeys(all_areas.ids, "x")), **good)
    if route.blueprint == "oauth":
        if route.method == "POST":
            yield ask(data={"grant_type": "none"})
            form = {"grant_type": "client_credentials", "token": "x"}
            yield ask(data=form, headers={"Authorization": "Basic eDp5"})
            yield ask(data={"grant_type": "x" * 2 * BODY_LIMIT})
        return
    if route.declared.body:
        yield ask(data=b"{", content_type="application/json")
        yield ask(data=b" " * (2 * BODY_LIMIT + 1), content_type="application/json")
        yield ask(data=b"{}", content_type="text/plain")
    if route.blueprint == "partner_admin":
        yield ask(**good, headers=all_areas.operator)
    yield ask(**good, headers=_narrowed(all_areas, route))
    _stop_calls(all_areas)
    yield ask(**good)
    within_the_rate = all_areas.app.extensions["rate_limit"]
    all_areas.app.extensions["rate_limit"] = TokenBuckets(1, 0)
    yield ask(**good)
    all_areas.app.extensions["rate_limit"] = within_the_rate
    _suspend(all_areas)
    yield ask(**good)


def _path(all_areas: AllAreas, route: Route, *, absent: bool = False) -> str:
    ids = dict.fromkeys(all_areas.ids, str(new_id())) if absent else all_areas.ids
    query = QUERIES.get(route.endpoint)
    return route.path(ids) + (query + ids["organization_id"] if query else "")


def _good(all_areas: AllAreas, route: Route) -> dict[str, Any]:
    if route.declared.body:
        return {"json": all_areas.good_body(route)}
    if route.declared.form is None:
        return {}
    proof = {"client_id": all_areas.client_id, "client_secret": all_areas.client_secret}
    return {"data": proof | {"grant_type": "client_credentials", "token": "x"}}


def _naming_no_one(good: dict[str, Any]) -> dict[str, Any]:
    """The same with an assistant that does not exist."""
    absent = {"agentId": str(new_id()), "fromPhoneNumber": "+12025550177"}
    changes = {name: value for name, value in absent.items() if name in good.get("json", {})}
    return good | {"json": good["json"] | changes} if changes else good


def _narrowed(all_areas: AllAreas, route: Route) -> dict[str, str]:
    """A valid credential that may not do this."""
    settings, partner_id = all_areas.app.extensions["settings"], all_areas.tenant.partner.id
    if route.blueprint == "partner_admin":
        role = Role.PARTNER_ADMIN
        made = bearer(all_areas.session, settings, role, partner_id, Permission.AUDIT_READ.value)
    elif route.blueprint == "public":
        reads = route.method == "GET"
        scope = Permission.CALLS_CREATE if reads else Permission.CALLS_READ
        by = system_caller("tests", partner_id=partner_id)
        whose = UUID(all_areas.ids["organization_id"])
        key = api_keys.create(
            all_areas.session, by, organization_id=whose, name="narrow", scopes=frozenset({scope})
        )
        made = {"x-api-key": key.secret}
    else:
        made = {"Authorization": "Bearer x"}
    all_areas.session.commit()
    return made


def _stop_calls(all_areas: AllAreas) -> None:
    """From here on no call can be placed, and the one that there was is over."""
    all_areas.assistant.active = False
    all_areas.session.get_one(Call, UUID(all_areas.ids["call_id"])).status = CallStatus.COMPLETED
    all_areas.session.commit()


def _suspend(all_areas: AllAreas) -> None:
    customer = all_areas.session.get_one(Organization, UUID(all_areas.ids["organization_id"]))
    customer.status = OrganizationStatus.SUSPENDED
    all_areas.session.commit()
