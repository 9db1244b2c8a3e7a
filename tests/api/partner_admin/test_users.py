"""/api/users, /api/admins and the users of a partner over HTTP."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from app.enums import Role
from app.models import Organization, User, new_id
from app.policy import ROLE_PERMISSIONS, Permission
from app.services import organizations, users
from tests.fixtures.area_a import AreaA
from tests.fixtures.cast import OPERATOR

NEW = {"email": "new@x.example", "userType": "standard"}


def test_a_new_user_is_answered_as_the_contract_has_it(area: AreaA) -> None:
    made = area.post("/api/users", NEW | {"businessName": "Hillside", "tier": None})
    assert made == {
        "id": made["id"],
        "email": "new@x.example",
        "name": None,
        "adminOwned": False,
        "createdAt": made["createdAt"],
        "updatedAt": made["updatedAt"],
        "unsubscribe": True,
        "lastSession": None,
        "idpUid": None,
        "orgId": made["orgId"],
        "lastLogin": None,
        "status": "active",
        "userType": "standard",
    }
    listed = area.get(f"/api/partners/{area.tenant.partner.id}/users")
    assert listed[-1] == made


@pytest.mark.parametrize("path", ["/api/users", "/api/partners/{}/users"])
def test_both_ways_of_creating_do_the_same(area: AreaA, path: str) -> None:
    made = area.post(path.format(area.tenant.partner.id), NEW | {"businessName": "Hillside"})
    organization = area.session.get_one(Organization, UUID(made["orgId"]))
    assert (organization.name, organization.partner_id) == ("Hillside", area.tenant.partner.id)


SCOPES = {
    Role.STANDARD: {*ROLE_PERMISSIONS[Role.STANDARD], Permission.USERS_WRITE},
    Role.ADMIN: {*ROLE_PERMISSIONS[Role.ADMIN], Permission.USERS_WRITE},
    Role.PARTNER_EDITOR: {*ROLE_PERMISSIONS[Role.PARTNER_EDITOR], Permission.USERS_WRITE},
    Role.PARTNER_ADMIN: ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
}
"""What a token needs for creating a user of each type."""


@pytest.mark.parametrize("user_type", SCOPES)
def test_a_token_creates_only_users_with_no_more_rights_than_its_own(
    area: AreaA, user_type: Role
) -> None:
    body = NEW | {"userType": user_type.value}
    enough = SCOPES[user_type]
    for path in ("/api/users", f"/api/partners/{area.tenant.partner.id}/users"):
        before = area.session.scalar(select(func.count()).select_from(User))
        for missing in enough:
            scope = " ".join(sorted(enough - {missing}))
            assert area.refused("POST", path, body, scope=scope) == (403, "insufficient_scope")
        assert area.session.scalar(select(func.count()).select_from(User)) == before
        made = area.post(path, body, scope=" ".join(sorted(enough)))
        assert made["userType"] == user_type
        body["email"] = "another@x.example"


def test_a_token_for_users_alone_grants_nothing(area: AreaA) -> None:
    staff = area.tenant.staff[Role.PARTNER_EDITOR].id
    partial = {"email": "p@x.example", "orgId": str(area.tenant.organization.id)}
    asked = [
        ("POST", "/api/users", NEW | {"userType": "partnerAdmin"}),
        ("POST", "/api/users/partial", partial),
        ("PUT", f"/api/users/{staff}", {"email": "p@x.example"}),
    ]
    refused = [area.refused(*each, scope="users:write") for each in asked]
    admin = {"email": "p@x.example"}
    refused.append(area.refused("POST", "/api/admins", admin, scope="admins:create"))
    assert refused == [(403, "insufficient_scope")] * 4


def test_a_token_for_users_alone_changes_a_plan(area: AreaA) -> None:
    path = f"/api/users/{area.tenant.user.id}"
    changed = area.put(path, {"paymentTier": "customerPlusPlan"}, scope="users:write")
    assert changed == {"message": "The user was updated."}


def test_an_operator_creates_by_the_partners_path_only(area: AreaA) -> None:
    path = f"/api/partners/{area.tenant.partner.id}/users"
    assert area.post(path, NEW, as_role=Role.OPERATOR)["userType"] == "standard"
    partial = {"email": "p@x.example", "orgId": str(area.tenant.organization.id)}
    usage = "/api/users/usage?startDate=2026-01-01&endDate=2026-01-02&userEmail=olga@x.example"
    acting = [
        ("POST", "/api/users", NEW),
        ("POST", "/api/users/partial", partial),
        ("PUT", f"/api/users/{area.tenant.user.id}", {"email": "p@x.example"}),
        ("POST", "/api/admins", {"email": "p@x.example"}),
        ("GET", f"/api/users/{area.tenant.user.id}/subscription", None),
        ("GET", f"/api/users/subscription?organizationId={area.tenant.organization.id}", None),
        ("GET", usage, None),
    ]
    refusals = [area.refused(*request, as_role=Role.OPERATOR) for request in acting]
    assert refusals == [(400, "operator_without_partner")] * len(acting)


def test_an_email_that_is_taken_is_refused_in_any_case(area: AreaA) -> None:
    taken = {"email": "OLGA@northwind.example"}
    bodies: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/api/users", taken | {"userType": "standard"}),
        ("POST", "/api/users", taken | {"userType": "partnerEditor"}),
        ("POST", "/api/users/partial", taken | {"orgId": str(area.tenant.plus.id)}),
        ("POST", "/api/admins", taken),
        ("PUT", f"/api/users/{area.tenant.plus_user.id}", taken),
    ]
    area.session.get_one(Organization, area.tenant.plus.id).user_limit = 0
    area.session.commit()
    before = area.session.scalar(select(func.count()).select_from(User))
    assert [area.refused(*request) for request in bodies] == [(400, "email_exists")] * len(bodies)
    assert area.session.scalar(select(func.count()).select_from(User)) == before


def test_an_email_of_another_partner_is_free(area: AreaA) -> None:
    made = area.post("/api/users", {"email": "olga@southbank.example", "userType": "admin"})
    assert (made["userType"], made["orgId"], made["adminOwned"]) == ("admin", None, True)


def test_an_admin_creates_standard_users_and_no_others(area: AreaA) -> None:
    refused = []
    for user_type in ("admin", "partnerEditor", "partnerAdmin"):
        body = {"email": "n@x.example", "userType": user_type}
        refused.append(area.refused("POST", "/api/users", body, as_role=Role.ADMIN))
    assert refused == [(403, "role_too_low")] * 3
    assert area.post("/api/users", NEW, as_role=Role.ADMIN)["userType"] == "standard"


def test_no_body_names_an_operator(area: AreaA) -> None:
    body = {"email": "n@x.example", "userType": "operator"}
    assert area.refused("POST", "/api/users", body) == (400, "not_allowed")


def test_a_partial_user_is_invited_until_the_organization_is_full(area: AreaA) -> None:
    area.put(
        f"/api/partners/{area.tenant.partner.id}/organizations/{area.tenant.organization.id}",
        {"userLimit": 2},
    )
    body = {"email": "p@x.example", "orgId": str(area.tenant.organization.id), "name": "Petra"}
    made = area.post("/api/users/partial", body)
    assert (made["status"], made["orgId"], made["name"]) == ("invited", body["orgId"], "Petra")
    full = area.refused("POST", "/api/users/partial", body | {"email": "q@x.example"})
    assert full == (400, "user_limit_reached")


def test_an_archived_organization_takes_no_partial_user(area: AreaA) -> None:
    organizations.archive(area.session, OPERATOR, area.tenant.organization.id)
    area.session.commit()
    body = {"email": "p@x.example", "orgId": str(area.tenant.organization.id)}
    assert area.refused("POST", "/api/users/partial", body) == (400, "archived")


def test_without_a_listed_404_an_unknown_id_is_a_bad_request(area: AreaA) -> None:
    partial = {"email": "p@x.example", "orgId": str(new_id())}
    assert [
        area.refused("POST", "/api/users/partial", partial),
        area.refused("PUT", f"/api/users/{new_id()}", {"email": "p@x.example"}),
        area.refused("PUT", "/api/users/nobody", {}),
    ] == [(400, "organization_not_found"), (400, "user_not_found"), (400, "user_not_found")]


def test_a_user_is_changed_by_either_id(area: AreaA) -> None:
    users.set_external_id(area.session, OPERATOR, area.tenant.user.id, "auth0|7")
    area.session.commit()
    for identifier, email in ((area.tenant.user.id, "a@x.example"), ("auth0%7C7", "b@x.example")):
        answer = area.put(f"/api/users/{identifier}", {"email": email}, as_role=Role.ADMIN)
        assert answer == {"message": "The user was updated."}
        area.session.expire_all()
        assert area.session.get_one(User, area.tenant.user.id).email == email


def test_a_users_plan_is_that_of_the_organization(area: AreaA) -> None:
    area.put(
        f"/api/users/{area.tenant.user.id}", {"paymentTier": "customerPlusPlan", "email": None}
    )
    listed = area.get(f"/api/partners/{area.tenant.partner.id}/organizations")
    assert listed[0]["paymentTier"] == "customerPlusPlan"
    staff = area.tenant.staff[Role.PARTNER_EDITOR].id
    body = {"paymentTier": "customerPlusPlan", "email": "moved@x.example"}
    assert area.refused("PUT", f"/api/users/{staff}", body) == (400, "no_organization")
    assert area.session.get_one(User, staff).email == "partnerEditor@northwind.example"


def test_null_and_read_only_fields_change_nothing(area: AreaA) -> None:
    path = f"/api/partners/{area.tenant.partner.id}/users"
    before = area.get(path)
    seen = before[3]
    area.put(f"/api/users/{seen['id']}", seen | {"paymentTier": None, "name": "Ignored"})
    area.put(f"/api/users/{seen['id']}", {"email": None, "paymentTier": None})
    assert area.get(path) == before


def test_an_admin_changes_standard_users_only(area: AreaA) -> None:
    staff = area.tenant.staff[Role.PARTNER_EDITOR].id
    refused = area.refused(
        "PUT", f"/api/users/{staff}", {"email": "x@x.example"}, as_role=Role.ADMIN
    )
    assert refused == (400, "user_not_found")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/users/usage", {"GET", "HEAD", "OPTIONS"}),
        ("/api/users/subscription", {"GET", "HEAD", "OPTIONS"}),
        ("/api/users/partial", {"POST", "OPTIONS"}),
    ],
)
def test_a_path_of_the_interface_is_not_read_as_an_external_id(
    area: AreaA, path: str, allowed: set[str]
) -> None:
    response = area.ask("PUT", path, {"email": "x@x.example"})
    assert (response.status_code, set(response.headers["Allow"].split(", "))) == (405, allowed)
    assert response.get_json()["details"]["code"] == "method_not_allowed"
