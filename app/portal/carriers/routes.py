"""Which account and carrier place whose calls, and how many in the last day."""

from dataclasses import dataclass

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.extensions import caller, settings
from app.languages import gettext
from app.portal.carriers.account_labels import KIND_WORDS, WHOLE, owner_of, short_name
from app.portal.web.formats import carrier_title
from app.services import carrier_accounts, organizations
from app.services.calls import traffic
from app.services.calls.traffic import CallTraffic

MOST_ACCOUNTS = 50


@dataclass(frozen=True, slots=True)
class CallRoute:
    """``account`` is empty for the installation's own, ``url`` leads to its organization."""

    account: str
    carrier: str
    users: str
    traffic: CallTraffic
    is_simulated: bool = False
    url: str | None = None


def routes_of(session: Session) -> list[CallRoute]:
    """Return the routes of the caller's calls: accounts in use, then the installation's carrier
    and the simulated one."""
    accounts = carrier_accounts.in_use_of(session, caller(), MOST_ACCOUNTS)
    ids = {account.organization_id for account in accounts if account.organization_id}
    names = organizations.names_of(session, caller(), ids)
    counted = traffic.by_account(session, caller())
    found = [
        CallRoute(
            short_name(account),
            str(KIND_WORDS[account.carrier]),
            owner_of(account, names),
            counted.get((account.carrier, account.id), CallTraffic()),
            url=url_for("portal.organization", organization_id=account.organization_id)
            if account.organization_id
            else None,
        )
        for account in accounts
    ]
    has_own = any(account.organization_id is None for account in accounts)
    own, tests = CarrierKind(settings().carrier), gettext("Calls with test keys")
    if own is not CarrierKind.SIMULATOR and not has_own:
        found.append(
            CallRoute("", carrier_title(own), str(WHOLE), counted.get((own, None), CallTraffic()))
        )
    elif not has_own:
        tests = gettext("Organizations without their own account, and calls with test keys")
    simulated = counted.get((CarrierKind.SIMULATOR, None), CallTraffic())
    name = carrier_title(CarrierKind.SIMULATOR)
    return [*found, CallRoute("", name, tests, simulated, is_simulated=True)]
