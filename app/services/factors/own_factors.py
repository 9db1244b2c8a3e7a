"""Changes by users of their own second factors.

The first factor turns the second step on, removing the last one turns it off. Each change ends the
browsers where the step is remembered, and sends a mail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import SecondFactorFor
from app.errors import Conflict, NotFound
from app.languages import gettext
from app.models import MailKind, Partner, Passkey, User, utcnow
from app.policy.caller import Caller
from app.services import audit, mail_queue
from app.services.auth import second_step, sessions
from app.services.factors import authenticator_apps, passkeys, recovery_codes
from app.services.factors.passkeys import BrowserSite
from app.services.tenancy import lock_own_user


@dataclass(frozen=True, slots=True)
class UserFactors:
    """The second factors of a user. ``is_required``: the partner's policy needs one."""

    since: datetime | None
    has_app: bool
    passkeys: Sequence[Passkey]
    recovery_codes_left: int
    is_required: bool

    @property
    def can_remove_one(self) -> bool:
        """Whether the policy allows removing one."""
        return not self.is_required or int(self.has_app) + len(self.passkeys) > 1


def of_user(session: Session, user: User) -> UserFactors:
    """Return the second factors of a user that the caller has loaded."""
    partner = session.get(Partner, user.partner_id) if user.partner_id else None
    required = SecondFactorFor(partner.second_factor_for) if partner else SecondFactorFor.NONE
    return UserFactors(
        since=user.second_factor_at,
        has_app=authenticator_apps.is_confirmed(session, user.id),
        passkeys=passkeys.of_user(session, user.id),
        recovery_codes_left=recovery_codes.count_left(session, user.id),
        is_required=sessions.is_required(required, user.role),
    )


def begin_app(session: Session, caller: Caller, settings: Settings) -> None:
    """Create a secret for an authenticator app, unless one waits for its first code.

    Raises `Conflict` (``app_exists``).
    """
    user = lock_own_user(session, caller)
    authenticator_apps.secret_to_confirm(session, user.id, settings.secret_keys)


def confirm_app(
    session: Session, caller: Caller, code: str, settings: Settings
) -> Sequence[str] | None:
    """Turn the authenticator app on; return recovery codes if the user has none yet.

    Raises `ValidationFailed` (``wrong_code``).
    """
    user = lock_own_user(session, caller)
    authenticator_apps.confirm(session, user.id, code, settings.secret_keys)
    return _record_added(session, caller, user, "app_added")


def _record_added(
    session: Session,
    caller: Caller,
    user: User,
    change: str,
    details: Mapping[str, Any] | None = None,
) -> Sequence[str] | None:
    """Record a new factor; return recovery codes if the user has none yet."""
    _record_changed(session, caller, user, change, details)
    if recovery_codes.count_left(session, user.id):
        return None
    return recovery_codes.replace(session, user.id)


def add_passkey(
    session: Session, caller: Caller, site: BrowserSite, challenge: str, answer: str, name: str
) -> Sequence[str] | None:
    """Add the passkey from the browser; return recovery codes if the user has none yet.

    Raises as `passkeys.register`.
    """
    user = lock_own_user(session, caller)
    passkey = passkeys.register(session, user, site, challenge, answer, name)
    return _record_added(session, caller, user, "passkey_added", {"name": passkey.name})


def remove_app(session: Session, caller: Caller) -> None:
    """Turn the authenticator app off. Raises `Conflict` (``factor_required``)."""
    user = lock_own_user(session, caller)
    if not authenticator_apps.is_confirmed(session, user.id):
        return
    _refuse_removing_required(session, user)
    authenticator_apps.remove(session, user.id)
    _record_changed(session, caller, user, "app_removed")


def remove_passkey(session: Session, caller: Caller, passkey_id: UUID) -> None:
    """Remove a passkey. Raises `NotFound` and `Conflict` (``factor_required``)."""
    user = lock_own_user(session, caller)
    # nosemgrep: row-by-id-for-a-caller - its user is compared below
    passkey = session.get(Passkey, passkey_id)
    if passkey is None or passkey.user_id != user.id:
        raise NotFound
    _refuse_removing_required(session, user)
    name = passkey.name
    session.delete(passkey)
    session.flush()
    _record_changed(session, caller, user, "passkey_removed", {"name": name})


def new_recovery_codes(session: Session, caller: Caller) -> Sequence[str]:
    """Return new recovery codes; the earlier ones end. Raises `Conflict` (``no_factor``)."""
    user = lock_own_user(session, caller)
    if user.second_factor_at is None:
        message = gettext("Add an authenticator app or a passkey first.")
        raise Conflict(message, "no_factor")
    codes = recovery_codes.replace(session, user.id)
    details = {"what": "recovery_codes_replaced"}
    mail_queue.enqueue_to_user(session, caller, MailKind.FACTORS_CHANGED, user, details=details)
    audit.record_change(session, caller, "user.recovery_codes_replaced", user)
    return codes


def remove_all(session: Session, caller: Caller, user: User) -> None:
    """Remove every factor of a user that the caller may change, and end all sessions, for a user
    who lost them. The password stays."""
    authenticator_apps.remove(session, user.id)
    passkeys.remove_all(session, user.id)
    recovery_codes.remove(session, user.id)
    sessions.end_all_of_user(session, user.id)
    _store_second_factor_since(session, user, None)
    details = {"what": "factors_reset", "by": caller.label}
    mail_queue.enqueue(
        session,
        MailKind.FACTORS_CHANGED,
        partner_id=user.partner_id,
        user_id=user.id,
        details=details,
    )
    audit.record_change(session, caller, "user.factors_reset", user)


def _refuse_removing_required(session: Session, user: User) -> None:
    if not of_user(session, user).can_remove_one:
        message = gettext("Your company requires a second factor. Add another one first.")
        raise Conflict(message, "factor_required")


def _record_changed(
    session: Session,
    caller: Caller,
    user: User,
    change: str,
    details: Mapping[str, Any] | None = None,
) -> None:
    has_any = authenticator_apps.is_confirmed(session, user.id) or bool(
        passkeys.of_user(session, user.id)
    )
    if not has_any:
        recovery_codes.remove(session, user.id)
    _store_second_factor_since(
        session, user, (user.second_factor_at or utcnow()) if has_any else None
    )
    second_step.end_for_user(session, user.id)
    mail_details = {"what": change} | dict(details or {})
    mail_queue.enqueue_to_user(
        session, caller, MailKind.FACTORS_CHANGED, user, details=mail_details
    )
    audit.record_change(session, caller, f"user.{change}", user, after=dict(details or {}))


def _store_second_factor_since(session: Session, user: User, since: datetime | None) -> None:
    """Store since when the second step is needed; this isn't an update of the user (``updatedAt``
    stays)."""
    session.execute(
        update(User)
        .where(User.id == user.id)
        .values(second_factor_at=since, updated_at=User.updated_at)
    )
    session.flush()
