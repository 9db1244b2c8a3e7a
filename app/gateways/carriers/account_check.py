"""Test a carrier account, and read its numbers, without calling anyone."""

from collections.abc import Sequence

from app.config import Settings
from app.errors import translate_stored
from app.gateways.carriers.factory import account_with, partner_trunk
from app.gateways.carriers.partner_accounts import (
    AccountCredentials,
    AccountTestResult,
    ListedNumbers,
)
from app.gateways.carriers.sip.checking import check_trunk
from app.gateways.carriers.twilio.account import is_installed
from app.gateways.carriers.twilio.checking import fault_of
from app.gateways.carriers.twilio.numbers import list_numbers
from app.languages import gettext_noop

NO_SIP = gettext_noop(
    "SIP trunks can’t be used here yet. Ask the platform’s operator to set them up."
)
NO_TWILIO = gettext_noop("Twilio support isn’t installed here. Ask the operator of the portal.")


def check_credentials(
    settings: Settings, opened: AccountCredentials, numbers: Sequence[str]
) -> AccountTestResult:
    """Return the carrier's verdict on the account. For the worker only: it takes up to a minute if
    nothing answers."""
    if opened.trunk is None:
        if not is_installed():
            return AccountTestResult(False, translate_stored(NO_TWILIO))
        fault = fault_of(account_with(settings, opened.sid, opened.secret), numbers)
        return AccountTestResult(fault is None, fault or "")
    if not settings.can_call_over_sip:
        return AccountTestResult(False, translate_stored(NO_SIP))
    return check_trunk(partner_trunk(settings, opened.trunk, opened.secret), numbers)


def listed_numbers(settings: Settings, opened: AccountCredentials) -> ListedNumbers:
    """Return the numbers of a Twilio account. For the worker only."""
    if not is_installed():
        return ListedNumbers(False, message=translate_stored(NO_TWILIO))
    return list_numbers(account_with(settings, opened.sid, opened.secret))
