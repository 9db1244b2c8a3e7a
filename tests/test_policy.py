"""The policy table and the routes name each other, one line each."""

from collections.abc import Callable, Iterable

import pytest
from flask import Flask

from app.enums import Role
from app.http import brown_out
from app.policy import API_KEY_SCOPES, ROLE_PERMISSIONS, ROUTES, Permission, unlisted_routes
from app.policy.step_up import _ACTS
from app.portal.auth import guard, login_manager, step_up


def test_every_route_has_its_line_and_every_line_its_route(app: Flask) -> None:
    routes = {rule.endpoint for rule in app.url_map.iter_rules()}
    assert sorted(ROUTES.keys() - routes) == [], "ROUTES names endpoints that no view has"
    assert sorted(routes - ROUTES.keys()) == [], "ROUTES in app/policy/routes.py lacks endpoints"


def test_a_route_without_a_line_is_named() -> None:
    assert unlisted_routes(["static", "portal.forgotten", "health.healthz"]) == ["portal.forgotten"]


def test_the_application_does_not_start_with_a_route_that_has_no_line(
    make_app: Callable[..., Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(ROUTES, "portal.overview.show_overview")
    message = (
        r"these routes have no entry in app/policy/routes\.py: portal\.overview\.show_overview$"
    )
    with pytest.raises(RuntimeError, match=message):
        make_app(rate_per_second=7)  # settings that no other test asks for: a new application


@pytest.mark.parametrize(
    "named",
    [
        *(_ACTS, step_up.CONFIRMED, step_up.FILES, login_manager.REFRESHED, brown_out.LIMITED),
        *(guard._WITHOUT_SESSION, guard._WITH_LINKS, guard._LEAVING_VIEW_AS),
    ],
)
def test_sets_of_endpoints_name_only_those_that_exist(named: Iterable[str]) -> None:
    assert [endpoint for endpoint in named if endpoint not in ROUTES] == []


def test_every_permission_is_held_by_a_role() -> None:
    held = frozenset().union(*ROLE_PERMISSIONS.values()) | API_KEY_SCOPES
    assert set(Permission) - held == {Permission.LEGACY_CALL}


def test_no_role_but_the_operator_creates_partners() -> None:
    holders = {role for role, held in ROLE_PERMISSIONS.items() if Permission.PARTNER_CREATE in held}
    assert holders == {Role.OPERATOR}


def test_credentials_are_managed_by_partner_admins_alone() -> None:
    holders = {r for r, held in ROLE_PERMISSIONS.items() if Permission.CREDENTIALS_MANAGE in held}
    assert holders == {Role.PARTNER_ADMIN}
