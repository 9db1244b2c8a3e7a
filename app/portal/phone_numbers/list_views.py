"""The lists of numbers of a partner's carrier accounts."""

from typing import Any
from uuid import UUID

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.extensions import caller, transaction
from app.models import CarrierAccount, CarrierNumberList
from app.policy import Permission
from app.portal.carriers.account_labels import owner_of, short_name
from app.portal.phone_numbers import blueprint
from app.portal.web.blueprint import Page
from app.portal.web.fragments import wants_fragment
from app.services import carrier_accounts, organizations, phone_numbers

MAX_ACCOUNTS = 50


@blueprint.post("/numbers/lists/<uuid:account_id>")
def refresh_account_numbers(account_id: UUID) -> Page:
    """Request reading the account's numbers from the worker."""
    with transaction() as session:
        phone_numbers.request_reading(session, caller(), account_id)
    return redirect(url_for("portal.phone_numbers.list_numbers"), 303)


@blueprint.get("/numbers/lists/<uuid:account_id>")
def list_account_numbers(account_id: UUID) -> Page:
    """Return the last reading; while it runs, a fragment that reloads itself."""
    if not wants_fragment():
        return redirect(url_for("portal.phone_numbers.list_numbers"), 303)
    with transaction(read_only=True) as session:
        account = carrier_accounts.get(session, caller(), account_id)
        [row] = _account_rows(session, [account])
    return render_template("portal/phone_numbers/_list_status.html", account_row=row)


def accounts_shown(session: Session) -> list[dict[str, Any]]:
    """Return the Twilio accounts of the caller's partner; SIP trunks have no list."""
    if caller().partner_id is None or not caller().may(Permission.CREDENTIALS_MANAGE):
        return []
    in_use = carrier_accounts.in_use_of(session, caller(), MAX_ACCOUNTS)
    return _account_rows(session, [each for each in in_use if each.carrier is CarrierKind.TWILIO])


def _account_rows(session: Session, accounts: list[CarrierAccount]) -> list[dict[str, Any]]:
    ids = {each.organization_id for each in accounts if each.organization_id}
    names = organizations.names_of(session, caller(), ids)
    lists = carrier_accounts.last_checks(session, CarrierNumberList, accounts)
    return [_account_row(each, names, lists.get(each.id)) for each in accounts]


def _account_row(
    account: CarrierAccount, names: dict[UUID, str], number_list: CarrierNumberList | None
) -> dict[str, Any]:
    return {
        "account": account,
        "name": short_name(account),
        "owner": owner_of(account, names),
        "read": number_list,
        "is_running": carrier_accounts.is_running(number_list),
    }
