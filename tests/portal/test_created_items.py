"""Items that a removed or demoted user created: listed before, ended or handed over, and
reported."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, UserStatus
from app.models import (
    ApiKey,
    AuditEntry,
    CarrierAccount,
    EmailChange,
    OAuthClient,
    User,
    Webhook,
    utcnow,
)
from app.policy.caller import Caller
from app.schemas.parsing import read
from app.schemas.users import UpdateUserInput
from app.services import carrier_accounts, oauth_clients, users, webhooks
from app.services.auth import sessions
from app.services.carrier_accounts import AccountFields
from app.services.credentials import api_keys
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import Tenant, make_user
from tests.portal.conftest import PASSWORD_HASH, Browser

SignedIn = Callable[[User], Browser]
KINDS = ("API client", "API key", "Webhook", "Carrier account", "Invitation", "Email change")


@pytest.fixture
def leaving_admin(session: Session, tenant: Tenant) -> User:
    """A second administrator."""
    user = make_user(session, tenant.partner.id, "bob@northwind.example", Role.PARTNER_ADMIN)
    user.password_hash, user.last_sign_in = PASSWORD_HASH, utcnow()
    session.commit()
    return user


class CreatedItems:
    """One of each kind, made by ``user``; the invitation by a script of theirs."""

    def __init__(self, session: Session, settings: Settings, tenant: Tenant, user: User):
        self.session, caller = session, sessions.caller_of(user)
        self.client = oauth_clients.create(
            session, caller, name="Sync", role=Role.PARTNER_ADMIN
        ).client
        self.key = api_keys.create(session, caller, organization_id=tenant.plus.id, name="CRM").key
        self.webhook = webhooks.add(
            session,
            caller,
            settings,
            organization_id=tenant.plus.id,
            url="https://hooks.example/events",
            events=["call.completed"],
        ).webhook
        self.account = carrier_accounts.save(
            session,
            caller,
            settings.secret_keys,
            AccountFields("2" * 32, sid="AC" + "1" * 32),
            organization=tenant.plus,
        )
        script = Caller(**{**_fields(caller), "subject_id": self.client.id, "label": "Sync"})
        self.invited = users.invite(
            session,
            script,
            email="eve@northwind.example",
            user_type=Role.PARTNER_ADMIN,
            partner_id=tenant.partner.id,
        )
        tenant.plus_user.last_sign_in = utcnow()
        change = read(UpdateUserInput, {"email": "eve2@northwind.example"})
        users.update(session, caller, tenant.plus_user.id, change)
        session.commit()

    def working(self) -> dict[str, bool]:
        """Which of them still works, by kind."""
        self.session.expire_all()
        get = self.session.get
        webhook = get(Webhook, self.ids["Webhook"])
        changes = self.session.scalars(select(EmailChange.id)).all()
        return {
            "API client": get_one(self.session, OAuthClient, self.ids, 0).revoked_at is None,
            "API key": get_one(self.session, ApiKey, self.ids, 1).revoked_at is None,
            "Webhook": webhook is not None,
            "Carrier account": get_one(self.session, CarrierAccount, self.ids, 3).removed_at
            is None,
            "Invitation": get_one(self.session, User, self.ids, 4).status is UserStatus.INVITED,
            "Email change": bool(changes),
        }

    def remember(self) -> "CreatedItems":
        change = self.session.scalars(select(EmailChange)).one()
        rows: tuple[Any, ...] = (
            self.client,
            self.key,
            self.webhook,
            self.account,
            self.invited,
            change,
        )
        self.ids = {kind: row.id for kind, row in zip(KINDS, rows, strict=True)}
        return self


def get_one(session: Session, model: Any, ids: dict[str, Any], index: int) -> Any:
    return session.get_one(model, ids[KINDS[index]])


def _fields(caller: Caller) -> dict[str, Any]:
    return {name: getattr(caller, name) for name in Caller.__dataclass_fields__}


@pytest.fixture
def created_items(
    session: Session, settings: Settings, tenant: Tenant, leaving_admin: User
) -> CreatedItems:
    return CreatedItems(session, settings, tenant, leaving_admin).remember()


def text_of(browser: Browser, path: str) -> str:
    return unescape(browser.get(path).text.replace("<wbr>", ""))


def test_deactivating_an_administrator_ends_everything_that_they_created(
    session: Session, created_items: CreatedItems, admin: Browser, leaving_admin: User
) -> None:
    page = f"/users/{leaving_admin.id}/deactivate"
    shown = text_of(admin, page)
    assert "6 items will end" in shown
    assert [kind for kind in KINDS if kind not in shown] == []
    assert created_items.working() == dict.fromkeys(KINDS, True)
    assert admin.post(page, page=page).status_code == 303
    assert created_items.working() == dict.fromkeys(KINDS, False)


@pytest.mark.parametrize("kind", KINDS)
def test_one_item_is_handed_over_and_the_rest_ends(
    session: Session,
    tenant: Tenant,
    created_items: CreatedItems,
    admin: Browser,
    leaving_admin: User,
    kind: str,
) -> None:
    page = f"/users/{leaving_admin.id}/deactivate"
    admin.post(page, {"hand_over": str(created_items.ids[kind])}, page=page)
    assert created_items.working() == {each: each == kind for each in KINDS}
    taken = tenant.staff[Role.PARTNER_ADMIN].id
    rows: dict[str, tuple[Any, str]] = {
        "Invitation": (User, "invited_by_id"),
        "Email change": (EmailChange, "requested_by_id"),
        "API client": (OAuthClient, "responsible_id"),
        "API key": (ApiKey, "responsible_id"),
        "Webhook": (Webhook, "responsible_id"),
        "Carrier account": (CarrierAccount, "responsible_id"),
    }
    model, column = rows[kind]
    assert getattr(session.get_one(model, created_items.ids[kind]), column) == taken


@pytest.mark.parametrize(
    ("role", "kept"), [(Role.PARTNER_EDITOR, set()), (Role.ADMIN, {"Email change"})]
)
def test_lowering_a_role_asks_first_and_ends_what_the_role_could_not_create(
    session: Session,
    created_items: CreatedItems,
    admin: Browser,
    leaving_admin: User,
    role: Role,
    kept: set[str],
) -> None:
    edit = f"/users/{leaving_admin.id}/edit"
    version = admin.get(edit).text.partition('name="version" value="')[2].partition('"')[0]
    form = {"email": leaving_admin.email, "name": "Bob", "role": role.value, "version": version}
    asked = admin.post(edit, form, page=edit)
    assert (asked.status_code, asked.location) == (303, f"/users/{leaving_admin.id}/role/{role}")
    assert created_items.working() == dict.fromkeys(KINDS, True)
    assert f"{6 - len(kept)} items will end" in text_of(admin, asked.location)
    admin.post(asked.location, page=asked.location)
    assert created_items.working() == {kind: kind in kept for kind in KINDS}
    assert session.get_one(User, leaving_admin.id).user_type is role


def test_a_role_is_changed_at_once_where_nothing_ends(
    session: Session, admin: Browser, leaving_admin: User
) -> None:
    edit = f"/users/{leaving_admin.id}/edit"
    version = admin.get(edit).text.partition('name="version" value="')[2].partition('"')[0]
    form = {"email": leaving_admin.email, "name": "", "role": "partnerEditor", "version": version}
    assert admin.post(edit, form, page=edit).location == f"/users/{leaving_admin.id}"
    session.expire_all()
    assert session.get_one(User, leaving_admin.id).user_type is Role.PARTNER_EDITOR


def test_the_history_and_a_mail_to_the_other_administrators_say_what_ended(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    created_items: CreatedItems,
    admin: Browser,
    leaving_admin: User,
) -> None:
    send_waiting(session, settings)
    page = f"/users/{leaving_admin.id}/deactivate"
    admin.post(page, {"hand_over": str(created_items.ids["API key"])}, page=page)
    row = session.scalars(
        select(AuditEntry).where(
            AuditEntry.action == "user.deactivated", AuditEntry.target_id == str(leaving_admin.id)
        )
    ).one()
    ended = [
        f"API client Sync ({created_items.client.client_id})",
        "Webhook hooks.example",
        "Carrier account AC1111…1111",
        "Invitation eve@northwind.example",
        "Email change paul@northwind.example",
    ]
    handed_over = [f"API key CRM ({created_items.key.public_id})"]
    assert row.after == {"status": "deactivated", "ended": ended, "handedOver": handed_over}
    letters = [each for each in send_waiting(session, settings) if "deactivated" in each.subject]
    assert [each.to for each in letters] == [tenant.staff[Role.PARTNER_ADMIN].email]
    [letter] = letters
    assert all(words in letter.text for words in (*ended, *handed_over))
    tenant.staff[Role.PARTNER_ADMIN].language = "de"
    session.commit()
    history = unescape(admin.get("/audit").text)
    assert "Einladung eve@northwind.example" in history
    assert "Invitation eve@northwind.example" not in history


def test_items_of_a_colleague_stay_unless_the_leaving_user_saw_their_secret(
    session: Session, tenant: Tenant, admin: Browser, leaving_admin: User
) -> None:
    theirs = tenant.caller(Role.PARTNER_ADMIN)
    clients = [
        oauth_clients.create(session, theirs, name=name, role=Role.ADMIN).client
        for name in ("Kept", "Rotated")
    ]
    oauth_clients.rotate(session, sessions.caller_of(leaving_admin), clients[1].id)
    session.commit()
    page = f"/users/{leaving_admin.id}/deactivate"
    admin.post(page, page=page)
    session.expire_all()
    assert [client.revoked_at is None for client in clients] == [True, False]


def test_users_of_another_partner_lose_nothing(
    session: Session,
    settings: Settings,
    app: Flask,
    other_tenant: Tenant,
    admin: Browser,
    leaving_admin: User,
) -> None:
    theirs = CreatedItems(
        session, settings, other_tenant, other_tenant.staff[Role.PARTNER_ADMIN]
    ).remember()
    page = f"/users/{leaving_admin.id}/deactivate"
    admin.post(page, {"hand_over": [str(each) for each in theirs.ids.values()]}, page=page)
    assert theirs.working() == dict.fromkeys(KINDS, True)
