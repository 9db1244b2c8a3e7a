"""The numbers that calls over an account may come from: its own, and its verified caller IDs."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from app.errors import Sentence
from app.gateways.carriers.base import NoCarrierAnswer, PlacementDelayed
from app.gateways.carriers.partner_accounts import ListedNumbers
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.checking import get_json, refusal_of, sentence_of
from app.gateways.carriers.twilio.wire import TwilioHttpClient
from app.phone import is_plain_e164

LISTS = {
    "/IncomingPhoneNumbers": "incoming_phone_numbers",
    "/OutgoingCallerIds": "outgoing_caller_ids",
}
"""By URL: the name of the list in the response."""
PAGE_SIZE = 1000
MAX_PAGES = 20


class _AccountRefused(Exception):
    """Twilio refuses the account."""


_REFRESH = Sentence.gettext("%(reason_words)s Refresh the list later.")


def list_numbers(account: TwilioAccount) -> ListedNumbers:
    """Return every number that can make calls. A partial list counts as none: the missing numbers
    would lose their confirmation."""
    wire = TwilioHttpClient(account.api_url, account.request_seconds, keeps_connections=False)
    numbers: set[str] = set()
    try:
        for address, name in LISTS.items():
            numbers |= _read_numbers(wire, account, address, name)
    except (PlacementDelayed, NoCarrierAnswer) as failure:
        return ListedNumbers(False, message=_REFRESH(reason_words=sentence_of(failure)))
    except _AccountRefused as refused:
        return ListedNumbers(False, message=str(refused))
    return ListedNumbers(True, frozenset(numbers))


def _read_numbers(
    wire: TwilioHttpClient, account: TwilioAccount, address: str, name: str
) -> set[str]:
    numbers: set[str] = set()
    params = {"PageSize": str(PAGE_SIZE)}
    for _ in range(MAX_PAGES):
        status, body = get_json(wire, account, address, params)
        if status != 200:
            raise _AccountRefused(refusal_of(status, body))
        rows = body.get(name)
        if not isinstance(rows, list):
            message = "no list of numbers"
            raise NoCarrierAnswer(message)
        numbers |= {number for row in rows if (number := _read_number(row))}
        following = body.get("next_page_uri")
        if not following:
            return numbers
        params = dict(parse_qsl(urlsplit(str(following)).query))
    message = f"more than {PAGE_SIZE * MAX_PAGES:,} numbers"
    raise NoCarrierAnswer(message)


def _read_number(row: Any) -> str | None:
    """Return a row's number in E.164; None if it can't make calls."""
    if not isinstance(row, dict):
        return None
    number = str(row.get("phone_number"))
    capabilities = row.get("capabilities")
    is_mute = isinstance(capabilities, dict) and capabilities.get("voice") is False
    return number if is_plain_e164(number) and not is_mute else None
