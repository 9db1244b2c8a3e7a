"""Server-side sessions of the portal: one row each, so that ending one takes effect at once.

The cookie holds a random token of 256 bits, of which only the SHA-256 hash is stored.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from app.enums import CallerKind, Proof, Role, SecondFactorFor
from app.errors import Unauthenticated
from app.languages import gettext
from app.models import Partner, PortalSession, User, utcnow
from app.models.base import NAME_LENGTH
from app.policy import ROLE_PERMISSIONS
from app.policy.caller import Caller
from app.services.auth import offered_accounts, second_step
from app.services.auth.sign_in_rules import able_to_sign_in
from app.services.auth.tokens import hash_of, random_token

TOUCH_EVERY = timedelta(minutes=1)
FRESH_FOR = timedelta(minutes=10)
"""How long a proof counts for actions that need a fresh one."""
STAFF = frozenset({Role.PARTNER_ADMIN, Role.PARTNER_EDITOR})

_VALID_SESSION = (
    able_to_sign_in(
        select(PortalSession, User, Partner).join(User, User.id == PortalSession.user_id)
    )
    .where(
        PortalSession.token_hash == bindparam("token_hash"),
        PortalSession.host == bindparam("host"),
        PortalSession.expires_at > bindparam("now"),
        PortalSession.seen_at > bindparam("idle_since"),
    )
    .execution_options(populate_existing=True)
)
"""The user of a session, if user, organization and partner may sign in. Built once, since every
page runs it."""

_ABLE_USER = (
    able_to_sign_in(select(User, Partner))
    .where(User.id == bindparam("user_id"))
    .execution_options(populate_existing=True)
)
"""A user, if they may sign in. The partner is None for operators."""


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """The identity provider that a sign-in came from, the hash of the session's id there if it has
    one, and when the user signed in there if it says so."""

    provider_id: UUID
    sid_hash: str | None
    signed_in_at: datetime | None = None

    @property
    def proven_at(self) -> datetime:
        """When the user proved their identity; long ago if the provider doesn't say."""
        now = utcnow()
        return min(self.signed_in_at or now - FRESH_FOR, now)


@dataclass(frozen=True, slots=True)
class UserSession:
    """A user's session. ``partner`` is None for the operator; its lists are not loaded.

    While an operator views the portal as another user, ``caller``, ``user`` and ``partner`` are
    that user's, and ``operator`` and ``viewer`` are the operator's.
    """

    caller: Caller
    user: User
    partner: Partner | None
    record: PortalSession
    operator: Caller | None = None
    viewer: User | None = None
    has_view_as_ended: bool = False
    """Whether the view has expired, or its user can't sign in any more, before the operator has
    left it."""

    @property
    def is_fresh(self) -> bool:
        """Whether the user proved their identity in the last minutes (`app.policy.step_up`)."""
        proven_at = self.record.proven_at or self.record.created_at
        return utcnow() - proven_at < FRESH_FOR

    @property
    def origin(self) -> SessionOrigin | None:
        """The identity provider that may end the session."""
        if self.record.provider_id is None:
            return None
        return SessionOrigin(self.record.provider_id, self.record.provider_sid_hash)

    @property
    def needs_factor(self) -> bool:
        """Whether the partner requires a second factor of the user, who has none yet."""
        if self.partner is None or self.user.second_factor_at or self.record.factor:
            return False
        return is_required(SecondFactorFor(self.partner.second_factor_for), self.user.role)

    @property
    def touch_due(self) -> bool:
        """Whether the stored last use is more than a minute old (see `touch`)."""
        is_due = utcnow() - self.record.seen_at >= TOUCH_EVERY
        return is_due or (self.operator is None and self.user.last_session is None)


def create(
    session: Session,
    user: User,
    *,
    lifetime: timedelta,
    host: str,
    ip: str | None = None,
    user_agent: str | None = None,
    factor: str | None = None,
    origin: SessionOrigin | None = None,
) -> str:
    """Create a session of the user at one host; return the cookie's token. It ends the offers that
    the user could still sign in with. ``factor`` is what proved the user's identity besides or
    instead of the password, ``origin`` the identity provider that may end the session.

    Raises `Unauthenticated` (``not_signed_in``) if the password or the second factor has changed
    since ``user`` was loaded, when it proved who they are.
    """
    _lock_unchanged(session, user)
    offered_accounts.end_for_user(session, user.id)
    token = random_token()
    now = utcnow()
    proven_at = now if factor != Proof.REMEMBERED else now - FRESH_FOR
    session.add(
        PortalSession(
            token_hash=hash_of(token),
            user_id=user.id,
            host=host_name(host),
            ip=ip,
            user_agent=user_agent[:500] if user_agent else None,
            factor=factor,
            proven_at=origin.proven_at if origin else proven_at,
            created_at=now,
            seen_at=now,
            expires_at=now + lifetime,
            provider_id=origin.provider_id if origin else None,
            provider_sid_hash=origin.sid_hash if origin else None,
        )
    )
    session.flush()
    record_times(session, user, last_session=now)
    return token


def _lock_unchanged(session: Session, user: User) -> None:
    """Lock the user, so that a change of the password ends the new session or prevents it."""
    query = select(User.password_hash, User.second_factor_at).where(User.id == user.id)
    stored = session.execute(query.with_for_update(key_share=True)).one_or_none()
    if stored is None or tuple(stored) != (user.password_hash, user.second_factor_at):
        raise _not_signed_in()


def _not_signed_in() -> Unauthenticated:
    return Unauthenticated(gettext("Sign in first."), "not_signed_in")


def load(
    session: Session,
    token: str | None,
    *,
    host: str,
    idle: timedelta,
    ip: str | None = None,
    request_id: str | None = None,
) -> UserSession:
    """Return the user of the session, as stored now.

    Raises `Unauthenticated` (``not_signed_in``) if the session has ended, was ``idle`` for longer
    or belongs to another host, or if its user, organization or partner isn't active any more.
    """
    row = None
    if token:
        now = utcnow()
        params = {
            "token_hash": hash_of(token),
            "host": host_name(host),
            "now": now,
            "idle_since": now - idle,
        }
        row = session.execute(_VALID_SESSION, params).one_or_none()
    if row is None:
        raise _not_signed_in()
    record, user, partner = row
    if _is_over(record, partner):
        raise _not_signed_in()
    signed_in = UserSession(caller_of(user, ip=ip, request_id=request_id), user, partner, record)
    return signed_in if record.viewed_user_id is None else _view_as(session, signed_in)


def _view_as(session: Session, signed_in: UserSession) -> UserSession:
    """Return the session of an operator as the viewed user's."""
    until = signed_in.record.viewed_until
    row = None
    if signed_in.caller.is_operator and until is not None and until > utcnow():
        params = {"user_id": signed_in.record.viewed_user_id}
        row = session.execute(_ABLE_USER, params).one_or_none()
    if row is None:
        return replace(signed_in, operator=signed_in.caller, has_view_as_ended=True)
    user, partner = row
    viewed = caller_of(user, ip=signed_in.caller.ip, request_id=signed_in.caller.request_id)
    return UserSession(
        caller=replace(viewed, viewed_by=signed_in.caller.subject_id),
        user=user,
        partner=partner,
        record=signed_in.record,
        operator=signed_in.caller,
        viewer=signed_in.user,
    )


def is_required(required: SecondFactorFor, role: Role) -> bool:
    """Return whether users of this role need a second factor."""
    return required is SecondFactorFor.ALL or (required is SecondFactorFor.STAFF and role in STAFF)


def _is_over(record: PortalSession, partner: Partner | None) -> bool:
    """Return whether the session has reached one of the partner's own limits."""
    if partner is None:
        return False
    now, hours, minutes = utcnow(), partner.session_hours, partner.idle_minutes
    is_old = hours is not None and now - record.created_at >= timedelta(hours=hours)
    is_idle = minutes is not None and now - record.seen_at >= timedelta(minutes=minutes)
    return is_old or is_idle


def record_proof(session: Session, token: str, factor: str | None) -> None:
    """Record that the user of the session has just proved their identity."""
    values: dict[str, Any] = {"proven_at": utcnow()} | ({"factor": factor} if factor else {})
    session.execute(
        update(PortalSession).where(PortalSession.token_hash == hash_of(token)).values(**values)
    )


def caller_of(user: User, *, ip: str | None = None, request_id: str | None = None) -> Caller:
    """Return the signed-in user as caller, with the current role and permissions."""
    return Caller(
        kind=CallerKind.USER,
        role=user.role,
        subject_id=user.id,
        label=user.email,
        partner_id=user.partner_id,
        organization_id=user.organization_id,
        permissions=ROLE_PERMISSIONS[user.role],
        is_limited=user.is_limited and user.role is Role.ADMIN,
        ip=ip,
        request_id=request_id,
    )


def touch(session: Session, signed_in: UserSession) -> None:
    """Record the use of the session. It needs a short transaction of its own after the read, and
    only if ``touch_due``."""
    now = utcnow()
    session.execute(
        update(PortalSession)
        .where(PortalSession.token_hash == signed_in.record.token_hash)
        .values(seen_at=now)
    )
    if signed_in.operator is None:
        record_times(session, signed_in.user, last_session=now)


def record_times(session: Session, user: User, **times: datetime) -> None:
    """Store when the user was last seen; this isn't an update of the user (``updatedAt`` stays)."""
    session.execute(
        update(User).where(User.id == user.id).values(**times, updated_at=User.updated_at)
    )


def end(session: Session, token: str | None) -> None:
    """End a session, and the offers that its user could still sign in with. Repeating it is no
    error."""
    if token:
        statement = delete(PortalSession).where(PortalSession.token_hash == hash_of(token))
        user_id = session.scalar(statement.returning(PortalSession.user_id))
        if user_id is not None:
            offered_accounts.end_for_user(session, user_id)


def end_all_of_user(session: Session, user_id: UUID, *, except_token: str | None = None) -> int:
    """End every session of the user, every offer, and every second step that waits or is remembered
    (new password, suspension); return how many sessions."""
    offered_accounts.end_for_user(session, user_id)
    second_step.end_for_user(session, user_id)
    statement = delete(PortalSession).where(PortalSession.user_id == user_id)
    if except_token:
        statement = statement.where(PortalSession.token_hash != hash_of(except_token))
    return len(session.execute(statement.returning(PortalSession.token_hash)).all())


def end_all_of_provider(
    session: Session, provider_id: UUID, *, user_id: UUID | None = None, sid: str | None = None
) -> int:
    """End the sessions that this provider's sign-ins began, of one user or one of the provider's
    sessions if given; return how many."""
    statement = delete(PortalSession).where(PortalSession.provider_id == provider_id)
    if user_id is not None:
        statement = statement.where(PortalSession.user_id == user_id)
    if sid is not None:
        statement = statement.where(PortalSession.provider_sid_hash == hash_of(sid))
    return len(session.execute(statement.returning(PortalSession.token_hash)).all())


def host_name(host: str) -> str:
    """Return the name in a ``Host`` header, in lower case and without its port."""
    name = host.rsplit(":", 1)[0] if host.rpartition(":")[2].isdigit() else host
    return name.lower().rstrip(".")[:NAME_LENGTH]
