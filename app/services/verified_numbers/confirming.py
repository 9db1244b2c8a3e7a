"""Entering the code of a verification call, and removing numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import VerificationPurpose
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import Organization, VerifiedNumber, utcnow
from app.policy.caller import Caller
from app.services import audit, phone_numbers
from app.services.verified_numbers import codes
from app.services.verified_numbers.loading import (
    MAX_WRONG_CODES,
    VerificationStatus,
    get,
    require_verifying,
    status_of,
)


class CodeOutcome(StrEnum):
    VERIFIED = "verified"
    WRONG = "wrong"
    ENDED = "ended"
    """The code can't be entered (any more)."""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """The result of an entered code. ``attempts_left`` is how many more can be tried."""

    outcome: CodeOutcome
    attempts_left: int = 0


def confirm(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    number_id: UUID,
    submitted: str,
    secret_keys: Sequence[str],
) -> CodeResult:
    """Verify the number if the code is the one that its latest call spoke.

    It also confirms a number to call from for the organization, for which the transaction must be
    of the whole installation. A wrong code is counted, so commit after every result. Raises
    `Forbidden`, `NotFound` and `ValidationFailed` (``invalid_code`` for a text without six digits,
    which isn't counted; ``number_not_assigned`` for another organization's number).
    """
    is_caller_id = _check_access(session, caller, organization_id, number_id)
    if is_caller_id:
        # Locked first, as by a request for a call; the number is written with a reference to it.
        owner = select(Organization.id).where(Organization.id == organization_id)
        session.execute(owner.with_for_update(key_share=True))
    number = get(session, caller, organization_id, number_id, for_change=True)
    code = "".join(submitted.replace(",", " ").split())
    if len(code) != codes.DIGITS or not (code.isascii() and code.isdigit()):
        raise ValidationFailed.on(
            "code", "invalid_code", gettext("Enter the 6 digits of the code.")
        )
    now = utcnow()
    if status_of(number, now) is not VerificationStatus.WAITING:
        return CodeResult(CodeOutcome.ENDED)
    if codes.matches_code(code, number.call_id, secret_keys):
        number.verified_at, number.verified_by = now, caller.label[:200]
        _record(session, caller, number, "verified")
        if is_caller_id:
            phone_numbers.confirm(session, caller, organization_id, number.phone)
        return CodeResult(CodeOutcome.VERIFIED)
    number.wrong_codes += 1
    remaining = MAX_WRONG_CODES - number.wrong_codes
    if remaining:
        session.flush()
        return CodeResult(CodeOutcome.WRONG, remaining)
    _record(session, caller, number, "code_ended")
    return CodeResult(CodeOutcome.ENDED)


def remove(
    session: Session, caller: Caller, organization_id: UUID, number_id: UUID
) -> VerifiedNumber:
    """Remove the number; one that was confirmed to call from stays the organization's. Raises
    `Forbidden` and `NotFound`."""
    _check_access(session, caller, organization_id, number_id)
    number = get(session, caller, organization_id, number_id, for_change=True)
    _record(session, caller, number, "removed")
    session.delete(number)
    session.flush()
    return number


def _check_access(session: Session, caller: Caller, organization_id: UUID, number_id: UUID) -> bool:
    """Return whether it is a number to call from. Raises `Forbidden` and `NotFound`."""
    purpose = get(session, caller, organization_id, number_id).purpose
    require_verifying(caller, purpose)
    return purpose is VerificationPurpose.CALLER_ID


def _record(session: Session, caller: Caller, number: VerifiedNumber, verb: str) -> None:
    session.flush()
    after = {"purpose": number.purpose}
    audit.record_change(session, caller, f"verified_number.{verb}", number, after=after)
