"""Test a Twilio account without placing a call."""

import json
from collections.abc import Sequence
from typing import Any

from app.gateways.carriers.base import NoCarrierAnswer, PlacementDelayed
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.wire import REAL_API, Wire


def fault_of(account: TwilioAccount, numbers: Sequence[str]) -> str | None:
    """Return a sentence about what is wrong with the account, or with the numbers that it should
    own; None if calls can use it."""
    wire = Wire(account.api_url, account.request_seconds, keeps_connections=False)
    try:
        return _fault(wire, account, numbers)
    except (PlacementDelayed, NoCarrierAnswer) as failure:
        return f"{sentence_of(failure)} Test the connection again later."


def sentence_of(failure: PlacementDelayed | NoCarrierAnswer) -> str:
    """What kept Twilio from answering, as a sentence."""
    if isinstance(failure, NoCarrierAnswer):
        return f"Twilio gave no usable answer ({failure})."
    if failure.unreached:
        return "Twilio could not be reached from here: there is no network, or it is blocked."
    return "Twilio asked to wait."


def _fault(wire: Wire, account: TwilioAccount, numbers: Sequence[str]) -> str | None:
    status, body = read(wire, account, "")
    if status != 200:
        return refusal_of(status, body)
    if body.get("status", "active") != "active":
        return f"The Twilio account is {body['status']}, so it can’t call."
    foreign = [number for number in numbers if not _owns(wire, account, number)]
    if not foreign:
        return None
    are = "This number is" if len(foreign) == 1 else "These numbers are"
    return f"{are} not the account’s: {', '.join(foreign)}. Calls from there are refused."


def _owns(wire: Wire, account: TwilioAccount, number: str) -> bool:
    _, body = read(wire, account, "/IncomingPhoneNumbers", {"PhoneNumber": number})
    owned = body.get("incoming_phone_numbers")
    if not isinstance(owned, list):
        message = "no list of numbers"
        raise NoCarrierAnswer(message)
    return bool(owned)


def refusal_of(status: int, body: dict[str, Any]) -> str:
    if status == 404:
        return "Twilio knows no account with this SID."
    if status in {401, 403}:
        return (
            "Twilio does not accept this token for this SID. Compare both with the console; "
            "the token may have been renewed there."
        )
    return f"Twilio refuses the account: {str(body.get('message') or status)[:200]}"


def read(
    wire: Wire, account: TwilioAccount, what: str, params: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    url = f"{REAL_API}/2010-04-01/Accounts/{account.sid}{what}.json"
    auth = (account.sid, account.auth_token)
    answer = wire.request("GET", url, params=params, auth=auth, allow_redirects=False)
    try:
        body = json.loads(answer.text)
    except ValueError as error:
        message = "no JSON"
        raise NoCarrierAnswer(message) from error
    return answer.status_code, body if isinstance(body, dict) else {}
