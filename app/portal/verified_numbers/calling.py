"""Calling a number with a code, for each purpose."""

from uuid import UUID

from flask import url_for

from app.enums import CarrierKind, VerificationPurpose
from app.extensions import caller, settings, transaction
from app.languages import lazy_gettext
from app.portal.verified_numbers.forms import NumberForm
from app.portal.web.editing import Submission
from app.services import calls
from app.services.verified_numbers import State

STATE_BADGES = {
    State.VERIFIED: (lazy_gettext("Verified"), "success"),
    State.WAITING: (lazy_gettext("Waiting for the code"), "info"),
    State.ENDED: (lazy_gettext("Needs a new call"), "neutral"),
}


def call_with_code(organization_id: UUID, form: NumberForm, purpose: VerificationPurpose) -> str:
    """Call the form's number; returns the URL of the page that takes the code. Raises what
    `calls.request_verification` raises."""
    config = settings()
    with transaction() as session:
        submission = Submission(session)
        number = calls.request_verification(
            session,
            caller(),
            organization_id,
            form.number.data or "",
            purpose=purpose,
            carrier=CarrierKind(config.carrier),
            calls_at_once=config.calls_per_organization,
            limits=config.trial_limits,
        )
        return submission.led_to(
            url_for("portal.verified_number", organization_id=organization_id, number_id=number.id)
        )
