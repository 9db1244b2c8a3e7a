"""Twilio as the carrier, through its official SDK.

The attempt's id is the query parameter ``attempt`` of every URL that Twilio gets.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin

from app.enums import CarrierKind, EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierReport,
    ListedCall,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
    PlacementVerdict,
    UnknownAtCarrier,
)
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.call_reports import parse_moment, state_of_call
from app.gateways.carriers.twilio.wire import REAL_API, TwilioHttpClient
from app.models import utcnow

if TYPE_CHECKING:
    from twilio.base.exceptions import TwilioRestException

RING_SECONDS = 30
EVENTS = ["initiated", "ringing", "answered", "completed"]
CLOCK_SLACK = timedelta(seconds=30)
"""Maximum difference of our clock and Twilio's, including its whole seconds."""
PAGE = 100
MAX_PAGES = 5
PAGE_SIZE = 1000
MAX_LISTED_PAGES = 100
_NUMBER_CODES = frozenset({13223, 13224, 21211, 21214, 21217, 21219, 21401, 21421})
"""Twilio's error codes for a number that can't be called."""


class TwilioCarrier:
    kind = CarrierKind.TWILIO
    charges = True

    def __init__(self, account: TwilioAccount):
        self._account = account
        self._asking = self._client(keeps_connections=False)
        """For requests that must not be sent over a connection that is being closed."""
        self._reading = self._client(keeps_connections=True)

    @property
    def settle_seconds(self) -> float:
        """The longest time that a request may take, plus the delay of the list."""
        return self._account.request_seconds + self._account.settle_seconds

    @property
    def silence_seconds(self) -> float:
        return self._account.silence_seconds

    def place(self, placement: CallPlacement) -> CarrierReport:
        from twilio.base.exceptions import (
            TwilioException,
            TwilioRestException,
        )

        try:
            call = self._asking.calls.create(
                to=placement.to_number,
                from_=placement.from_number,
                url=self._address("answer", placement),
                method="POST",
                status_callback=self._address("status", placement),
                status_callback_method="POST",
                status_callback_event=EVENTS,
                machine_detection="DetectMessageEnd",
                timeout=RING_SECONDS,
                time_limit=self._account.longest_call_seconds,
                **self._recording(placement),
            )
        except TwilioRestException as refusal:
            raise _to_rejection(refusal) from refusal
        except (TwilioException, ValueError, KeyError, TypeError) as error:
            raise NoCarrierAnswer(type(error).__name__) from error
        if not call.sid:
            message = "the answer names no call"
            raise NoCarrierAnswer(message)
        return CarrierReport(PlacementVerdict.PLACED, str(call.sid), (), self._next_look())

    def _recording(self, placement: CallPlacement) -> dict[str, Any]:
        """Return the parameters of a call that is recorded; empty if calls aren't."""
        if not self._account.records:
            return {}
        return {
            "record": True,
            "recording_channels": "mono",
            "recording_status_callback": self._address("recording", placement),
            "recording_status_callback_method": "POST",
            "recording_status_callback_event": ["completed"],
        }

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:
        if inquiry.reference is not None:
            call = self._read(self._uri(inquiry.reference), {})
        else:
            candidates = self._candidates(inquiry)
            own_call = _find_own_call(candidates, inquiry)
            if own_call is None:
                return CarrierReport(
                    PlacementVerdict.UNSURE if candidates else PlacementVerdict.NOT_PLACED
                )
            call = own_call
        if not call.get("sid"):
            message = "the answer names no call"
            raise NoCarrierAnswer(message)
        state = state_of_call(call, utcnow(), self._next_look())
        is_guessed = inquiry.reference is None and _attempt_id_of(call) is None
        return replace(state, is_guessed=is_guessed)

    def hang_up(self, inquiry: AttemptInquiry) -> bool:
        if inquiry.reference is None:
            return False
        from twilio.base.exceptions import (
            TwilioException,
            TwilioRestException,
        )

        try:
            self._asking.calls(inquiry.reference).update(status="completed")
        except TwilioRestException as refusal:
            if refusal.status in {401, 403}:
                raise NoCarrierAnswer(str(refusal.status)) from refusal
            return False
        except (TwilioException, PlacementDelayed, ValueError, KeyError, TypeError) as error:
            raise NoCarrierAnswer(type(error).__name__) from error
        return True

    def placed_since(self, since: datetime) -> Iterator[ListedCall]:
        for number, page in enumerate(self._pages({"PageSize": PAGE_SIZE}, since)):
            if number == MAX_LISTED_PAGES:
                message = "the list of calls is too long"
                raise NoCarrierAnswer(message)
            yield from self._outbound(page)

    def _outbound(self, page: list[Mapping[str, Any]]) -> Iterator[ListedCall]:
        for call in page:
            began = parse_moment(call.get("start_time")) or parse_moment(call.get("date_created"))
            is_ours = str(call.get("direction") or "outbound").startswith("outbound")
            if is_ours and began is not None and call.get("sid"):
                state = state_of_call(call, utcnow(), self._next_look())
                yield ListedCall(str(call.get("to")), str(call.get("from")), began, state)

    def _candidates(self, inquiry: AttemptInquiry) -> list[Mapping[str, Any]]:
        """Return the calls between the two numbers since the attempt that may belong to it."""
        numbers = {"To": inquiry.to_number, "From": inquiry.from_number, "PageSize": PAGE}
        pages = self._pages(numbers, inquiry.asked_at - CLOCK_SLACK)
        first_pages = islice(pages, MAX_PAGES)
        return [call for page in first_pages for call in page if _may_be_own(call, inquiry)]

    def _pages(
        self, query: dict[str, object], since: datetime
    ) -> Iterator[list[Mapping[str, Any]]]:
        """Read the pages of a list of calls. Raises `NoCarrierAnswer`."""
        uri: str | None = self._uri()
        params = query | {"StartTime>": since.strftime("%Y-%m-%dT%H:%M:%SZ")}
        while uri:
            page = self._read(uri, params)
            calls = page.get("calls")
            if not isinstance(calls, list):
                message = "the answer isn't a list of calls"
                raise NoCarrierAnswer(message)
            yield calls
            following, params = page.get("next_page_uri"), {}
            uri = urljoin(REAL_API, following) if following else None

    def _read(self, uri: str | None, params: dict[str, object]) -> Mapping[str, Any]:
        """Read a resource from its JSON: the SDK's classes drop unknown values."""
        try:
            answer = self._reading.request("GET", uri or self._uri(), params=params)
            data = json.loads(answer.content)
        except PlacementDelayed as refusal:
            raise NoCarrierAnswer(str(refusal)) from refusal
        except (ValueError, TypeError) as error:
            raise NoCarrierAnswer(type(error).__name__) from error
        if answer.status_code != 200 or not isinstance(data, dict):
            message = f"status {answer.status_code}"
            raise (UnknownAtCarrier if answer.status_code == 404 else NoCarrierAnswer)(message)
        return data

    def _uri(self, reference: str | None = None) -> str:
        name = f"Calls/{reference}.json" if reference else "Calls.json"
        return f"{REAL_API}/2010-04-01/Accounts/{self._account.sid}/{name}"

    def _address(self, name: str, placement: CallPlacement) -> str:
        query = urlencode({"attempt": str(placement.attempt_id)})
        return f"{self._account.public_url}/carrier/twilio/{name}?{query}"

    def _next_look(self) -> datetime:
        return utcnow() + timedelta(seconds=self._account.poll_seconds)

    def _client(self, *, keeps_connections: bool) -> Any:
        from twilio.rest import Client

        account = self._account
        wire = TwilioHttpClient(
            account.api_url, account.request_seconds, keeps_connections=keeps_connections
        )
        return Client(account.sid, account.auth_token, http_client=wire)


def _to_rejection(refusal: "TwilioRestException") -> PlacementRejected:
    message = f"The carrier refused: {refusal.msg}"[:400]
    code = str(refusal.code or refusal.status)
    if refusal.status in {401, 403, 404}:
        return PlacementRejected(message, EndedReason.CARRIER_ERROR, code)
    if refusal.code in _NUMBER_CODES:
        return PlacementRejected(message, EndedReason.NUMBER_INVALID, code)
    return PlacementRejected(message, code=code)


def _may_be_own(call: Mapping[str, Any], inquiry: AttemptInquiry) -> bool:
    if call.get("sid") in inquiry.taken:
        return False
    numbers = call.get("to", inquiry.to_number), call.get("from", inquiry.from_number)
    if numbers != (inquiry.to_number, inquiry.from_number):
        return False
    if (marked := _attempt_id_of(call)) is not None:
        return marked == str(inquiry.attempt_id)
    began = parse_moment(call.get("date_created")) or parse_moment(call.get("start_time"))
    return began is None or began >= inquiry.asked_at - CLOCK_SLACK


def _attempt_id_of(call: Mapping[str, Any]) -> str | None:
    """Return the attempt in one of the call's URLs, if the carrier lists them."""
    for value in call.values():
        if isinstance(value, str) and "attempt=" in value:
            return value.partition("attempt=")[2][:36]
    return None


def _find_own_call(
    candidates: list[Mapping[str, Any]], inquiry: AttemptInquiry
) -> Mapping[str, Any] | None:
    """Return the attempt's own call among the candidates; None if it isn't certain.

    Attempts to the same number whose answers were lost as well get their calls in the order in
    which they began, once there is one call for each.
    """
    for call in candidates:
        if _attempt_id_of(call) is not None:
            return call
    if len(candidates) <= inquiry.rivals:
        return None
    ordered = sorted(candidates, key=_start_key)
    return ordered[len(ordered) - inquiry.rivals - 1 + inquiry.position]


def _start_key(call: Mapping[str, Any]) -> tuple[float, str]:
    began = parse_moment(call.get("date_created")) or parse_moment(call.get("start_time"))
    return (began.timestamp() if began else 0.0, str(call.get("sid")))
