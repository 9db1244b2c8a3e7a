"""/api/users, /api/admins and the users of a partner over HTTP."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from app.enums import Role
from app.models import Organization, User, new_id
from app.policy import ROLE_PERMISSIONS, Permission
from app.services import organizations, users
from app.services.personal_data import subjects
from app.services.personal_data.subject_rows import erase_account
from tests.fixtures.partner_api import PartnerApi
from tests.fixtures.tenants import OPERATOR

NEW = {"email": "new@x.example", "userType": "standard"}


def test_a_new_user_is_answered_as_the_contract_has_it(partner_api: PartnerApi) -> None:
    made = partner_api.post("/api/users", NEW | {"businessName": "Hillside", "tier": None})
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
    listed = partner_api.get(f"/api/partners/{partner_api.tenant.partner.id}/users")
    assert listed[-1] == made


@pytest.mark.parametrize("path", ["/api/users", "/api/partners/{}/users"])
def test_both_ways_of_creating_do_the_same(partner_api: PartnerApi, path: str) -> None:
    made = partner_api.post(
        path.format(partner_api.tenant.partner.id), NEW | {"businessName": "Hillside"}
    )
    organization = partner_api.session.get_one(Organization, UUID(made["orgId"]))
    assert (organization.name, organization.partner_id) == (
        "Hillside",
        partner_api.tenant.partner.id,
    )


@pytest.mark.parametrize("business_name", [None, "", "  ", "\u200b"])
@pytest.mark.parametrize("local_part", ["ada", "a" * 242])
def test_without_a_visible_business_name_the_organization_is_named_by_the_address(
    partner_api: PartnerApi, business_name: str | None, local_part: str
) -> None:
    sent = {"email": f"{local_part}@x.example", "userType": "standard"}
    made = partner_api.post("/api/users", sent | {"businessName": business_name})
    organization = partner_api.session.get_one(Organization, UUID(made["orgId"]))
    assert organization.name == local_part[:200]


def test_an_erased_user_gets_no_new_address(partner_api: PartnerApi) -> None:
    session, admin = partner_api.session, partner_api.tenant.caller(Role.PARTNER_ADMIN)
    made = partner_api.post("/api/users", NEW)
    subject = subjects.user(session, admin, UUID(made["id"]))
    erase_account(session, subject, "erased-0123abcd")
    session.commit()
    path = f"/api/users/{made['id']}"
    assert partner_api.refused("PUT", path, {"email": NEW["email"]}) == (400, "erased")


SCOPES = {
    Role.STANDARD: {*ROLE_PERMISSIONS[Role.STANDARD], Permission.USERS_WRITE},
    Role.ADMIN: {*ROLE_PERMISSIONS[Role.ADMIN], Permission.USERS_WRITE},
    Role.PARTNER_EDITOR: {*ROLE_PERMISSIONS[Role.PARTNER_EDITOR], Permission.USERS_WRITE},
    Role.PARTNER_ADMIN: ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
}
"""What a token needs for creating a user of each type."""


@pytest.mark.parametrize("user_type", SCOPES)
def test_a_token_creates_only_users_with_no_more_rights_than_its_own(
    partner_api: PartnerApi, user_type: Role
) -> None:
    body = NEW | {"userType": user_type.value}
    enough = SCOPES[user_type]
    for path in ("/api/users", f"/api/partners/{partner_api.tenant.partner.id}/users"):
        before = partner_api.session.scalar(select(func.count()).select_from(User))
        for missing in enough:
            scope = " ".join(sorted(enough - {missing}))
            assert partner_api.refused("POST", path, body, scope=scope) == (
                403,
                "insufficient_scope",
            )
        assert partner_api.session.scalar(select(func.count()).select_from(User)) == before
        made = partner_api.post(path, body, scope=" ".join(sorted(enough)))
        assert made["userType"] == user_type
        body["email"] = "another@x.example"


def test_a_token_for_users_alone_grants_nothing(partner_api: PartnerApi) -> None:
    staff = partner_api.tenant.staff[Role.PARTNER_EDITOR].id
    partial = {"email": "p@x.example", "orgId": str(partner_api.tenant.organization.id)}
    asked = [
        ("POST", "/api/users", NEW | {"userType": "partnerAdmin"}),
        ("POST", "/api/users/partial", partial),
        ("PUT", f"/api/users/{staff}", {"email": "p@x.example"}),
    ]
    refused = [partner_api.refused(*each, scope="users:write") for each in asked]
    admin = {"email": "p@x.example"}
    refused.append(partner_api.refused("POST", "/api/admins", admin, scope="admins:create"))
    assert refused == [(403, "insufficient_scope")] * 4


def test_a_token_for_users_alone_changes_a_plan(partner_api: PartnerApi) -> None:
    path = f"/api/users/{partner_api.tenant.user.id}"
    changed = partner_api.put(path, {"paymentTier": "customerPlusPlan"}, scope="users:write")
    assert changed == {"message": "The user was updated."}


def test_an_operator_creates_by_the_partners_path_only(partner_api: PartnerApi) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}/users"
    assert partner_api.post(path, NEW, as_role=Role.OPERATOR)["userType"] == "standard"
    partial = {"email": "p@x.example", "orgId": str(partner_api.tenant.organization.id)}
    usage = "/api/users/usage?startDate=2026-01-01&endDate=2026-01-02&userEmail=olga@x.example"
    signed_in_as = [
        ("POST", "/api/users", NEW),
        ("POST", "/api/users/partial", partial),
        ("PUT", f"/api/users/{partner_api.tenant.user.id}", {"email": "p@x.example"}),
        ("POST", "/api/admins", {"email": "p@x.example"}),
        ("GET", f"/api/users/{partner_api.tenant.user.id}/subscription", None),
        (
            "GET",
            f"/api/users/subscription?organizationId={partner_api.tenant.organization.id}",
            None,
        ),
        ("GET", usage, None),
    ]
    refusals = [partner_api.refused(*request, as_role=Role.OPERATOR) for request in signed_in_as]
    assert refusals == [(400, "operator_without_partner")] * len(signed_in_as)


def test_an_email_that_is_taken_is_refused_in_any_case(partner_api: PartnerApi) -> None:
    taken = {"email": "OLGA@northwind.example"}
    bodies: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/api/users", taken | {"userType": "standard"}),
        ("POST", "/api/users", taken | {"userType": "partnerEditor"}),
        ("POST", "/api/users/partial", taken | {"orgId": str(partner_api.tenant.plus.id)}),
        ("POST", "/api/admins", taken),
        ("PUT", f"/api/users/{partner_api.tenant.plus_user.id}", taken),
    ]
    partner_api.session.get_one(Organization, partner_api.tenant.plus.id).user_limit = 0
    partner_api.session.commit()
    before = partner_api.session.scalar(select(func.count()).select_from(User))
    assert [partner_api.refused(*request) for request in bodies] == [(400, "email_exists")] * len(
        bodies
    )
    assert partner_api.session.scalar(select(func.count()).select_from(User)) == before


def test_an_email_of_another_partner_is_free(partner_api: PartnerApi) -> None:
    made = partner_api.post("/api/users", {"email": "olga@southbank.example", "userType": "admin"})
    assert (made["userType"], made["orgId"], made["adminOwned"]) == ("admin", None, True)


def test_an_admin_creates_standard_users_and_no_others(partner_api: PartnerApi) -> None:
    refused = []
    for user_type in ("admin", "partnerEditor", "partnerAdmin"):
        body = {"email": "n@x.example", "userType": user_type}
        refused.append(partner_api.refused("POST", "/api/users", body, as_role=Role.ADMIN))
    assert refused == [(403, "role_too_low")] * 3
    assert partner_api.post("/api/users", NEW, as_role=Role.ADMIN)["userType"] == "standard"


def test_no_body_names_an_operator(partner_api: PartnerApi) -> None:
    body = {"email": "n@x.example", "userType": "operator"}
    assert partner_api.refused("POST", "/api/users", body) == (400, "not_allowed")


def test_a_partial_user_is_invited_until_the_organization_is_full(partner_api: PartnerApi) -> None:
    partner_api.put(
        f"/api/partners/{partner_api.tenant.partner.id}/organizations/{partner_api.tenant.organization.id}",
        {"userLimit": 2},
    )
    body = {
        "email": "p@x.example",
        "orgId": str(partner_api.tenant.organization.id),
        "name": "Petra",
    }
    made = partner_api.post("/api/users/partial", body)
    assert (made["status"], made["orgId"], made["name"]) == ("invited", body["orgId"], "Petra")
    full = partner_api.refused("POST", "/api/users/partial", body | {"email": "q@x.example"})
    assert full == (400, "user_limit_reached")


def test_an_archived_organization_takes_no_partial_user(partner_api: PartnerApi) -> None:
    organizations.archive(partner_api.session, OPERATOR, partner_api.tenant.organization.id)
    partner_api.session.commit()
    body = {"email": "p@x.example", "orgId": str(partner_api.tenant.organization.id)}
    assert partner_api.refused("POST", "/api/users/partial", body) == (400, "archived")


def test_without_a_listed_404_an_unknown_id_is_a_bad_request(partner_api: PartnerApi) -> None:
    partial = {"email": "p@x.example", "orgId": str(new_id())}
    assert [
        partner_api.refused("POST", "/api/users/partial", partial),
        partner_api.refused("PUT", f"/api/users/{new_id()}", {"email": "p@x.example"}),
        partner_api.refused("PUT", "/api/users/nobody", {}),
    ] == [(400, "organization_not_found"), (400, "user_not_found"), (400, "user_not_found")]


def test_a_user_is_changed_by_either_id(partner_api: PartnerApi) -> None:
    users.set_external_id(partner_api.session, OPERATOR, partner_api.tenant.user.id, "auth0|7")
    partner_api.session.commit()
    for identifier, email in (
        (partner_api.tenant.user.id, "a@x.example"),
        ("auth0%7C7", "b@x.example"),
    ):
        answer = partner_api.put(f"/api/users/{identifier}", {"email": email}, as_role=Role.ADMIN)
        assert answer == {"message": "The user was updated."}
        partner_api.session.expire_all()
        assert partner_api.session.get_one(User, partner_api.tenant.user.id).email == email


def test_a_users_plan_is_that_of_the_organization(partner_api: PartnerApi) -> None:
    partner_api.put(
        f"/api/users/{partner_api.tenant.user.id}",
        {"paymentTier": "customerPlusPlan", "email": None},
    )
    listed = partner_api.get(f"/api/partners/{partner_api.tenant.partner.id}/organizations")
    assert listed[0]["paymentTier"] == "customerPlusPlan"
    staff = partner_api.tenant.staff[Role.PARTNER_EDITOR].id
    body = {"paymentTier": "customerPlusPlan", "email": "moved@x.example"}
    assert partner_api.refused("PUT", f"/api/users/{staff}", body) == (400, "no_organization")
    assert partner_api.session.get_one(User, staff).email == "partnerEditor@northwind.example"


def test_null_and_read_only_fields_change_nothing(partner_api: PartnerApi) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}/users"
    before = partner_api.get(path)
    seen = before[3]
    partner_api.put(f"/api/users/{seen['id']}", seen | {"paymentTier": None, "name": "Ignored"})
    partner_api.put(f"/api/users/{seen['id']}", {"email": None, "paymentTier": None})
    assert partner_api.get(path) == before


def test_an_admin_changes_standard_users_only(partner_api: PartnerApi) -> None:
    staff = partner_api.tenant.staff[Role.PARTNER_EDITOR].id
    refused = partner_api.refused(
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
    partner_api: PartnerApi, path: str, allowed: set[str]
) -> None:
    response = partner_api.ask("PUT", path, {"email": "x@x.example"})
    assert (response.status_code, set(response.headers["Allow"].split(", "))) == (405, allowed)
    assert response.get_json()["details"]["code"] == "method_not_allowed"
