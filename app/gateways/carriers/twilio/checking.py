"""Test a Twilio account without placing a call."""

import json
from collections.abc import Sequence
from typing import Any

from app.errors import Sentence
from app.gateways.carriers.base import NoCarrierAnswer, PlacementDelayed
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.wire import REAL_API, TwilioHttpClient
from app.languages import gettext

_TEST_AGAIN = Sentence.gettext("%(reason_words)s Test the connection again later.")
_UNREACHED = Sentence.gettext(
    "Twilio could not be reached from here: there is no network, or it is blocked."
)
_ASKED_TO_WAIT = Sentence.gettext("Twilio asked to wait.")
_NO_ANSWER = Sentence.gettext("Twilio gave no usable answer (%(reason)s).")
_ACCOUNT_STATUS = Sentence.gettext("The Twilio account is %(status)s, so it can’t call.")
_FOREIGN_NUMBER = Sentence.gettext(
    "This number is not the account’s: %(numbers)s. Calls from there are refused."
)
_FOREIGN_NUMBERS = Sentence.gettext(
    "These numbers are not the account’s: %(numbers)s. Calls from there are refused."
)
_REFUSED = Sentence.gettext("Twilio refuses the account: %(reason)s")


def fault_of(account: TwilioAccount, numbers: Sequence[str]) -> str | None:
    """Return a sentence about what is wrong with the account, or with the numbers that it should
    own; None if calls can use it."""
    wire = TwilioHttpClient(account.api_url, account.request_seconds, keeps_connections=False)
    try:
        return _find_fault(wire, account, numbers)
    except (PlacementDelayed, NoCarrierAnswer) as failure:
        return _TEST_AGAIN(reason_words=sentence_of(failure))


def sentence_of(failure: PlacementDelayed | NoCarrierAnswer) -> str:
    """Return why Twilio couldn't be reached, as a sentence."""
    if isinstance(failure, NoCarrierAnswer):
        return _NO_ANSWER(reason=failure)
    if failure.unreached:
        return _UNREACHED()
    return _ASKED_TO_WAIT()


def _find_fault(
    wire: TwilioHttpClient, account: TwilioAccount, numbers: Sequence[str]
) -> str | None:
    status, body = get_json(wire, account, "")
    if status != 200:
        return refusal_of(status, body)
    if body.get("status", "active") != "active":
        return _ACCOUNT_STATUS(status=body["status"])
    foreign = [number for number in numbers if not _owns_number(wire, account, number)]
    if not foreign:
        return None
    message = _FOREIGN_NUMBER if len(foreign) == 1 else _FOREIGN_NUMBERS
    return message(numbers=", ".join(foreign))


def _owns_number(wire: TwilioHttpClient, account: TwilioAccount, number: str) -> bool:
    _, body = get_json(wire, account, "/IncomingPhoneNumbers", {"PhoneNumber": number})
    owned = body.get("incoming_phone_numbers")
    if not isinstance(owned, list):
        message = "no list of numbers"
        raise NoCarrierAnswer(message)
    return bool(owned)


def refusal_of(status: int, body: dict[str, Any]) -> str:
    if status == 404:
        return gettext("Twilio knows no account with this SID.")
    if status in {401, 403}:
        return gettext(
            "Twilio does not accept this token for this SID. Compare both with the console; "
            "the token may have been renewed there."
        )
    return _REFUSED(reason=str(body.get("message") or status)[:200])


def get_json(
    wire: TwilioHttpClient, account: TwilioAccount, path: str, params: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    url = f"{REAL_API}/2010-04-01/Accounts/{account.sid}{path}.json"
    auth = (account.sid, account.auth_token)
    answer = wire.request("GET", url, params=params, auth=auth, allow_redirects=False)
    try:
        body = json.loads(answer.text)
    except ValueError as error:
        message = "no JSON"
        raise NoCarrierAnswer(message) from error
    return answer.status_code, body if isinstance(body, dict) else {}
