"""Carrier accounts of a partner and of its organizations: set, tested, removed."""

from collections.abc import Sequence
from uuid import UUID

from flask import flash, redirect, render_template, url_for
from werkzeug.wrappers import Response

from app.enums import CarrierKind
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.gateways.carriers.brought import Credentials, Finding
from app.gateways.carriers.opening import account_with, brought_trunk
from app.gateways.carriers.sip.checking import tested
from app.gateways.carriers.twilio.checking import fault_of
from app.portal.carriers.account_labels import (
    KIND_WORDS,
    about,
    form_url,
    only_partners,
    owner_of,
    removing,
    short_name,
)
from app.portal.carriers.forms import CarrierAccountForm
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import refused
from app.services import carrier_accounts, organizations

NO_SIP = "SIP trunks can’t be used here yet. Ask the platform’s operator to set them up."


@portal.get("/line/accounts", endpoint="carrier_accounts")
def list_carrier_accounts() -> str:
    only_partners()
    at = lists.place()
    with transaction(read_only=True) as session:
        own = carrier_accounts.current(session, caller(), None).account
        page = carrier_accounts.of_organizations(
            session, caller(), cursor=at.cursor, limit=lists.PAGE_SIZE
        )
        found = [own, *page.items] if own and at.is_first else page.items
        ids = {row.organization_id for row in found if row.organization_id}
        names = organizations.names_of(session, caller(), ids)
    return render_template(
        "portal/carriers/accounts.html",
        rows=[
            {
                "account": row,
                "owner": owner_of(row, names),
                "url": form_url(row.carrier, row.organization_id),
                "name": short_name(row),
                "kind": KIND_WORDS[row.carrier],
            }
            for row in found
        ],
        has_own=own is not None,
        place=at,
        next_url=at.next_url(page.next_cursor),
    )


@portal.get("/line/accounts/choose")
def carrier_account_choose() -> Page:
    """Asks whose account it will be."""
    only_partners()
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_named(session)
        if organization is not None:
            present = carrier_accounts.current(session, caller(), organization.id).account
            kind = present.carrier if present else CarrierKind.TWILIO
            return redirect(form_url(kind, organization.id), 303)
        back = ("Carrier accounts", url_for("portal.carrier_accounts"))
        return organization_picker.choose_page(session, "Account for an organization", back)


@portal.get("/line/accounts/account")
def carrier_account() -> str:
    only_partners()
    return _page(None)


@portal.post("/line/accounts/account")
def carrier_account_save() -> Page:
    only_partners()
    form = CarrierAccountForm()
    try:
        with transaction() as session:
            account = carrier_accounts.save(
                session,
                caller(),
                settings().secret_keys,
                form.to_particulars(),
                organization=organization_picker.organization_named(session),
                expected_version=form.version.data,
            )
    except ValidationFailed as error:
        return refused(error, form, lambda: _page(form))
    except Conflict as error:
        return _page(form, conflict=error), 409
    flash(f"Live calls use {short_name(account)} from now on.", "success")
    return redirect(url_for("portal.carrier_accounts"), 303)


@portal.post("/line/accounts/<uuid:account_id>/test")
def carrier_account_test(account_id: UUID) -> Response:
    """Asks the carrier, without a transaction and without calling anybody."""
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
        opened = carrier_accounts.credentials(session, settings().secret_keys, account_id)
        numbers = carrier_accounts.numbers_of(session, account)
    if opened is None:
        secret = "password" if account.trunk is not None else "token"
        flash(f"The stored {secret} can’t be read. Enter it again.", "warning")
        return redirect(url_for("portal.carrier_accounts"), 303)
    found = _tested(opened, numbers)
    if found.works:
        words = f"The connection to {short_name(account)} works. {found.words}".rstrip()
        flash(f"{words} No call was placed.", "success")
    else:
        flash(found.words, "warning")
    return redirect(url_for("portal.carrier_accounts"), 303)


def _tested(opened: Credentials, numbers: Sequence[str]) -> Finding:
    config = settings()
    if opened.trunk is not None:
        if not config.can_call_over_sip:
            return Finding(False, NO_SIP)
        return tested(brought_trunk(config, opened.trunk, opened.secret), numbers)
    fault = fault_of(account_with(config, opened.sid, opened.secret), numbers)
    return Finding(fault is None, fault or "")


@portal.get("/line/accounts/<uuid:account_id>/remove")
def carrier_account_remove_confirm(account_id: UUID) -> str:
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
        confirmation = removing(session, account)
    return confirmation.page()


@portal.post("/line/accounts/<uuid:account_id>/remove")
def carrier_account_remove(account_id: UUID) -> Response:
    try:
        with transaction() as session:
            account = carrier_accounts.remove(session, caller(), account_id)
        flash(f"The account {short_name(account)} was removed.", "success")
    except Conflict as error:
        flash(error.message, "warning")
    return redirect(url_for("portal.carrier_accounts"), 303)


def _page(typed: CarrierAccountForm | None, conflict: Conflict | None = None) -> str:
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_named(session)
        organization_id = organization.id if organization else None
        present = carrier_accounts.current(session, caller(), organization_id)
        sid = present.account.sid if present.account else ""
        return render_template(
            "portal/carriers/account.html",
            **about(
                session,
                organization,
                CarrierKind.TWILIO,
                typed,
                stored=CarrierAccountForm.showing(sid, present.version),
                conflict=conflict,
            ),
        )
