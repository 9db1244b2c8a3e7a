"""The verified numbers of an organization: the list, the call with the code, entering it."""

from uuid import UUID

from flask import flash, redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import CarrierKind
from app.errors import Conflict, Forbidden, ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import VerifiedNumber, utcnow
from app.portal.calls.labels import live
from app.portal.organizations.views import about
from app.portal.verified_numbers.forms import CodeForm, NumberForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.confirmation import Confirmation
from app.portal.web.editing import Submission
from app.portal.web.formats import phone
from app.services import calls, organizations, verified_numbers
from app.services.verified_numbers import Outcome, State

ENDPOINT = "portal.verified_numbers"
STATE_BADGES = {
    State.VERIFIED: ("Verified", "success"),
    State.WAITING: ("Waiting for the code", "info"),
    State.ENDED: ("Needs a new call", "neutral"),
}
CODE_ENDED = "This code can’t be used any more. Request a new call."


@portal.get("/organizations/<uuid:organization_id>/verified-numbers", endpoint="verified_numbers")
def list_numbers(organization_id: UUID) -> str:
    return _list_page(organization_id, NumberForm())


@portal.post("/organizations/<uuid:organization_id>/verified-numbers")
def verified_number_call(organization_id: UUID) -> Page:
    form, config = NumberForm(), settings()
    try:
        with transaction() as session:
            submission = Submission(session)
            number = calls.request_verification(
                session,
                caller(),
                organization_id,
                form.number.data or "",
                carrier=CarrierKind(config.carrier),
                calls_at_once=config.calls_per_organization,
                limits=config.trial_limits,
            )
            url = submission.led_to(_url_of(number))
    except (ValidationFailed, Conflict, Forbidden) as error:
        form.apply_errors(error)
        return _list_page(organization_id, form), 422
    return redirect(url, 303)


@portal.get("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>")
def verified_number(organization_id: UUID, number_id: UUID) -> str:
    return _code_page(organization_id, number_id, CodeForm())


@portal.post("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>")
def verified_number_confirm(organization_id: UUID, number_id: UUID) -> Page:
    form = CodeForm()
    try:
        with transaction() as session:
            answer = verified_numbers.confirm(
                session,
                caller(),
                organization_id,
                number_id,
                form.code.data or "",
                settings().secret_keys,
            )
            number = verified_numbers.get(session, caller(), organization_id, number_id)
    except ValidationFailed as error:
        form.apply_errors(error)
        return _code_page(organization_id, number_id, form), 422
    if answer.outcome is Outcome.VERIFIED:
        flash(f"{phone(number.phone)} is verified and can be called now.", "success")
        return redirect(url_for(ENDPOINT, organization_id=organization_id), 303)
    tries = "1 more try" if answer.left == 1 else f"{answer.left} more tries"
    is_wrong = answer.outcome is Outcome.WRONG
    form.code.errors = (f"This code is wrong. You have {tries}." if is_wrong else CODE_ENDED,)
    return _code_page(organization_id, number_id, form), 422


@portal.get("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>/remove")
def verified_number_remove_confirm(organization_id: UUID, number_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        number = verified_numbers.get(session, caller(), organization_id, number_id)
        in_trial = organizations.trial_of(session, found) is not None
    consequences = ["To verify the number again, it has to be called again."]
    if in_trial:
        consequences.insert(0, f"{found.name} can’t call this number any more in trial mode.")
    return Confirmation(
        action=url_for(
            "portal.verified_number_remove", organization_id=organization_id, number_id=number_id
        ),
        title=f"Remove {phone(number.phone)}?",
        consequences=consequences,
        act="Remove number",
        safe="Keep number",
        safe_url=url_for(ENDPOINT, organization_id=organization_id),
    ).page()


@portal.post("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>/remove")
def verified_number_remove(organization_id: UUID, number_id: UUID) -> Response:
    with transaction() as session:
        number = verified_numbers.remove(session, caller(), organization_id, number_id)
    flash(f"{phone(number.phone)} removed.", "success")
    return redirect(url_for(ENDPOINT, organization_id=organization_id), 303)


def _url_of(number: VerifiedNumber) -> str:
    return url_for(
        "portal.verified_number", organization_id=number.organization_id, number_id=number.id
    )


def _list_page(organization_id: UUID, form: NumberForm) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        rows = verified_numbers.listing(session, caller(), organization_id)
        return render_template(
            "portal/verified_numbers/list.html",
            **about(session, found, ENDPOINT),
            form=form,
            rows=[(row, verified_numbers.state_of(row, utcnow())) for row in rows],
            badges=STATE_BADGES,
            limits=settings().trial_limits,
        )


def _code_page(organization_id: UUID, number_id: UUID, form: CodeForm) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        number = verified_numbers.get(session, caller(), organization_id, number_id)
        return render_template(
            "portal/verified_numbers/code.html",
            organization=found,
            number=number,
            state=verified_numbers.state_of(number, utcnow()),
            form=form,
            again=NumberForm.from_object(data={"number": number.phone}),
            **_call(session, number),
        )


def _call(session: Session, number: VerifiedNumber) -> dict[str, object]:
    return live(session, calls.get(session, caller(), number.call_id))
