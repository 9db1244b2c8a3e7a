"""Users that a directory creates, changes and deletes."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.models import (
    AuditEntry,
    EmailChange,
    IdentityProvider,
    Mail,
    PortalSession,
    ScimUser,
    User,
    utcnow,
)
from app.services.auth import sessions
from app.services.personal_data import subjects
from app.services.personal_data.subject_rows import erase_account
from tests.api.scim.conftest import USER, Directory, make_token
from tests.fixtures.tenants import Tenant, make_tenant

ADA = "ada@northwind.example"


def stored(session: Session, user_id: str) -> User:
    session.expire_all()
    return session.get_one(User, UUID(user_id))


def by_address(session: Session, email: str) -> User:
    session.expire_all()
    return session.scalars(select(User).where(User.email_key == email)).one()


def mails_to(session: Session, user: User) -> list[str]:
    return list(session.scalars(select(Mail.kind).where(Mail.user_id == user.id)))


@pytest.mark.usefixtures("with_default_role")
def test_a_created_user_is_shown_with_all_attributes_and_invited(
    directory: Directory, session: Session
) -> None:
    name = {"givenName": "Ada", "familyName": "Lovelace"}
    made = directory.add_user(ADA, externalId="e-1", name=name, active=True)
    user = by_address(session, ADA)
    url = f"http://localhost/scim/v2/Users/{user.id}"
    meta = made.pop("meta")
    assert made == {
        "schemas": [USER],
        "id": str(user.id),
        "externalId": "e-1",
        "userName": ADA,
        "name": name,
        "displayName": "Ada Lovelace",
        "userType": "partnerEditor",
        "active": True,
        "emails": [{"value": ADA, "type": "work", "primary": True}],
    }
    assert (meta["resourceType"], meta["location"]) == ("User", url)
    assert (user.status, user.role, user.idp_uid, user.name) == (
        UserStatus.INVITED,
        Role.PARTNER_EDITOR,
        None,
        "Ada Lovelace",
    )
    assert mails_to(session, user) == ["invitation"]
    again = directory.get(f"/Users/{user.id}")
    assert again.get_json() == {**made, "meta": meta}
    assert (again.headers["ETag"], again.mimetype) == (meta["version"], "application/scim+json")
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "user.invited")).one()
    assert entry.actor_kind == "directory"
    assert entry.actor.startswith("Entra (pps_")


def test_without_a_default_role_a_user_waits_without_access(
    directory: Directory, session: Session
) -> None:
    made = directory.add_user(ADA)
    user = by_address(session, ADA)
    assert (made["active"], user.status, mails_to(session, user)) == (
        True,
        UserStatus.DEACTIVATED,
        [],
    )
    moved = {"op": "replace", "path": "userName", "value": "ada.l@northwind.example"}
    assert directory.patch(f"/Users/{made['id']}", moved).status_code == 200
    assert mails_to(session, user) == []


@pytest.mark.usefixtures("with_default_role")
def test_users_of_a_required_company_account_get_no_mail(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    session.add(
        IdentityProvider(
            partner_id=tenant.partner.id,
            name="Entra",
            issuer="https://id.example",
            client_id="portal",
            secret="sealed",
            required_for_staff=True,
        )
    )
    session.commit()
    made = directory.add_user(ADA)
    user = by_address(session, ADA)
    assert (user.status, mails_to(session, user)) == (UserStatus.INVITED, [])
    moved = {"op": "replace", "path": "userName", "value": "ada.l@northwind.example"}
    assert directory.patch(f"/Users/{made['id']}", moved).status_code == 200
    assert mails_to(session, user) == []


def test_a_user_name_is_taken_in_any_case(directory: Directory) -> None:
    directory.add_user(ADA)
    answer = directory.send("POST", "/Users", {"schemas": [USER], "userName": ADA.upper()})
    assert (answer.status_code, answer.get_json()) == (
        409,
        {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "status": "409",
            "scimType": "uniqueness",
            "detail": "A user with this email address exists already.",
        },
    )


@pytest.mark.usefixtures("with_default_role")
def test_a_replaced_user_loses_what_is_not_sent(directory: Directory, session: Session) -> None:
    made = directory.add_user(ADA, externalId="e-1", name={"givenName": "Ada"})
    sent = {"schemas": [USER], "userName": "ada.l@northwind.example", "displayName": "A. L."}
    answer = directory.send("PUT", f"/Users/{made['id']}", sent)
    found = answer.get_json()
    assert answer.status_code == 200
    assert found.pop("meta")["version"] != made["meta"]["version"]
    assert found == {
        "schemas": [USER],
        "id": made["id"],
        "userName": "ada.l@northwind.example",
        "displayName": "A. L.",
        "userType": "partnerEditor",
        "active": True,
        "emails": [{"value": "ada.l@northwind.example", "type": "work", "primary": True}],
    }


ENTRA: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"op": "Replace", "path": "active", "value": "False"}, {"active": False}),
    ({"op": "Replace", "value": {"active": "False"}}, {"active": False}),
    ({"op": "replace", "value": {"active": False}}, {"active": False}),
    ({"op": "Add", "path": "displayName", "value": "Ada L."}, {"displayName": "Ada L."}),
    ({"op": "add", "path": "DISPLAYNAME", "value": "Ada L."}, {"displayName": "Ada L."}),
    ({"op": "Replace", "path": "name.givenName", "value": "A."}, {"name": {"givenName": "A."}}),
    ({"op": "Replace", "value": {"name.givenName": "A."}}, {"name": {"givenName": "A."}}),
    ({"op": "Add", "path": "externalId", "value": "e-2"}, {"externalId": "e-2"}),
    ({"op": "Replace", "path": f"{USER}:displayName", "value": "A"}, {"displayName": "A"}),
    (
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "l@northwind.example"},
        {
            "userName": "l@northwind.example",
            "emails": [{"value": "l@northwind.example", "type": "work", "primary": True}],
        },
    ),
    ({"op": "Add", "path": 'emails[type eq "home"].value', "value": "h@private.example"}, {}),
    ({"op": "Replace", "path": 'emails[type eq "other"].value', "value": "o@private.example"}, {}),
    (
        {
            "op": "Add",
            "path": "emails",
            "value": [{"type": "home", "value": "h@private.example", "primary": True}],
        },
        {},
    ),
    ({"op": "Remove", "path": "name.givenName"}, {"name": None}),
    ({"op": "Add", "path": "title", "value": "Countess"}, {}),
    ({"op": "Add", "path": 'phoneNumbers[type eq "work"].value', "value": "+49"}, {}),
    (
        {
            "op": "Add",
            "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
            "value": "Math",
        },
        {},
    ),
]


@pytest.mark.usefixtures("with_default_role")
@pytest.mark.parametrize(("operation", "changed"), ENTRA)
def test_a_patch_changes_only_what_it_names(
    directory: Directory, operation: dict[str, Any], changed: dict[str, Any]
) -> None:
    made = directory.add_user(ADA, name={"givenName": "Ada"}, displayName="Ada", externalId="e-1")
    answer = directory.patch(f"/Users/{made['id']}", operation)
    assert answer.status_code == 200, answer.text
    found = answer.get_json()
    del found["meta"], made["meta"]
    expected = {name: value for name, value in (made | changed).items() if value is not None}
    assert found == expected


@pytest.mark.usefixtures("with_default_role")
def test_deactivation_ends_sessions_and_links_at_once(
    directory: Directory, session: Session
) -> None:
    made = directory.add_user(ADA)
    user = by_address(session, ADA)
    user.status = UserStatus.ACTIVE
    sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    answer = directory.patch(
        f"/Users/{made['id']}", {"op": "replace", "path": "active", "value": False}
    )
    assert answer.get_json()["active"] is False
    assert stored(session, made["id"]).status is UserStatus.DEACTIVATED
    assert not session.scalars(select(PortalSession)).all()
    answer = directory.patch(
        f"/Users/{made['id']}", {"op": "replace", "path": "active", "value": True}
    )
    assert answer.get_json()["active"] is True
    assert stored(session, made["id"]).status is UserStatus.INVITED


@pytest.mark.usefixtures("with_default_role")
def test_a_deleted_user_is_gone_and_can_come_back(directory: Directory, session: Session) -> None:
    made = directory.add_user(ADA)
    path = f"/Users/{made['id']}"
    assert directory.send("DELETE", path).status_code == 204
    assert stored(session, made["id"]).status is UserStatus.DEACTIVATED
    assert [directory.send(method, path, {}).status_code for method in ("GET", "DELETE")] == [
        404,
        404,
    ]
    assert directory.names(f'userName eq "{ADA}"') == []
    again = directory.add_user(ADA)
    assert again["id"] == made["id"]
    assert stored(session, made["id"]).status is UserStatus.INVITED


@pytest.mark.usefixtures("with_default_role")
def test_a_user_suspended_in_the_portal_stays_suspended(
    directory: Directory, session: Session
) -> None:
    made = directory.add_user(ADA)
    by_address(session, ADA).status = UserStatus.SUSPENDED
    session.commit()
    sent = {"schemas": [USER], "userName": ADA, "active": True}
    assert directory.send("PUT", f"/Users/{made['id']}", sent).get_json()["active"] is False
    assert stored(session, made["id"]).status is UserStatus.SUSPENDED


def test_the_directory_sees_staff_and_not_the_users_of_customers(
    directory: Directory, tenant: Tenant
) -> None:
    assert directory.names("userName pr") == sorted(user.email for user in tenant.staff.values())
    assert directory.get(f"/Users/{tenant.user.id}").status_code == 404
    answer = directory.send("POST", "/Users", {"schemas": [USER], "userName": tenant.user.email})
    assert answer.status_code == 409


def test_an_erased_user_no_longer_exists_for_the_directory(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    path = f"/Users/{directory.add_user(ADA)['id']}"
    subject = subjects.user(session, tenant.caller(Role.PARTNER_ADMIN), by_address(session, ADA).id)
    erase_account(session, subject, "erased-0123abcd")
    session.commit()
    sent = {"schemas": [USER], "userName": ADA, "active": True}
    assert [directory.send(method, path, sent).status_code for method in ("GET", "PUT")] == [
        404
    ] * 2
    assert "erased" not in directory.get("/Users").text
    assert path != f"/Users/{directory.add_user(ADA)['id']}"


def test_a_user_of_another_partner_is_not_found(directory: Directory, session: Session) -> None:
    other_tenant = make_tenant(session, "Other")
    session.commit()
    admin = other_tenant.staff[Role.ADMIN]
    path = f"/Users/{admin.id}"
    sent = {"schemas": [USER], "userName": admin.email}
    answers = [
        directory.get(path),
        directory.send("PUT", path, sent),
        directory.patch(path, {"op": "replace", "path": "active", "value": False}),
        directory.send("DELETE", path),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert directory.names(f'userName eq "{admin.email}"') == []
    assert stored(session, str(admin.id)).status is UserStatus.ACTIVE


def test_the_last_administrator_can_not_be_removed(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    path = f"/Users/{tenant.staff[Role.PARTNER_ADMIN].id}"
    answers = [
        directory.patch(path, {"op": "replace", "path": "active", "value": False}),
        directory.send("DELETE", path),
    ]
    for answer in answers:
        assert (answer.status_code, answer.get_json()["detail"]) == (
            403,
            "This is the partner's last active administrator. Add another one first.",
        )
    assert session.scalars(select(ScimUser)).all() == []


def test_a_new_email_of_a_user_who_has_signed_in_waits_for_confirmation(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    user = tenant.staff[Role.ADMIN]
    user.last_sign_in = utcnow()
    session.commit()
    before = user.email
    answer = directory.patch(
        f"/Users/{user.id}", {"op": "replace", "path": "userName", "value": "new@northwind.example"}
    )
    assert (answer.status_code, answer.get_json()["userName"]) == (200, before)
    change = session.scalars(select(EmailChange)).one()
    assert (change.user_id, change.email) == (user.id, "new@northwind.example")


@pytest.mark.parametrize("word", ["no-address", "a b@c.example", "ä" * 300 + "@x.example"])
def test_a_user_name_that_is_no_email_is_refused(directory: Directory, word: str) -> None:
    answer = directory.send("POST", "/Users", {"schemas": [USER], "userName": word})
    assert (answer.status_code, answer.get_json()["scimType"]) == (400, "invalidValue")


def test_two_partners_can_have_the_same_user(
    directory: Directory, client: Any, session: Session
) -> None:
    other_tenant = make_tenant(session, "Other")
    session.commit()
    theirs = Directory(client, make_token(session, other_tenant))
    assert directory.add_user(ADA)["id"] != theirs.add_user(ADA)["id"]
