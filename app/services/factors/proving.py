"""Prove who a user is with a code or a passkey: the second step of signing in, and the confirmation
before risky actions.

Codes are throttled like passwords; passkeys can't be guessed and never wait.
"""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Proof
from app.models import MailKind, User
from app.services import audit, mail_queue
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth import attempt_limits, second_step, sessions, sign_in, throttle
from app.services.factors import authenticator_apps, recovery_codes
from app.validation.networks import network_of


@dataclass(frozen=True, slots=True)
class ProvenUser:
    """A user whose second step was right, and its proof."""

    user: User
    proof: Proof


def use_code(
    session: Session,
    user_id: UUID,
    code: str,
    *,
    settings: Settings,
    ip: str | None,
    request_id: str | None = None,
) -> Proof | None:
    """Use up a code of the app or a recovery code; return None for a wrong one, which is counted.

    Raises `TooManyFailures` after too many wrong ones, even if this one is right.
    """
    limits = attempt_limits.of_second_step(settings, user_id, ip)
    throttle.charge(session, limits.all)
    proof = None
    if authenticator_apps.use_code(session, user_id, code, settings.secret_keys):
        proof = Proof.APP
    elif recovery_codes.redeem(session, user_id, code):
        proof = Proof.RECOVERY_CODE
        _mail_about_recovery_code(session, user_id, ip, request_id)
    if proof is None:
        _record_wrong_code(session, user_id, ip, request_id)
    else:
        throttle.reset_after_success(session, limits.individual, limits.shared)
    return proof


def sign_in_with_code(
    session: Session,
    token: str,
    code: str,
    *,
    host: str,
    settings: Settings,
    ip: str | None,
    request_id: str | None = None,
) -> ProvenUser | None:
    """Finish the sign-in that waits under ``token``; return None for a wrong code, or one that
    comes after the sign-in ended. Raises as `use_code`."""
    user_id = second_step.waiting(session, token, host=sessions.host_name(host))
    if user_id is None:
        return None
    proof = use_code(session, user_id, code, settings=settings, ip=ip, request_id=request_id)
    if proof is None:
        return None
    return finish(session, token, user_id, proof, ip=ip, request_id=request_id)


def finish(
    session: Session,
    token: str,
    user_id: UUID,
    proof: Proof,
    *,
    ip: str | None,
    request_id: str | None,
) -> ProvenUser | None:
    """Use up the waiting sign-in and sign in its user; return None if it was used already or the
    user may no longer sign in."""
    if not second_step.redeem(session, token):
        return None
    user = sign_in.finish_second_step(session, user_id, ip, request_id)
    return ProvenUser(user, proof) if user else None


def _mail_about_recovery_code(
    session: Session, user_id: UUID, ip: str | None, request_id: str | None
) -> None:
    user = session.get_one(User, user_id)
    caller = sessions.caller_of(user, ip=ip, request_id=request_id)
    remaining = recovery_codes.count_left(session, user_id)
    details = {"what": "recovery_code_used", "left": remaining}
    mail_queue.enqueue_to_user(session, caller, MailKind.FACTORS_CHANGED, user, details=details)
    audit.record_change(
        session, caller, "user.recovery_code_used", user, after={"recoveryCodesLeft": remaining}
    )


def _record_wrong_code(
    session: Session, user_id: UUID, ip: str | None, request_id: str | None
) -> None:
    user = session.get_one(User, user_id)
    refusal = Refusal(
        action=refusals.SIGN_IN,
        reason="wrong_code",
        target_type="user",
        target_id=user.id,
        target=user.email,
        partner_id=user.partner_id,
        organization_id=user.organization_id,
        network=network_of(ip),
    )
    refusals.record_refusals(session, refusals.anonymous_caller(request_id), [refusal])
