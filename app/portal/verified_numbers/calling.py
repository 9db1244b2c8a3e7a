"""Calling a number with a code, for each purpose."""

from collections.abc import Callable
from typing import ClassVar
from uuid import UUID

from flask import redirect, url_for
from werkzeug.wrappers import Response
from wtforms import StringField, TelField

from app.enums import CarrierKind, VerificationPurpose
from app.errors import Conflict, Forbidden
from app.extensions import caller, settings
from app.languages import lazy_gettext
from app.portal.web.editing import FormSubmission
from app.portal.web.fields import OnceField
from app.portal.web.forms import PortalForm, saving
from app.services import calls
from app.services.verified_numbers import VerificationStatus

STATUS_BADGES = {
    VerificationStatus.VERIFIED: (lazy_gettext("Verified"), "success"),
    VerificationStatus.WAITING: (lazy_gettext("Waiting for the code"), "info"),
    VerificationStatus.ENDED: (lazy_gettext("Needs a new call"), "neutral"),
}


class NumberForm(PortalForm):
    wire_fields: ClassVar = {"contact.phoneNumber": "number"}

    once = OnceField()
    number = TelField(lazy_gettext("Number"), render_kw={"maxlength": 30, "autocomplete": "off"})


class CodeForm(PortalForm):
    code = StringField(
        lazy_gettext("Code"),
        render_kw={"maxlength": 20, "inputmode": "numeric", "autocomplete": "one-time-code"},
    )


def call_with_code(
    organization_id: UUID,
    form: NumberForm,
    purpose: VerificationPurpose,
    page: Callable[[], str],
) -> Response:
    """Call the form's number and redirect to the page for the code; a refusal shows the form's
    ``page`` with it."""
    config = settings()
    with saving(form, page, validate=False, shows=(Conflict, Forbidden)) as session:
        submission = FormSubmission(session)
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
        url = submission.finish(
            url_for(
                "portal.verified_numbers.enter_code",
                organization_id=organization_id,
                number_id=number.id,
            )
        )
    return redirect(url, 303)
