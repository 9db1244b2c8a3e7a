"""Carrier accounts of a partner and of its organizations: set in a form, tested, removed."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import CarrierKind
from app.errors import Conflict, NotFound
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import CarrierAccount, CarrierAccountTest
from app.portal.carriers import blueprint
from app.portal.carriers.account_labels import (
    KIND_LABELS,
    account_facts,
    failing_message,
    form_page_data,
    form_url,
    removal_confirmation,
    saved_message,
    short_name,
    users_label,
    using,
)
from app.portal.carriers.forms import CarrierAccountForm, SipTrunkForm
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.current_user import refuse_operators
from app.portal.web.formats import carrier_title
from app.portal.web.forms import showing_problems
from app.portal.web.fragments import htmx_command, wants_fragment
from app.portal.web.messages import changing, redirect_with
from app.services import carrier_accounts, organizations, phone_numbers
from app.services.calls import traffic
from app.services.calls.traffic import CallTraffic
from app.services.carrier_accounts.accounts import CurrentAccount

_TEMPLATES = {
    CarrierKind.SIP: "portal/carriers/trunk.html",
    CarrierKind.TWILIO: "portal/carriers/account.html",
}


@blueprint.get("/carriers/accounts")
def list_accounts() -> str:
    refuse_operators()
    position = lists.current_position()
    with transaction(read_only=True) as session:
        current = carrier_accounts.current(session, caller(), None)
        own_accounts = [each for each in (current.pending, current.account) if each]
        page = carrier_accounts.of_organizations(session, caller(), **position.query_args)
        context = _list_context(
            session, [*own_accounts, *page.items] if position.is_first else page.items
        )
    platform = None if current.account else CarrierKind(settings().carrier)
    context |= {
        "platform": platform,
        "has_own": bool(own_accounts),
        **position.pager(page.next_cursor),
    }
    return render_template("portal/carriers/accounts.html", **context)


def _list_context(session: Session, accounts: Sequence[CarrierAccount]) -> dict[str, Any]:
    """Return the rows of accounts with their facts, and the calls without an account."""
    tests = carrier_accounts.last_checks(session, CarrierAccountTest, accounts)
    failing = [
        account
        for account in accounts
        if (test := tests.get(account.id)) and test.works is False and not account.is_pending
    ]
    traffic_by_account = traffic.by_account(session, caller())
    platform = traffic_by_account.get((CarrierKind(settings().carrier), None), CallTraffic())
    return {
        "rows": [_account_row(session, account, tests.get(account.id)) for account in accounts],
        "failing_message": failing_message(len(failing)),
        "facts_of": _details_by_account(session, accounts, traffic_by_account),
        "platform_calls": platform.last_day,
        "simulated_name": carrier_title(CarrierKind.SIMULATOR),
        "simulated_calls": traffic_by_account.get(
            (CarrierKind.SIMULATOR, None), CallTraffic()
        ).last_day,
    }


def _details_by_account(
    session: Session,
    accounts: Sequence[CarrierAccount],
    traffic_by_account: Mapping[tuple[CarrierKind, UUID | None], CallTraffic],
) -> dict[UUID, list[tuple[str, str]]]:
    """Return the facts about each account for the list."""
    ids = {row.organization_id for row in accounts if row.organization_id}
    names = organizations.names_of(session, caller(), ids)
    numbers = carrier_accounts.count_numbers(session, accounts)
    organization_count = carrier_accounts.count_organizations(session, caller().partner_id)
    return {
        account.id: account_facts(
            account,
            traffic_by_account.get((account.carrier, account.id), CallTraffic()),
            numbers.get(account.id, 0),
            users_label(
                names.get(account.organization_id) if account.organization_id else None,
                organization_count,
            ),
        )
        for account in accounts
    }


@blueprint.get("/carriers/accounts/choose")
def choose_account_kind() -> Page:
    """Ask for the owner of the new account."""
    refuse_operators()
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_of_url(session)
        if organization is not None:
            present = carrier_accounts.current(session, caller(), organization.id).newest
            kind = present.carrier if present else CarrierKind.TWILIO
            return redirect(form_url(kind, organization.id), 303)
        back_link = (gettext("Carrier accounts"), url_for("portal.carriers.list_accounts"))
        title = gettext("Account for an organization")
        return organization_picker.choose_page(session, title, back_link)


@blueprint.post("/carriers/accounts/<uuid:account_id>/test")
def test_connection(account_id: UUID) -> Page:
    """Request a test of the connection from the worker."""
    with transaction() as session:
        carrier_accounts.ask_for_test(session, caller(), account_id)
    return redirect(url_for("portal.carriers.list_accounts"), 303)


@blueprint.get("/carriers/accounts/<uuid:account_id>/test")
def show_connection_test(account_id: UUID) -> Page:
    """Return the result of the last test; while it runs, a fragment that reloads itself. Once a
    pending account is used, the whole page is loaded again."""
    if not wants_fragment():
        return redirect(url_for("portal.carriers.list_accounts"), 303)
    with transaction(read_only=True) as session:
        account = _find_tested(session, account_id)
        if account is None:
            return htmx_command("HX-Refresh", "true")
        test = carrier_accounts.last_checks(session, CarrierAccountTest, [account]).get(account.id)
        row = _account_row(session, account, test)
        return render_template("portal/carriers/_connection.html", row=row)


def _find_tested(session: Session, account_id: UUID) -> CarrierAccount | None:
    """Return the account whose test is shown; None for a pending one that is now used or removed.
    Raises `NotFound`."""
    was_pending = "pending" in request.args
    try:
        account = carrier_accounts.get(session, caller(), account_id)
    except NotFound:
        if was_pending:
            return None
        raise
    return None if was_pending and not account.is_pending else account


@blueprint.get("/carriers/accounts/<uuid:account_id>/use")
def confirm_use_account(account_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
        if not account.is_pending:
            return redirect(url_for("portal.carriers.list_accounts"), 303)
        return using(session, account).page()


@blueprint.post("/carriers/accounts/<uuid:account_id>/use")
def use_account(account_id: UUID) -> Response:
    with transaction() as session:
        account = carrier_accounts.activate(session, caller(), account_id)
        phone_numbers.request_reading(session, caller(), account.id)
    message = gettext("Live calls use %(account)s from now on.", account=short_name(account))
    return redirect_with(message, url_for("portal.carriers.list_accounts"))


@blueprint.get("/carriers/accounts/<uuid:account_id>/remove")
def confirm_remove_account(account_id: UUID) -> str:
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
        confirmation = removal_confirmation(session, account)
    return confirmation.page()


@blueprint.post("/carriers/accounts/<uuid:account_id>/remove")
def remove_account(account_id: UUID) -> Response:
    url = url_for("portal.carriers.list_accounts")
    with changing(url, Conflict) as session:
        account = carrier_accounts.remove(session, caller(), account_id)
    message = gettext("The account %(account)s was removed.", account=short_name(account))
    return redirect_with(message, url)


def _account_row(
    session: Session, account: CarrierAccount, test: CarrierAccountTest | None
) -> dict[str, Any]:
    has_failed = test is not None and test.works is False
    return {
        "account": account,
        "url": form_url(account.carrier, account.organization_id),
        "name": short_name(account),
        "kind": KIND_LABELS[account.carrier],
        "test": test,
        "is_testing": carrier_accounts.is_running(test),
        "using": using(session, account) if account.is_pending and has_failed else None,
    }


@blueprint.get("/carriers/accounts/account")
def edit_account() -> str:
    refuse_operators()
    return _page(CarrierKind.TWILIO, None)


@blueprint.post("/carriers/accounts/account")
def save_account() -> Page:
    refuse_operators()
    return _submit(CarrierKind.TWILIO, CarrierAccountForm())


@blueprint.get("/carriers/accounts/trunk")
def edit_sip_trunk() -> str:
    refuse_operators()
    return _page(CarrierKind.SIP, None)


@blueprint.post("/carriers/accounts/trunk")
def save_sip_trunk() -> Page:
    refuse_operators()
    form = SipTrunkForm()
    if not settings().can_call_over_sip:
        return _page(CarrierKind.SIP, form), 422
    return _submit(CarrierKind.SIP, form, may_be_private=settings().sip_allow_private)


def _submit(
    kind: CarrierKind, form: CarrierAccountForm | SipTrunkForm, *, may_be_private: bool = False
) -> Page:
    with showing_problems(form, lambda: _page(kind, form), validate=False):
        try:
            with transaction() as session:
                account = carrier_accounts.save(
                    session,
                    caller(),
                    settings().secret_keys,
                    form.to_particulars(),
                    organization=organization_picker.organization_of_url(session),
                    may_be_private=may_be_private,
                    expected_version=form.version.data,
                )
                carrier_accounts.ask_for_test(session, caller(), account.id)
        except Conflict as error:
            return _page(kind, form, error), 409
    return redirect_with(
        saved_message(account),
        url_for("portal.carriers.list_accounts"),
        "info" if account.is_pending else "success",
    )


def _page(
    kind: CarrierKind,
    submitted: CarrierAccountForm | SipTrunkForm | None,
    conflict: Conflict | None = None,
) -> str:
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_of_url(session)
        organization_id = organization.id if organization else None
        stored = _stored(kind, carrier_accounts.current(session, caller(), organization_id))
        return render_template(
            _TEMPLATES[kind],
            can_call=settings().can_call_over_sip,
            **form_page_data(
                session, organization, kind, submitted, stored=stored, conflict=conflict
            ),
        )


def _stored(kind: CarrierKind, current: CurrentAccount) -> CarrierAccountForm | SipTrunkForm:
    newest = current.newest
    if kind is CarrierKind.SIP:
        trunk = carrier_accounts.trunk_of(newest) if newest else None
        return SipTrunkForm.showing(trunk, current.version)
    return CarrierAccountForm.showing(newest.sid or "" if newest else "", current.version)
