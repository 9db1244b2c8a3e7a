"""The forms of the carrier account and the SIP trunk of a partner, or of one of its
organizations."""

from collections.abc import Callable

from flask import render_template, url_for

from app.enums import CarrierKind
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.portal.carriers.account_labels import form_page_data, saved_words
from app.portal.carriers.forms import CarrierAccountForm, SipTrunkForm
from app.portal.web import organization_picker
from app.portal.web.blueprint import Page, portal
from app.portal.web.current_user import refuse_operators
from app.portal.web.messages import redirect_with
from app.services import carrier_accounts


@portal.get("/carriers/accounts/account")
def carrier_account() -> str:
    refuse_operators()
    return _account_page(None)


@portal.post("/carriers/accounts/account")
def carrier_account_save() -> Page:
    refuse_operators()
    form = CarrierAccountForm()
    return _save(form, lambda conflict: _account_page(form, conflict))


@portal.get("/carriers/accounts/trunk")
def sip_trunk() -> str:
    refuse_operators()
    return _trunk_page(None)


@portal.post("/carriers/accounts/trunk")
def sip_trunk_save() -> Page:
    refuse_operators()
    form = SipTrunkForm()
    if not settings().can_call_over_sip:
        return _trunk_page(form), 422
    return _save(
        form,
        lambda conflict: _trunk_page(form, conflict),
        may_be_private=settings().sip_allow_private,
    )


def _save(
    form: CarrierAccountForm | SipTrunkForm,
    page: Callable[[Conflict | None], str],
    *,
    may_be_private: bool = False,
) -> Page:
    try:
        with transaction() as session:
            account = carrier_accounts.save(
                session,
                caller(),
                settings().secret_keys,
                form.to_particulars(),
                organization=organization_picker.organization_named(session),
                may_be_private=may_be_private,
                expected_version=form.version.data,
            )
            carrier_accounts.ask_for_test(session, caller(), account.id)
    except ValidationFailed as error:
        form.apply_errors(error)
        return page(None), 422
    except Conflict as error:
        return page(error), 409
    return redirect_with(
        saved_words(account),
        url_for("portal.carrier_accounts"),
        "info" if account.is_pending else "success",
    )


def _account_page(typed: CarrierAccountForm | None, conflict: Conflict | None = None) -> str:
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_named(session)
        organization_id = organization.id if organization else None
        present = carrier_accounts.current(session, caller(), organization_id)
        sid = present.newest.sid if present.newest else ""
        return render_template(
            "portal/carriers/account.html",
            **form_page_data(
                session,
                organization,
                CarrierKind.TWILIO,
                typed,
                stored=CarrierAccountForm.showing(sid, present.version),
                conflict=conflict,
            ),
        )


def _trunk_page(typed: SipTrunkForm | None, conflict: Conflict | None = None) -> str:
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_named(session)
        organization_id = organization.id if organization else None
        present = carrier_accounts.current(session, caller(), organization_id)
        trunk = carrier_accounts.trunk_of(present.newest) if present.newest else None
        return render_template(
            "portal/carriers/trunk.html",
            can_call=settings().can_call_over_sip,
            **form_page_data(
                session,
                organization,
                CarrierKind.SIP,
                typed,
                stored=SipTrunkForm.showing(trunk, present.version),
                conflict=conflict,
            ),
        )
