"""Items that a user created and is responsible for: listed, ended or handed over when the user
leaves.

These items work without the user's session, so they would continue after an account was deactivated
or a role lowered. What the user's API clients created counts as the user's.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.enums import Area, CallerKind, Role, UserStatus
from app.errors import Conflict, Forbidden
from app.languages import DEFAULT, gettext, lazy_gettext, using_language
from app.models import (
    ApiKey,
    CarrierAccount,
    EmailChange,
    MailKind,
    OAuthClient,
    Organization,
    ScimToken,
    User,
    Webhook,
    utcnow,
)
from app.models.base import Base
from app.policy import ROLE_PERMISSIONS, Permission
from app.policy.caller import Caller
from app.services import audit, carrier_accounts, mail_queue, oauth_clients, webhooks
from app.services.auth import one_time_links
from app.services.credentials import api_keys, scim_tokens
from app.services.partner_users import active_admins
from app.services.users import email_changes
from app.services.users.loading import PARTNER_LEVEL, check_grant, grantable_roles


class ItemKind(StrEnum):
    CLIENT = "client"
    API_KEY = "api_key"
    SCIM_TOKEN = "scim_token"  # noqa: S105 - the name of a kind
    WEBHOOK = "webhook"
    CARRIER_ACCOUNT = "carrier_account"
    INVITATION = "invitation"
    EMAIL_CHANGE = "email_change"


KIND_LABELS = {
    ItemKind.CLIENT: lazy_gettext("API client"),
    ItemKind.API_KEY: lazy_gettext("API key"),
    ItemKind.SCIM_TOKEN: lazy_gettext("SCIM token"),
    ItemKind.WEBHOOK: lazy_gettext("Webhook"),
    ItemKind.CARRIER_ACCOUNT: lazy_gettext("Carrier account"),
    ItemKind.INVITATION: lazy_gettext("Invitation"),
    ItemKind.EMAIL_CHANGE: lazy_gettext("Email change"),
}


@dataclass(frozen=True, slots=True)
class CreatedItem:
    """An item that works without the user; ``detail`` is its organization, role or new address."""

    kind: ItemKind
    row: Base
    id: UUID
    name: str
    detail: str
    role: Role | None = None
    """The role that it gives or changes, if any."""

    @property
    def label(self) -> str:
        return f"{KIND_LABELS[self.kind]} {self.name}"


def in_language(stored: str) -> str:
    """Return the stored English words of an item in the current language."""
    for kind in KIND_LABELS.values():
        with using_language(DEFAULT):
            english = str(kind)
        if stored.startswith(f"{english} "):
            return f"{kind}{stored.removeprefix(english)}"
    return stored


@dataclass(frozen=True, slots=True)
class EndedItems:
    """The ended and handed-over items of a user, in English words: they are stored."""

    ended: Sequence[str] = ()
    handed_over: Sequence[str] = ()

    def audit_values(self) -> dict[str, Any]:
        """Return the values for the history: empty if there are no items."""
        values = {"ended": list(self.ended), "handedOver": list(self.handed_over)}
        return {name: items for name, items in values.items() if items}


def items_of(session: Session, user: User, role: Role | None = None) -> list[CreatedItem]:
    """Return the items of a user that the caller has loaded. With ``role``, only what a user of
    that role could not have created."""
    if user.role not in PARTNER_LEVEL | {Role.OWNER}:
        return []
    items: list[CreatedItem] = []
    if role is None or Permission.CREDENTIALS_MANAGE not in ROLE_PERMISSIONS[role]:
        items += _credential_items(session, user)
    allowed = grantable_roles(role) if role is not None else frozenset[Role]()
    items += [
        item
        for item in (*_invitation_items(session, user), *_email_change_items(session, user))
        if item.role not in allowed
    ]
    return items


def may_take_over(caller: Caller, user: User) -> bool:
    """Return whether items of the user can be handed over to the caller."""
    return (
        caller.kind is CallerKind.USER
        and caller.partner_id == user.partner_id
        and caller.may(Permission.CREDENTIALS_MANAGE)
    )


def end_items(
    session: Session,
    caller: Caller,
    user: User,
    *,
    role: Role | None = None,
    hand_over: Collection[UUID] = (),
) -> EndedItems:
    """End the items of `items_of`, except those handed over to the caller. A directory that removes
    the user who created its token keeps the token.

    Raises `Forbidden` (``hand_over_not_allowed``) and `Conflict` (``account_in_use``) if calls wait
    for a carrier account; nothing is saved then.
    """
    items = [item for item in items_of(session, user, role) if item.id != caller.subject_id]
    with using_language(DEFAULT):  # the history and the mails store the words
        labels = {item.id: item.label for item in items}
    elevated = replace(
        caller,
        role=Role.PARTNER_ADMIN,
        partner_id=user.partner_id,
        organization_id=None,
        permissions=frozenset(Permission),
    )
    ended, handed_over = [], []
    for item in items:
        if item.id in hand_over:
            _hand_over(session, caller, user, item)
            handed_over.append(labels[item.id])
        else:
            _end_item(session, elevated, user, item)
            ended.append(labels[item.id])
    session.flush()
    return EndedItems(ended, handed_over)


def mail_administrators(
    session: Session, caller: Caller, user: User, change: str, ended_items: EndedItems
) -> None:
    """Mail every active partnerAdmin about the ended and handed-over items, if there are any."""
    if not ended_items.ended and not ended_items.handed_over:
        return
    administrators = session.scalars(active_admins(user.partner_id).where(User.id != user.id))
    details = {"who": user.email, "by": caller.label, "what": change} | ended_items.audit_values()
    for administrator in administrators.all():
        mail_queue.enqueue_to_user(
            session, caller, MailKind.ACCESS_ENDED, administrator, details=details
        )


def _credential_items(session: Session, user: User) -> list[CreatedItem]:
    clients = session.scalars(
        _of_user(OAuthClient, user).where(
            OAuthClient.area == Area.PARTNER_ADMIN, ~OAuthClient.is_over
        )
    )
    items = [
        CreatedItem(ItemKind.CLIENT, row, row.id, f"{row.name} ({row.client_id})", "", row.role)
        for row in clients
    ]
    keys = session.scalars(_of_user(ApiKey, user).where(~ApiKey.is_over)).all()
    tokens = session.scalars(_of_user(ScimToken, user).where(~ScimToken.is_over))
    own_webhooks = session.scalars(_of_user(Webhook, user)).all()
    accounts = session.scalars(
        _of_user(CarrierAccount, user).where(CarrierAccount.removed_at.is_(None))
    ).all()
    ids = {row.organization_id for row in (*keys, *own_webhooks, *accounts)}
    organizations = session.scalars(select(Organization).where(Organization.id.in_(ids - {None})))
    names = {organization.id: organization.name for organization in organizations}
    for key in keys:
        name, about = f"{key.name} ({key.public_id})", names.get(key.organization_id, "")
        items.append(CreatedItem(ItemKind.API_KEY, key, key.id, name, about))
    for token in tokens:
        name = f"{token.name} ({token.public_id})"
        items.append(CreatedItem(ItemKind.SCIM_TOKEN, token, token.id, name, ""))
    for webhook in own_webhooks:
        organization_id = webhook.organization_id
        about = names.get(organization_id, "") if organization_id else gettext("The whole portal")
        name = urlsplit(webhook.url).hostname or ""
        items.append(CreatedItem(ItemKind.WEBHOOK, webhook, webhook.id, name, about))
    for account in accounts:
        about = names.get(account.organization_id, "") if account.organization_id else ""
        name = account.name
        items.append(CreatedItem(ItemKind.CARRIER_ACCOUNT, account, account.id, name, about))
    return items


def _invitation_items(session: Session, user: User) -> list[CreatedItem]:
    """Return users who never signed in: invited ones, and those of the partner's own staff without
    a password. Members that a script created with their organizations are customers, and stay."""
    never_came = and_(User.password_hash.is_(None), User.last_sign_in.is_(None))
    is_open = or_(
        User.status == UserStatus.INVITED,
        and_(User.status == UserStatus.ACTIVE, never_came, User.user_type.in_(PARTNER_LEVEL)),
    )
    rows = session.scalars(
        select(User)
        .where(User.partner_id == user.partner_id, _is_by(user, User.invited_by_id), is_open)
        .where(User.id != user.id)
        .order_by(User.id)
    )
    return [CreatedItem(ItemKind.INVITATION, row, row.id, row.email, "", row.role) for row in rows]


def _email_change_items(session: Session, user: User) -> list[CreatedItem]:
    rows = session.execute(
        select(EmailChange, User)
        .join(User, User.id == EmailChange.user_id)
        .where(
            User.partner_id == user.partner_id,
            User.id != user.id,
            _is_by(user, EmailChange.requested_by_id),
            EmailChange.expires_at > utcnow(),
        )
        .order_by(EmailChange.id)
    )
    return [
        CreatedItem(
            ItemKind.EMAIL_CHANGE,
            change,
            change.id,
            changed_user.email,
            change.email,
            changed_user.role,
        )
        for change, changed_user in rows
    ]


def _of_user(model: Any, user: User) -> Any:
    query = select(model).where(
        model.partner_id == user.partner_id, model.responsible_id == user.id
    )
    return query.order_by(model.created_at, model.id)


def _is_by(user: User, column: InstrumentedAttribute[UUID | None]) -> ColumnElement[bool]:
    """Return the condition for items created by the user, or by an API client of the user, active
    or not."""
    clients = select(OAuthClient.id).where(
        OAuthClient.partner_id == user.partner_id, OAuthClient.responsible_id == user.id
    )
    return or_(column == user.id, column.in_(clients))


def _end_item(session: Session, elevated: Caller, user: User, item: CreatedItem) -> None:
    match item.row:
        case OAuthClient():
            oauth_clients.revoke(session, elevated, item.id)
        case ApiKey():
            api_keys.revoke(session, elevated, item.id)
        case ScimToken():
            scim_tokens.revoke(session, elevated, item.id)
        case Webhook():
            webhooks.remove(session, elevated, item.id)
        case CarrierAccount():
            try:
                carrier_accounts.remove(session, elevated, item.id)
            except Conflict as error:
                message = gettext(
                    "%(item)s: %(problem)s Hand it over, or wait.",
                    item=item.label,
                    problem=error.message,
                )
                raise Conflict(message, error.code) from None
        case User() as invited:
            before = {"status": invited.status}
            invited.status = UserStatus.DEACTIVATED
            after = {"status": invited.status, "because": user.email}
            audit.record_version(
                session, elevated, "user.deactivated", invited, before=before, after=after
            )
            one_time_links.end_all(session, invited.id)
        case EmailChange() as change:
            email_changes.end(session, elevated, session.get_one(User, change.user_id))


def _hand_over(session: Session, caller: Caller, user: User, item: CreatedItem) -> None:
    if not may_take_over(caller, user):
        message = gettext("Only an administrator of the partner can take this over.")
        raise Forbidden(message, "hand_over_not_allowed")
    if item.kind in (ItemKind.INVITATION, ItemKind.EMAIL_CHANGE) and item.role is not None:
        check_grant(caller, item.role)
    match item.row:
        case OAuthClient() | ApiKey() | ScimToken() | Webhook() | CarrierAccount() as row:
            row.responsible_id = caller.subject_id
        case User() as invited:
            invited.invited_by_id = caller.subject_id
        case EmailChange() as change:
            change.requested_by_id, change.requested_by = caller.subject_id, caller.label[:200]
    audit.record(
        session,
        caller,
        action=f"{item.kind}.handed_over",
        target_type=_TARGETS.get(item.kind, item.kind.value),
        target_id=getattr(item.row, "user_id", item.id),
        partner_id=user.partner_id,
        organization_id=getattr(item.row, "organization_id", None),
        target=item.name,
        before={"responsible": user.email},
        after={"responsible": caller.label},
    )


_TARGETS = {ItemKind.INVITATION: "user", ItemKind.EMAIL_CHANGE: "user"}
"""The record type in the history, if it isn't the item's kind."""
