"""The operations of Area A by role: docs/decisions/access.md#operations-by-role as data."""

from collections.abc import Mapping

import pytest

from app.enums import Role
from app.policy import ROLE_PERMISSIONS, ROUTES, Permission
from tests.contract.interface import OPERATIONS
from tests.contract.requests import good, subject_of
from tests.fixtures.partner_api import PartnerApi

_PARTNER = "/api/partners/{partnerId}"
READS = {
    "GET /api/partners",
    f"GET {_PARTNER}",
    f"GET {_PARTNER}/pricing",
    f"GET {_PARTNER}/organizations",
    f"GET {_PARTNER}/users",
    f"GET {_PARTNER}/organizations/{{organizationId}}/users",
    f"GET {_PARTNER}/admin-report",
}
FIGURES = {
    "GET /api/users/subscription",
    "GET /api/users/{externalUserId}/subscription",
    "GET /api/users/usage",
}
ROLES = (Role.OPERATOR, Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN)

TABLE: Mapping[str, tuple[int, int, int, int]] = {
    **dict.fromkeys(sorted(READS), (200, 200, 200, 200)),
    "POST /api/partners": (200, 403, 403, 403),
    # The body of these tests names every field, which is too much for an editor.
    f"PUT {_PARTNER}": (200, 200, 403, 403),
    f"POST {_PARTNER}/users": (200, 200, 403, 200),
    "POST /api/users": (400, 200, 403, 200),
    "POST /api/users/partial": (400, 200, 403, 200),
    f"PUT {_PARTNER}/organizations/{{organizationId}}": (200, 200, 403, 200),
    "PUT /api/users/{externalUserId}": (400, 200, 403, 200),
    **dict.fromkeys(sorted(FIGURES), (400, 200, 200, 200)),
    "POST /api/admins": (400, 200, 403, 403),
}
"""Status of a good request by operation, for each of `ROLES`."""

CELLS = [
    pytest.param(name, role, status, id=f"{role}-{name}")
    for name, statuses in TABLE.items()
    for role, status in zip(ROLES, statuses, strict=True)
]


def test_the_table_has_every_operation() -> None:
    assert sorted(TABLE) == sorted(operation.name for operation in OPERATIONS)


def test_every_role_that_a_client_can_have_is_in_the_table() -> None:
    assert set(ROLES) == set(Role) - {Role.OWNER, Role.STANDARD}


@pytest.mark.parametrize(("name", "role", "status"), CELLS)
def test_a_role_gets_the_status_of_the_table(
    partner_api: PartnerApi, name: str, role: Role, status: int
) -> None:
    partner_api.put(
        f"{_PARTNER}/organizations/{{organizationId}}".format(
            partnerId=partner_api.tenant.partner.id,
            organizationId=partner_api.tenant.organization.id,
        ),
        {"userLimit": 0},
    )
    response = partner_api.ask(*good(name, subject_of(partner_api)), as_role=role)
    assert response.status_code == status, response.text
    answered = response.get_json()
    refused = answered.get("statusCode") if isinstance(answered, dict) else None
    assert refused == (None if status == 200 else status)


@pytest.mark.parametrize("name", sorted({*READS, f"PUT {_PARTNER}"} - {"GET /api/partners"}))
def test_an_operator_acts_for_every_partner(partner_api: PartnerApi, name: str) -> None:
    method, path, body = good(name, subject_of(partner_api, other=True))
    answer = partner_api.ask(method, path, body, as_role=Role.OPERATOR)
    seen_by_the_partner = partner_api.get(path, of=partner_api.other_tenant)
    assert (answer.status_code, answer.get_json()) == (200, seen_by_the_partner)


def test_an_operator_lists_every_partner(partner_api: PartnerApi) -> None:
    listed = partner_api.get("/api/partners", as_role=Role.OPERATOR)
    assert {each["id"] for each in listed} == {
        str(partner_api.tenant.partner.id),
        str(partner_api.other_tenant.partner.id),
    }


@pytest.mark.parametrize("name", TABLE)
def test_a_token_without_the_scope_is_refused(partner_api: PartnerApi, name: str) -> None:
    method, path, body = good(name, subject_of(partner_api))
    role = Role.OPERATOR if name == "POST /api/partners" else Role.PARTNER_ADMIN
    needed = permission_of(partner_api, method, path)
    others = ROLE_PERMISSIONS[role] - {needed}
    scope = " ".join(sorted(others))
    response = partner_api.ask(method, path, body, as_role=role, scope=scope)
    assert (response.status_code, response.get_json()["details"]["code"]) == (
        403,
        "insufficient_scope",
    )


def permission_of(partner_api: PartnerApi, method: str, path: str) -> Permission:
    """What the policy table asks for at this address."""
    adapter = partner_api.client.application.url_map.bind("localhost")
    endpoint, _values = adapter.match(path.split("?", maxsplit=1)[0], method)
    needed = ROUTES[endpoint]
    assert isinstance(needed, Permission)
    return needed
