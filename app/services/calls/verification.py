"""Verification calls: they speak a code, which proves who answers a number."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.config.trial import DEFAULT_LIMITS, TrialLimits
from app.enums import CallSource, CallStatus, CarrierKind, VerificationPurpose
from app.errors import Conflict, ValidationFailed, translate_stored
from app.languages import gettext, gettext_noop, ngettext
from app.models import Assistant, Call, Organization, VerifiedNumber, utcnow
from app.phone import PhoneError, normalise_written
from app.policy.caller import Caller
from app.services import audit, daily_counts, phone_numbers
from app.services.calls import queries
from app.services.calls.accept import schedule
from app.services.calls.request import CallRequest
from app.services.calls.rules import PHONE_FIELD
from app.services.tenancy import get_organization
from app.services.verified_numbers import require_verifying
from app.services.verified_numbers.codes import HIDDEN, code_of

CODE_LIFE = timedelta(minutes=10)
INTRO = (
    f"Hello. This call verifies your phone number. Your code is {HIDDEN}. "
    f"Once more, your code is {HIDDEN}. "
    "If you didn't ask for this call, hang up and don't give the code to anyone. Goodbye."
)
VOICEMAIL = (
    "Hello. This call was to verify this phone number. "
    "The code is given only to a person who answers. Goodbye."
)
NO_ASSISTANT = gettext_noop(
    "A verification call comes from an assistant with a confirmed number. Ask the platform "
    "operator to assign your first number, then set up the phone of an assistant with it."
)


def request_verification(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    phone_number: str,
    *,
    purpose: VerificationPurpose = VerificationPurpose.CALL_TRIAL,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    calls_at_once: int = 5,
    limits: TrialLimits = DEFAULT_LIMITS,
) -> VerifiedNumber:
    """Call the number with a code, which `verified_numbers.confirm` accepts for 10 minutes.

    The first of the organization's assistants that can call does it. A number to call from (purpose
    ``CALLER_ID``) also needs the permission to change the organization. ``carrier`` and
    ``calls_at_once`` are those of `CallSettings`. Every rule for calls holds but trial mode.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``already_verified``, ``too_many_numbers``,
    ``too_many_calls``, and those of a number), `Conflict` (``outside_hours``,
    ``agent_phone_not_ready``) and the other errors of `schedule`.
    """
    require_verifying(caller, purpose)
    organization = get_organization(session, caller, organization_id, for_change=True)
    phone = _read_number(phone_number, organization.default_region)
    number = _find_or_create(session, organization, phone, purpose, limits)
    assistant = _find_assistant(session, organization, carrier)
    _count_call(session, organization, phone, limits)
    request = CallRequest(
        assistant_id=assistant.id,
        phone_number=phone,
        intro_message=INTRO,
        voicemail_message=VOICEMAIL,
    )
    accepted = schedule(
        session,
        caller,
        request,
        CallSettings(carrier, calls_at_once, expiry_hours=CODE_LIFE / timedelta(hours=1)),
        source=CallSource.VERIFICATION,
        live=True,
    )
    if accepted.status is CallStatus.SCHEDULED:
        raise Conflict(_delay_message(session, accepted.call_id), "outside_hours")
    now = utcnow()
    number.requested_by, number.requested_at = caller.label[:200], now
    number.verified_at = number.verified_by = None
    number.call_id = accepted.call_id
    number.code_expires_at = now + CODE_LIFE
    number.wrong_codes = 0
    session.add(number)
    session.flush()
    after = {"purpose": purpose}
    audit.record_change(session, caller, "verified_number.called", number, after=after)
    return number


def simulated_code(
    session: Session, caller: Caller, call_id: UUID, secret_keys: Sequence[str]
) -> str:
    """Return the code of a verification call on the simulated carrier, which no phone speaks.

    Raises `NotFound` (``call_not_found``), and `Conflict` (``not_simulated``) for other calls.
    """
    call = queries.get(session, caller, call_id)
    if not call.verifies_a_number or call.carrier is not CarrierKind.SIMULATOR:
        message = gettext("This isn't a verification call on the simulated carrier.")
        raise Conflict(message, "not_simulated")
    return code_of(call.id, secret_keys[0])


def _delay_message(session: Session, call_id: UUID) -> str:
    """Return why an accepted call doesn't begin at once, and when it may."""
    call = session.get_one(Call, call_id)
    begins = call.scheduled_for or call.created_at
    return gettext(
        "The number can't be called now, but for %(moment)s, the next moment at which it is "
        "allowed. %(reason)s",
        moment=f"{begins:%Y-%m-%d %H:%M} UTC",
        reason=translate_stored(call.status_detail or ""),
    ).strip()


def _read_number(phone_number: str, region: str) -> str:
    try:
        return normalise_written(phone_number.strip(), region)
    except PhoneError as error:
        raise ValidationFailed.on(PHONE_FIELD, error.code, error.message) from None


def _find_or_create(
    session: Session,
    organization: Organization,
    phone: str,
    purpose: VerificationPurpose,
    limits: TrialLimits,
) -> VerifiedNumber:
    """Return the number as it was requested before, or a new one. The organization is locked."""
    if purpose is VerificationPurpose.CALLER_ID and not phone_numbers.can_be_verified(
        session, organization.id, phone
    ):
        message = gettext("This number is already confirmed for the organization.")
        raise ValidationFailed.on(PHONE_FIELD, "already_verified", message)
    of_purpose = (
        VerifiedNumber.organization_id == organization.id,
        VerifiedNumber.purpose == purpose,
    )
    verified = session.scalars(
        select(VerifiedNumber).where(*of_purpose, VerifiedNumber.phone == phone).with_for_update()
    ).one_or_none()
    if verified is not None:
        # A number to call from may have been released since: `phone_numbers` knows.
        if verified.verified_at is not None and purpose is VerificationPurpose.CALL_TRIAL:
            message = gettext("This number is already verified.")
            raise ValidationFailed.on(PHONE_FIELD, "already_verified", message)
        return verified
    count = session.scalar(select(func.count()).select_from(VerifiedNumber).where(*of_purpose)) or 0
    if count >= limits.numbers:
        message = ngettext(
            "An organization can verify %(num)s number. Remove one first.",
            "An organization can verify %(num)s numbers. Remove one first.",
            limits.numbers,
        )
        raise ValidationFailed.on(PHONE_FIELD, "too_many_numbers", message)
    return VerifiedNumber(
        partner_id=organization.partner_id,
        organization_id=organization.id,
        phone=phone,
        purpose=purpose,
    )


def _find_assistant(
    session: Session, organization: Organization, carrier: CarrierKind
) -> Assistant:
    ready = select(Assistant).where(
        Assistant.organization_id == organization.id,
        Assistant.active,
        Assistant.phone_enabled,
        Assistant.phone_configured,
        Assistant.phone_number.is_not(None),
    )
    candidates = session.scalars(ready.order_by(Assistant.created_at, Assistant.id)).all()
    refused = phone_numbers.refusals(session, candidates, carrier)
    usable = next((each for each in candidates if each.id not in refused), None)
    if usable is None:
        raise Conflict(translate_stored(NO_ASSISTANT), "agent_phone_not_ready")
    return usable


def _count_call(
    session: Session, organization: Organization, phone: str, limits: TrialLimits
) -> None:
    """Count the call against the limits of the organization, the partner and the number."""
    counters = (
        (
            f"verification:{organization.id}",
            limits.verification_calls_per_organization,
            gettext(
                "The organization has used its verification calls for today. "
                "Try again tomorrow (UTC)."
            ),
        ),
        (
            f"verification:{organization.partner_id}",
            limits.verification_calls_per_partner,
            gettext(
                "Your portal has used its verification calls for today. Try again tomorrow (UTC)."
            ),
        ),
        (
            f"verification:{phone}",
            limits.verification_calls_per_number,
            gettext(
                "This number has had its verification calls for today. Try again tomorrow (UTC)."
            ),
        ),
    )
    for subject, limit, message in counters:
        if not daily_counts.count_one(session, subject, limit):
            raise ValidationFailed.on(PHONE_FIELD, "too_many_calls", message)
