"""Administrators are mailed about each new credential and each new administrator."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, UserStatus
from app.models import MailKind
from app.policy.caller import Caller, system_caller
from app.schemas.parsing import read
from app.schemas.users import CreateUserInput
from app.services import carrier_accounts, oauth_clients, organizations, users
from app.services.credentials import api_keys, scim_tokens
from app.services.users import new_administrators
from tests.fixtures.mails import send_waiting, waiting
from tests.fixtures.tenants import Tenant, make_tenant, make_user

Act = Callable[[Session, Settings, Tenant, Caller], Any]


@pytest.fixture
def tenant(session: Session) -> Tenant:
    """With two administrators and an owner's seat."""
    tenant = make_tenant(session)
    make_user(session, tenant.partner.id, "zoe@northwind.example", Role.PARTNER_ADMIN)
    tenant.organization.user_limit = 0
    return tenant


def _key(session: Session, _: Settings, tenant: Tenant, caller: Caller) -> None:
    made = api_keys.create(session, caller, organization_id=tenant.organization.id, name="CRM")
    api_keys.rotate(session, caller, made.key.id)


def _client(session: Session, _: Settings, tenant: Tenant, caller: Caller) -> None:
    made = oauth_clients.create(session, caller, name="Sync", role=Role.ADMIN)
    oauth_clients.rotate(session, caller, made.client.id)


def _token(session: Session, _: Settings, tenant: Tenant, caller: Caller) -> None:
    made = scim_tokens.create(session, caller, name="Entra")
    scim_tokens.rotate(session, caller, made.token.id)


def _account(session: Session, settings: Settings, tenant: Tenant, caller: Caller) -> None:
    sid, secret = "AC" + "0" * 32, "f" * 32
    wanted = carrier_accounts.AccountFields(sid=sid, secret=secret)
    keys = settings.secret_keys
    for _ in range(2):  # the second changes nothing
        carrier_accounts.save(session, caller, keys, wanted, organization=tenant.organization)


SUBJECTS: list[tuple[Act, list[str]]] = [
    (_key, ["New API key: CRM", "API key rotated: CRM"]),
    (_client, ["New API client: Sync", "API client has a new secret: Sync"]),
    (_token, ["New SCIM token: Entra", "SCIM token rotated: Entra"]),
    (_account, ["New carrier account: AC0000…0000"]),
]


@pytest.mark.parametrize(("act", "subjects"), SUBJECTS)
def test_each_new_credential_and_secret_is_mailed_to_every_administrator(
    session: Session, settings: Settings, tenant: Tenant, act: Act, subjects: list[str]
) -> None:
    act(session, settings, tenant, tenant.caller(Role.PARTNER_ADMIN))
    letters = send_waiting(session, settings)
    admins = ["partnerAdmin@northwind.example", "zoe@northwind.example"]
    assert [(letter.subject, letter.to) for letter in letters] == [
        (subject, admin) for subject in subjects for admin in admins
    ]
    done = "Done by partnerAdmin@northwind.example in"
    assert [letter for letter in letters if done not in " ".join(letter.text.split())] == []


@pytest.mark.parametrize("act", [act for act, _ in SUBJECTS])
def test_commands_send_no_mail_about_new_access(
    session: Session, settings: Settings, tenant: Tenant, act: Act
) -> None:
    act(session, settings, tenant, system_caller("command line", tenant.partner.id))
    assert waiting(session) == []


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN])
def test_each_new_user_of_the_staff_is_mailed_to_the_administrators_and_the_caller(
    session: Session, tenant: Tenant, role: Role
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    data = read(CreateUserInput, {"email": "new@northwind.example", "userType": role.value})
    users.create(session, caller, tenant.partner.id, data)
    assert len(about_administrators(session)) == 2


def test_a_new_owner_is_mailed_with_the_organization_and_a_member_is_not(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.ADMIN)
    users.change_role(session, caller, tenant.user.id, Role.OWNER)
    letters = send_waiting(session, settings)
    assert [(letter.subject, letter.to) for letter in letters] == [
        ("olga@northwind.example is now an owner of Northwind Bakery", to)
        for to in (
            "partnerAdmin@northwind.example",
            "admin@northwind.example",
            "zoe@northwind.example",
        )
    ]
    users.change_role(session, caller, tenant.user.id, Role.STANDARD)
    assert about_administrators(session) == []


def test_an_invited_owner_is_no_owner_yet_in_the_mail(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    users.invite(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        email="new@x.example",
        user_type=Role.OWNER,
        organization_id=tenant.organization.id,
        with_mail=False,
    )
    subjects = {letter.subject for letter in send_waiting(session, settings)}
    assert subjects == {"new@x.example was invited as an owner of Northwind Bakery"}


def test_a_new_role_of_an_invited_user_is_no_second_invitation_in_the_mail(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    tenant.user.status = UserStatus.INVITED
    users.change_role(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id, Role.OWNER)
    subjects = {letter.subject for letter in send_waiting(session, settings)}
    changed = "The role of olga@northwind.example was changed to owner of Northwind Bakery"
    assert subjects == {changed}


def test_the_new_owners_of_several_organizations_are_in_one_mail(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    names = ["Alder", "Birch"]
    made = [
        organizations.create(
            session, caller, tenant.partner.id, organizations.NewOrganization(name)
        )
        for name in names
    ]
    for each in made:
        email = f"{each.name.lower()}@x.example"
        users.invite(
            session,
            caller,
            email=email,
            user_type=Role.OWNER,
            organization_id=each.id,
            with_mail=False,
            with_notice=False,
        )
    new_administrators.mail_owners(session, caller, [each.id for each in made])
    letters = send_waiting(session, settings)
    assert [letter.subject for letter in letters] == ["2 owners were invited"] * 2
    for words in ("Alder", "alder@x.example", "Birch", "birch@x.example"):
        assert all(words in letter.text for letter in letters)


def about_administrators(session: Session) -> list[str]:
    return [kind for kind, *_ in waiting(session) if kind == MailKind.ADMINISTRATOR_ADDED]
