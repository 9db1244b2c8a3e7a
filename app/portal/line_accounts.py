"""Carrier accounts of a partner and of its organizations: set, tested, removed."""

from uuid import UUID

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.errors import Conflict, NotFound, ValidationFailed
from app.extensions import caller, settings, transaction
from app.gateways.carriers.opening import account_with
from app.gateways.carriers.twilio.checking import trouble_with
from app.models import CarrierAccount, Organization
from app.portal import choosing, lists
from app.portal.asking import Question
from app.portal.blueprint import portal
from app.portal.forms.line_accounts import LineAccountForm
from app.portal.forms.problems import place_problems
from app.services import carrier_accounts, organizations

Page = str | tuple[str, int] | Response
WHOLE = "All other organizations"


@portal.get("/line/accounts")
def line_accounts() -> str:
    _only_partners()
    with transaction(read_only=True) as session:
        found = carrier_accounts.listing(session, caller(), lists.PAGE_SIZE)
        ids = {row.organization_id for row in found if row.organization_id}
        names = organizations.names_of(session, caller(), ids)
    return render_template(
        "portal/line/accounts.html",
        rows=[(row, _owner(row, names), _short(row)) for row in found],
        has_own=any(row.organization_id is None for row in found),
    )


@portal.get("/line/accounts/choose")
def line_account_choose() -> Page:
    """Asks whose account it will be."""
    _only_partners()
    with transaction(read_only=True) as session:
        organization = choosing.organization_named(session)
        if organization is not None:
            return redirect(url_for("portal.line_account", organization=organization.id), 303)
        back = ("Carrier accounts", url_for("portal.line_accounts"))
        return choosing.choose_page(session, "Account for an organization", back)


@portal.get("/line/accounts/account")
def line_account() -> Page:
    _only_partners()
    with transaction(read_only=True) as session:
        organization = choosing.organization_named(session)
        present = carrier_accounts.of_owner(
            session, caller(), organization.id if organization else None
        )
    form = LineAccountForm(data={"sid": present.sid if present else ""})
    return _form_page(form, organization, present)


@portal.post("/line/accounts/account")
def line_account_save() -> Page:
    _only_partners()
    form = LineAccountForm(request.form)
    with transaction(read_only=True) as session:
        organization = choosing.organization_named(session)
        present = carrier_accounts.of_owner(
            session, caller(), organization.id if organization else None
        )
    try:
        with transaction() as session:
            account = carrier_accounts.save(
                session,
                caller(),
                settings().secret_keys,
                organization=organization,
                sid=(form.sid.data or "").strip(),
                token=(form.token.data or "").strip(),
            )
    except ValidationFailed as error:
        return _form_page(form, organization, present, place_problems(form, error)), 422
    flash(f"Live calls go out over {_short(account)} from now on.", "success")
    return redirect(url_for("portal.line_accounts"), 303)


@portal.post("/line/accounts/<uuid:account_id>/test")
def line_account_test(account_id: UUID) -> Response:
    """Asks the carrier, without a transaction and without calling anybody."""
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
        opened = carrier_accounts.credentials(session, settings().secret_keys, account_id)
        numbers = carrier_accounts.numbers_of(session, account)
    if opened is None:
        flash("The stored token can’t be read any more. Type it again.", "warning")
        return redirect(url_for("portal.line_accounts"), 303)
    trouble = trouble_with(account_with(settings(), opened.sid, opened.token), numbers)
    if trouble is None:
        flash(f"The connection to {_short(account)} works. Nobody was called.", "success")
    else:
        flash(trouble, "warning")
    return redirect(url_for("portal.line_accounts"), 303)


@portal.get("/line/accounts/<uuid:account_id>/remove")
def line_account_remove_question(account_id: UUID) -> str:
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
    return _removing(account).page()


@portal.post("/line/accounts/<uuid:account_id>/remove")
def line_account_remove(account_id: UUID) -> Response:
    try:
        with transaction() as session:
            account = carrier_accounts.remove(session, caller(), account_id)
        flash(f"The account {_short(account)} was removed.", "success")
    except Conflict as error:
        flash(error.message, "warning")
    return redirect(url_for("portal.line_accounts"), 303)


def _removing(account: CarrierAccount) -> Question:
    return Question(
        action=url_for("portal.line_account_remove", account_id=account.id),
        question=f"Remove the account {_short(account)}?",
        consequences=[
            "Live calls go out over the next wider account: your own, else the platform’s.",
            "It is refused while calls wait for the account or are on the line.",
            "Its token is forgotten within two days. Nothing changes at the carrier.",
        ],
        act="Remove account",
        safe="Keep account",
        safe_url=url_for("portal.line_accounts"),
    )


def _form_page(
    form: LineAccountForm,
    organization: Organization | None,
    present: CarrierAccount | None,
    problems: list[tuple[str, str]] | None = None,
) -> str:
    return render_template(
        "portal/line/account.html",
        form=form,
        owner=organization.name if organization else WHOLE,
        present=present,
        problems=problems or [],
    )


def _owner(account: CarrierAccount, names: dict[UUID, str]) -> str:
    return names.get(account.organization_id, "–") if account.organization_id else WHOLE


def _short(account: CarrierAccount) -> str:
    return f"{account.sid[:6]}…{account.sid[-4:]}"


def _only_partners() -> None:
    """Operators have no account of their own: theirs is in the environment."""
    if caller().partner_id is None:
        raise NotFound
