"""Codes of authenticator apps (TOTP, RFC 6238): six digits, a new one every 30 seconds.

A code of the step before or after the current one is accepted, for clocks that are a little wrong.
A code works once: the step of the last one is stored, and only later ones are accepted.
"""

from collections.abc import Sequence
from uuid import UUID

import pyotp
from sqlalchemy import delete, or_, update
from sqlalchemy.orm import Session

from app.errors import Conflict, ValidationFailed
from app.languages import gettext
from app.models import AuthenticatorApp, utcnow
from app.services.credentials.encryption import seal, try_unseal

PURPOSE = "authenticator apps"
STEP_SECONDS = 30
DRIFT_STEPS = 1


def is_confirmed(session: Session, user_id: UUID) -> bool:
    """Return whether the user signs in with codes of an app."""
    app = session.get(AuthenticatorApp, user_id)
    return app is not None and app.confirmed_at is not None


def secret_to_confirm(session: Session, user_id: UUID, keys: Sequence[str]) -> str:
    """Return the secret for the user's app, a new one if none waits for confirmation.

    Raises `Conflict` (``app_exists``) if the user has an app already.
    """
    app = session.get(AuthenticatorApp, user_id, with_for_update=True, populate_existing=True)
    if app is not None and app.confirmed_at is not None:
        message = gettext("Your account already has an authenticator app. Remove it first.")
        raise Conflict(message, "app_exists")
    if app is not None:
        waiting = try_unseal(app.secret, PURPOSE, keys)
        if waiting is not None:
            return waiting
        session.delete(app)
        session.flush()
    secret = pyotp.random_base32()
    session.add(AuthenticatorApp(user_id=user_id, secret=seal(secret, PURPOSE, keys)))
    session.flush()
    return secret


def confirm(session: Session, user_id: UUID, code: str, keys: Sequence[str]) -> None:
    """Accept the app after its first code. Raises `ValidationFailed` (``wrong_code``)."""
    if not _use_code(session, user_id, code, keys, confirmed=False):
        message = gettext("This code is wrong. Check the time of your phone and try the next code.")
        raise ValidationFailed.on("code", "wrong_code", message)
    session.execute(
        update(AuthenticatorApp)
        .where(AuthenticatorApp.user_id == user_id)
        .values(confirmed_at=utcnow())
    )


def use_code(session: Session, user_id: UUID, code: str, keys: Sequence[str]) -> bool:
    """Return whether it is a current, unused code of the user's app, and use it up: of two
    concurrent uses only one gets True."""
    return _use_code(session, user_id, code, keys, confirmed=True)


def remove(session: Session, user_id: UUID) -> None:
    """Delete the app of the user."""
    session.execute(delete(AuthenticatorApp).where(AuthenticatorApp.user_id == user_id))


def waiting_secret(session: Session, user_id: UUID, keys: Sequence[str]) -> str | None:
    """Return the secret that waits for its first code, if there is one."""
    app = session.get(AuthenticatorApp, user_id)
    if app is None or app.confirmed_at is not None:
        return None
    return try_unseal(app.secret, PURPOSE, keys)


def link(secret: str, *, issuer: str, account: str) -> str:
    """Return the ``otpauth://`` link that the app reads, also as a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=account, issuer_name=issuer)


def _use_code(
    session: Session, user_id: UUID, code: str, keys: Sequence[str], *, confirmed: bool
) -> bool:
    app = session.get(AuthenticatorApp, user_id, populate_existing=True)
    if app is None or (app.confirmed_at is not None) is not confirmed:
        return False
    secret = try_unseal(app.secret, PURPOSE, keys)
    step = None if secret is None else _step_of(secret, code)
    if step is None:
        return False
    statement = (
        update(AuthenticatorApp)
        .where(
            AuthenticatorApp.user_id == user_id,
            or_(AuthenticatorApp.last_step.is_(None), AuthenticatorApp.last_step < step),
        )
        .values(last_step=step)
        .returning(AuthenticatorApp.user_id)
        .execution_options(synchronize_session=False)
    )
    return bool(session.scalars(statement).all())


def _step_of(secret: str, code: str) -> int | None:
    """Return the time step that the code belongs to; None for a wrong one."""
    totp = pyotp.TOTP(secret)
    digits = code.replace(" ", "")
    current = int(utcnow().timestamp()) // STEP_SECONDS
    for step in range(current - DRIFT_STEPS, current + DRIFT_STEPS + 1):
        if pyotp.utils.strings_equal(digits, totp.generate_otp(step)):
            return step
    return None
