"""The verified numbers of an organization: the list, the call with the code, entering it."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import VerificationPurpose
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.models import VerifiedNumber, utcnow
from app.portal.calls.labels import live_panel_data, reached_no_one
from app.portal.organizations.tabs import organization_page_data
from app.portal.verified_numbers import blueprint
from app.portal.verified_numbers.calling import (
    STATUS_BADGES,
    CodeForm,
    NumberForm,
    call_with_code,
)
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import phone
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.services import calls, organizations, verified_numbers
from app.services.verified_numbers import CodeOutcome, CodeResult

ENDPOINT = "portal.verified_numbers.list_numbers"
CODE_ENDED = lazy_gettext("This code can’t be used any more. Request a new call.")


@blueprint.get("/organizations/<uuid:organization_id>/verified-numbers")
def list_numbers(organization_id: UUID) -> str:
    return _list_page(organization_id, NumberForm())


@blueprint.post("/organizations/<uuid:organization_id>/verified-numbers")
def call_number(organization_id: UUID) -> Page:
    form = NumberForm()
    page = partial(_list_page, organization_id, form)
    return call_with_code(organization_id, form, VerificationPurpose.CALL_TRIAL, page)


@blueprint.get("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>")
def enter_code(organization_id: UUID, number_id: UUID) -> str:
    return _code_page(organization_id, number_id, CodeForm())


@blueprint.post("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>")
def check_code(organization_id: UUID, number_id: UUID) -> Page:
    form = CodeForm()
    page = partial(_code_page, organization_id, number_id, form)
    with transaction(read_only=True) as session:
        number = verified_numbers.get(session, caller(), organization_id, number_id)
    with saving(form, page, validate=False, all_tenants=_is_caller_id(number)) as session:
        answer = verified_numbers.confirm(
            session,
            caller(),
            organization_id,
            number_id,
            form.code.data or "",
            settings().secret_keys,
        )
    if answer.outcome is CodeOutcome.VERIFIED:
        return redirect_with(_confirmed_message(number), _done_url(number))
    return _render_refused(form, page, answer)


def _render_refused(form: CodeForm, page: Callable[[], str], answer: CodeResult) -> Page:
    form.code.errors = (_refused_message(answer),)
    return page(), 422


@blueprint.get("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>/remove")
def confirm_remove_number(organization_id: UUID, number_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        number = verified_numbers.get(session, caller(), organization_id, number_id)
        in_trial = organizations.trial_of(session, organization) is not None
    return _removal_confirmation(number, organization.name, in_trial=in_trial).page()


def _removal_confirmation(
    number: VerifiedNumber, organization: str, *, in_trial: bool
) -> ConfirmationPage:
    return ConfirmationPage(
        title=gettext("Remove %(number)s?", number=phone(number.phone)),
        consequences=_consequences(number, organization, in_trial=in_trial),
        action_label=gettext("Remove number"),
        keep_label=gettext("Keep number"),
        keep_url=_list_url(number),
    )


@blueprint.post("/organizations/<uuid:organization_id>/verified-numbers/<uuid:number_id>/remove")
def remove_number(organization_id: UUID, number_id: UUID) -> Response:
    with transaction() as session:
        number = verified_numbers.remove(session, caller(), organization_id, number_id)
    message = gettext("%(number)s removed.", number=phone(number.phone))
    return redirect_with(message, _list_url(number))


def _confirmed_message(number: VerifiedNumber) -> str:
    formatted = phone(number.phone)
    if _is_caller_id(number):
        return gettext("%(number)s is confirmed.", number=formatted)
    return gettext("%(number)s is verified and can be called now.", number=formatted)


def _refused_message(answer: CodeResult) -> str:
    if answer.outcome is not CodeOutcome.WRONG:
        return str(CODE_ENDED)
    return ngettext(
        "This code is wrong. You have %(num)s more try.",
        "This code is wrong. You have %(num)s more tries.",
        answer.attempts_left,
    )


def _consequences(number: VerifiedNumber, organization: str, *, in_trial: bool) -> list[str]:
    """Return the consequences of removing the number."""
    if _is_caller_id(number):
        return [
            gettext("Its code and its entry in the list of verification calls are deleted."),
            gettext(
                "A number that %(organization)s can call from stays confirmed.",
                organization=organization,
            ),
            gettext("Only the platform operator releases a number."),
        ]
    again = gettext("To verify the number again, it has to be called again.")
    if not in_trial:
        return [again]
    lost = gettext(
        "%(organization)s can’t call this number any more in trial mode.",
        organization=organization,
    )
    return [lost, again]


def _is_caller_id(number: VerifiedNumber) -> bool:
    return number.purpose is VerificationPurpose.CALLER_ID


def _list_url(number: VerifiedNumber) -> str:
    """Return the page on which a number of this purpose is called."""
    if _is_caller_id(number):
        return url_for("portal.phone_numbers.new_verification", organization=number.organization_id)
    return url_for(ENDPOINT, organization_id=number.organization_id)


def _done_url(number: VerifiedNumber) -> str:
    """Return the page that lists verified numbers of this purpose."""
    if _is_caller_id(number):
        return url_for("portal.phone_numbers.list_numbers", organization=number.organization_id)
    return _list_url(number)


def _list_page(organization_id: UUID, form: NumberForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        rows = verified_numbers.listing(session, caller(), organization_id)
        return render_template(
            "portal/verified_numbers/list.html",
            **organization_page_data(session, organization, ENDPOINT),
            form=form,
            rows=[(row, verified_numbers.status_of(row, utcnow())) for row in rows],
            badges=STATUS_BADGES,
            limits=settings().trial_limits,
        )


def _code_page(organization_id: UUID, number_id: UUID, form: CodeForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        number = verified_numbers.get(session, caller(), organization_id, number_id)
        return render_template(
            "portal/verified_numbers/code.html",
            organization=organization,
            number=number,
            is_caller_id=_is_caller_id(number),
            back=_list_url(number),
            status=verified_numbers.status_of(number, utcnow()),
            form=form,
            again=NumberForm.from_object(number=number.phone),
            **_call_context(session, number),
        )


def _call_context(session: Session, number: VerifiedNumber) -> dict[str, object]:
    call = calls.get(session, caller(), number.call_id)
    return {**live_panel_data(session, call), "reached_no_one": reached_no_one(call)}
