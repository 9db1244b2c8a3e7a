"""Groups of a directory: their members, and the roles that they give."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.errors import Conflict
from app.models import AuditEntry, Mail, ScimGroup, User
from app.services.personal_data import subjects
from app.services.personal_data.subject_rows import erase_account
from app.services.scim import groups
from tests.api.scim.conftest import GROUP, Directory
from tests.fixtures.tenants import Tenant, make_tenant

ADA, BOB = "ada@northwind.example", "bob@northwind.example"


def give(
    session: Session,
    tenant: Tenant,
    group_id: str,
    role: Role | None,
    organization_id: UUID | None = None,
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    groups.map_to(session, admin, UUID(group_id), role, organization_id, expected_version=None)
    session.commit()


def access_of(session: Session, user_id: str) -> tuple[Role, UserStatus, UUID | None]:
    session.expire_all()
    user = session.get_one(User, UUID(user_id))
    return user.role, user.status, user.organization_id


def test_a_group_is_shown_with_all_its_attributes(directory: Directory) -> None:
    ada = directory.add_user(ADA)
    made = directory.add_group("Sales", ada["id"])
    meta = made.pop("meta")
    url = f"http://localhost/scim/v2/Users/{ada['id']}"
    members = [{"value": ada["id"], "$ref": url, "type": "User"}]
    assert made == {
        "schemas": [GROUP],
        "id": made["id"],
        "displayName": "Sales",
        "members": members,
    }
    found = directory.get(f"/Groups/{made['id']}")
    assert (found.get_json(), found.headers["ETag"]) == (made | {"meta": meta}, meta["version"])
    groups_of_ada = directory.get(f"/Users/{ada['id']}").get_json()["groups"]
    url = f"http://localhost/scim/v2/Groups/{made['id']}"
    assert groups_of_ada == [{"value": made["id"], "$ref": url, "display": "Sales"}]
    short = directory.get(f"/Groups/{made['id']}?excludedAttributes=members").get_json()
    assert "members" not in short


def test_a_group_name_is_taken_in_any_case(directory: Directory) -> None:
    directory.add_group("Sales")
    answer = directory.send("POST", "/Groups", {"schemas": [GROUP], "displayName": "SALES"})
    assert (answer.status_code, answer.get_json()["scimType"]) == (409, "uniqueness")


CHANGES: list[tuple[dict[str, Any], set[str]]] = [
    ({"op": "Add", "path": "members", "value": [{"value": "bob"}]}, {"ada", "bob"}),
    ({"op": "add", "value": {"members": [{"value": "bob", "display": "Bob"}]}}, {"ada", "bob"}),
    ({"op": "add", "path": "members", "value": {"value": "bob"}}, {"ada", "bob"}),
    ({"op": "replace", "path": "members", "value": [{"value": "bob"}]}, {"bob"}),
    ({"op": "Remove", "path": "members", "value": [{"value": "ada"}]}, set()),
    ({"op": "remove", "path": 'members[value eq "ada"]'}, set()),
    ({"op": "remove", "path": 'members[value eq "bob"]'}, {"ada"}),
    ({"op": "remove", "path": "members"}, set()),
]


@pytest.mark.parametrize(("operation", "members"), CHANGES)
def test_members_are_added_and_removed(
    directory: Directory, operation: dict[str, Any], members: set[str]
) -> None:
    ids = {"ada": directory.add_user(ADA)["id"], "bob": directory.add_user(BOB)["id"]}
    group = directory.add_group("Sales", ids["ada"])
    named = _with_ids(operation, ids)
    answer = directory.patch(f"/Groups/{group['id']}", named)
    assert answer.status_code == 200, answer.text
    found = {member["value"] for member in answer.get_json().get("members", [])}
    assert found == {ids[name] for name in members}


def _with_ids(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _with_ids(inner, ids) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_ids(inner, ids) for inner in value]
    for name, id_ in ids.items():
        if value == name:
            return id_
        if isinstance(value, str):
            value = value.replace(f'"{name}"', f'"{id_}"')
    return value


def test_a_group_has_another_version_when_a_member_is_deleted(directory: Directory) -> None:
    ada, bob = (directory.add_user(email)["id"] for email in (ADA, BOB))
    path = f"/Groups/{directory.add_group('Staff', ada, bob)['id']}"
    tag = directory.get(path).headers["ETag"]
    assert directory.send("DELETE", f"/Users/{ada}").status_code == 204
    answer = directory.get(path, If_None_Match=tag)
    assert answer.status_code == 200
    assert [member["value"] for member in answer.get_json()["members"]] == [bob]
    assert directory.send("DELETE", path, If_Match=tag).status_code == 412


def test_a_group_has_another_version_when_a_member_is_erased(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    ada, bob = (directory.add_user(email)["id"] for email in (ADA, BOB))
    path = f"/Groups/{directory.add_group('Staff', ada, bob)['id']}"
    tag = directory.get(path).headers["ETag"]
    subject = subjects.user(session, tenant.caller(Role.PARTNER_ADMIN), UUID(ada))
    erase_account(session, subject, "erased-0123abcd")
    session.commit()
    answer = directory.get(path, If_None_Match=tag)
    assert answer.status_code == 200
    assert [member["value"] for member in answer.get_json()["members"]] == [bob]


def test_users_have_a_role_while_they_are_in_its_group(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    ada = directory.add_user(ADA)["id"]
    group = directory.add_group("Administrators", ada)
    assert access_of(session, ada)[1] is UserStatus.DEACTIVATED
    give(session, tenant, group["id"], Role.ADMIN)
    assert access_of(session, ada) == (Role.ADMIN, UserStatus.INVITED, None)
    kinds = select(Mail.kind).where(Mail.user_id == UUID(ada))
    assert session.scalars(kinds).all() == ["invitation"]
    higher = directory.add_group("Owners", ada)
    give(session, tenant, higher["id"], Role.PARTNER_ADMIN)
    assert access_of(session, ada)[0] is Role.PARTNER_ADMIN
    assert directory.send("DELETE", f"/Groups/{higher['id']}").status_code == 204
    assert access_of(session, ada)[0] is Role.ADMIN
    path = f'members[value eq "{ada}"]'
    answer = directory.patch(f"/Groups/{group['id']}", {"op": "remove", "path": path})
    assert answer.status_code == 200
    assert access_of(session, ada)[1] is UserStatus.DEACTIVATED
    assert directory.get(f"/Users/{ada}").get_json()["active"] is True


@pytest.mark.usefixtures("with_default_role")
def test_a_group_makes_members_of_an_organization(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    tenant.organization.user_limit = 2
    session.commit()
    group = directory.add_group("Bakery")
    give(session, tenant, group["id"], Role.STANDARD, tenant.organization.id)
    ada = directory.add_user(ADA)["id"]
    assert access_of(session, ada) == (Role.PARTNER_EDITOR, UserStatus.INVITED, None)
    added = {"op": "add", "path": "members", "value": [{"value": ada}]}
    assert directory.patch(f"/Groups/{group['id']}", added).status_code == 200
    assert access_of(session, ada) == (Role.STANDARD, UserStatus.INVITED, tenant.organization.id)
    assert directory.get(f"/Users/{ada}").get_json()["userType"] == "standard"


@pytest.mark.usefixtures("with_default_role")
@pytest.mark.parametrize("way", ["removed", "group deleted", "group without a role"])
def test_a_member_in_no_group_has_no_access_where_users_without_a_group_are_staff(
    directory: Directory, tenant: Tenant, session: Session, way: str
) -> None:
    tenant.organization.user_limit = 2
    session.commit()
    ada = directory.add_user(ADA)["id"]
    group = directory.add_group("Bakery", ada)["id"]
    give(session, tenant, group, Role.STANDARD, tenant.organization.id)
    match way:
        case "removed":
            operation = {"op": "remove", "path": f'members[value eq "{ada}"]'}
            assert directory.patch(f"/Groups/{group}", operation).status_code == 200
        case "group deleted":
            assert directory.send("DELETE", f"/Groups/{group}").status_code == 204
        case _:
            give(session, tenant, group, None)
    assert access_of(session, ada) == (
        Role.STANDARD,
        UserStatus.DEACTIVATED,
        tenant.organization.id,
    )


@pytest.mark.usefixtures("with_default_role")
def test_a_deleted_member_can_come_back_where_users_without_a_group_are_staff(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    tenant.organization.user_limit = 2
    session.commit()
    ada = directory.add_user(ADA)["id"]
    group = directory.add_group("Bakery", ada)["id"]
    give(session, tenant, group, Role.STANDARD, tenant.organization.id)
    assert directory.send("DELETE", f"/Users/{ada}").status_code == 204
    assert directory.add_user(ADA)["id"] == ada
    assert access_of(session, ada)[1] is UserStatus.DEACTIVATED
    added = {"op": "add", "path": "members", "value": [{"value": ada}]}
    assert directory.patch(f"/Groups/{group}", added).status_code == 200
    assert access_of(session, ada) == (Role.STANDARD, UserStatus.INVITED, tenant.organization.id)


def test_a_full_organization_takes_no_member(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    tenant.organization.user_limit = 1
    session.commit()
    group = directory.add_group("Bakery")
    give(session, tenant, group["id"], Role.STANDARD, tenant.organization.id)
    ada = directory.add_user(ADA)["id"]
    added = {"op": "add", "path": "members", "value": [{"value": ada}]}
    answer = directory.patch(f"/Groups/{group['id']}", added)
    assert answer.status_code == 403
    assert "1 of 1 users" in answer.get_json()["detail"]
    assert directory.get(f"/Groups/{group['id']}").get_json().get("members") is None


def test_a_suspended_organization_takes_members_and_sends_no_invitations(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    tenant.organization.user_limit = 2
    group = directory.add_group("Bakery")["id"]
    give(session, tenant, group, Role.STANDARD, tenant.organization.id)
    tenant.organization.status = OrganizationStatus.SUSPENDED
    session.commit()
    ada = directory.add_user(ADA)["id"]
    added = {"op": "add", "path": "members", "value": [{"value": ada}]}
    answer = directory.patch(f"/Groups/{group}", added)
    assert answer.status_code == 200, answer.text
    assert access_of(session, ada) == (Role.STANDARD, UserStatus.INVITED, tenant.organization.id)
    assert not session.scalars(select(Mail).where(Mail.user_id == UUID(ada))).all()


def test_an_archived_organization_takes_no_member(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    tenant.organization.user_limit = 2
    group = directory.add_group("Bakery")["id"]
    give(session, tenant, group, Role.STANDARD, tenant.organization.id)
    tenant.organization.status = OrganizationStatus.ARCHIVED
    session.commit()
    ada = directory.add_user(ADA)["id"]
    added = {"op": "add", "path": "members", "value": [{"value": ada}]}
    answer = directory.patch(f"/Groups/{group}", added)
    assert (answer.status_code, answer.get_json()["detail"]) == (
        403,
        "The organization is archived. Restore it first.",
    )


def test_the_last_administrator_keeps_the_role(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    group = directory.add_group("Administrators", str(admin.id))
    give(session, tenant, group["id"], Role.PARTNER_ADMIN)
    answer = directory.patch(f"/Groups/{group['id']}", {"op": "remove", "path": "members"})
    assert (answer.status_code, answer.get_json()["detail"]) == (
        403,
        "This is the partner's last active administrator. Add another one first.",
    )
    assert access_of(session, str(admin.id))[:2] == (Role.PARTNER_ADMIN, UserStatus.ACTIVE)
    members = directory.get(f"/Groups/{group['id']}").get_json()["members"]
    assert [member["value"] for member in members] == [str(admin.id)]


def test_staff_who_have_signed_in_never_become_members(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    admin = tenant.staff[Role.ADMIN]
    admin.password_hash = "x"
    session.commit()
    group = directory.add_group("Bakery", str(admin.id))
    with pytest.raises(Conflict) as refused:
        give(session, tenant, group["id"], Role.STANDARD, tenant.organization.id)
    assert refused.value.code == "signed_in_before"


@pytest.mark.parametrize("member", ["nobody", "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01", "other", ""])
def test_only_users_of_the_directory_are_members(
    directory: Directory, session: Session, member: str
) -> None:
    if member == "other":
        member = str(make_tenant(session, "Other").staff[Role.ADMIN].id)
        session.commit()
    sent = {"schemas": [GROUP], "displayName": "Sales", "members": [{"value": member}]}
    answer = directory.send("POST", "/Groups", sent)
    assert (answer.status_code, answer.get_json()["scimType"]) == (400, "invalidValue")
    session.expire_all()
    assert session.scalars(select(ScimGroup)).all() == []


def test_a_group_of_another_partner_is_not_found(directory: Directory, session: Session) -> None:
    other_tenant = make_tenant(session, "Other")
    group = groups.create(
        session, other_tenant.caller(Role.PARTNER_ADMIN), groups.ScimGroupFields("Theirs")
    )
    session.commit()
    path = f"/Groups/{group.id}"
    sent = {"schemas": [GROUP], "displayName": "Mine"}
    answers = [
        directory.get(path),
        directory.send("PUT", path, sent),
        directory.patch(path, {"op": "remove", "path": "members"}),
        directory.send("DELETE", path),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert directory.get("/Groups").get_json()["totalResults"] == 0


def test_the_history_names_the_members(directory: Directory, session: Session) -> None:
    ada = directory.add_user(ADA)["id"]
    group = directory.add_group("Sales", ada)
    directory.patch(f"/Groups/{group['id']}", {"op": "remove", "path": "members"})
    query = select(AuditEntry).where(AuditEntry.target_id == group["id"]).order_by(AuditEntry.id)
    entries = [(entry.action, entry.after) for entry in session.scalars(query)]
    assert entries == [
        ("scim_group.created", {"name": "Sales"}),
        ("scim_group.members_changed", {"added": [ADA], "removed": []}),
        ("scim_group.members_changed", {"added": [], "removed": [ADA]}),
    ]
