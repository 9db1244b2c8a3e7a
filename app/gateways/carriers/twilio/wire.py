"""HTTP requests to Twilio, or to the server that replaces it: time limits, no repeats."""

import logging
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from app.gateways.carriers.base import NoCarrierAnswer, PlacementDelayed
from app.languages import gettext

REAL_API = "https://api.twilio.com"
UNREACHED_SECONDS = 10.0
"""Seconds to wait after a refused connection: nothing was sent."""
BUSY_SECONDS = 1.0
"""Seconds to wait if Twilio asks to wait without a duration, and the minimum: without a pause, a
busy carrier would be asked again and again."""
MAX_PAUSE_SECONDS = 3600.0


class TwilioHttpClient:
    """The SDK's HTTP client with another base URL, and with our errors.

    Raises `NoCarrierAnswer` for anything that is not an answer and `PlacementDelayed` if the
    request certainly had no effect.
    """

    def __init__(self, api_url: str, seconds: float, *, keeps_connections: bool):
        from twilio.http.http_client import TwilioHttpClient

        # Its own log contains numbers and URLs.
        quiet = logging.getLogger("app.gateways.carriers.twilio.wire")
        quiet.setLevel(logging.WARNING)
        self._client = TwilioHttpClient(
            pool_connections=keeps_connections, timeout=seconds, logger=quiet, max_retries=0
        )
        self._api_url = (api_url or REAL_API).rstrip("/")

    def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
        """As the SDK's own method."""
        from requests import RequestException

        if url.startswith(REAL_API):
            url = self._api_url + url.removeprefix(REAL_API)
        try:
            response = self._client.request(method, url, *args, **kwargs)
        except RequestException as error:
            if _refused_certificate(error):
                message = gettext("The carrier’s certificate was refused.")
                raise PlacementDelayed(message, UNREACHED_SECONDS, unreached=True) from error
            if _was_never_sent(error):
                message = gettext("The carrier could not be reached.")
                raise PlacementDelayed(message, UNREACHED_SECONDS, unreached=True) from error
            raise NoCarrierAnswer(type(error).__name__) from error
        if response.status_code == 429:
            message = gettext("The carrier asked to wait.")
            raise PlacementDelayed(message, pause_asked_for(response.headers))
        if response.status_code >= 500 or response.status_code == 408:
            message = f"status {response.status_code}"
            raise NoCarrierAnswer(message)
        return response


def _refused_certificate(error: Exception) -> bool:
    """Return whether the connection ended in its handshake, before anything was sent."""
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    cause = reason.args[0] if isinstance(reason, Exception) and reason.args else None
    return isinstance(cause, ssl.SSLCertVerificationError)


def _was_never_sent(error: Exception) -> bool:
    """Return whether no connection was made."""
    from requests import ConnectTimeout
    from urllib3.exceptions import NewConnectionError

    cause = error.args[0] if error.args else None
    never_connected = isinstance(getattr(cause, "reason", None), NewConnectionError)
    return never_connected or isinstance(error, ConnectTimeout)


def pause_asked_for(headers: Any) -> float:
    """Return ``Retry-After`` in seconds, from either format."""
    value = str((headers or {}).get("Retry-After", "")).strip()
    try:
        if value.isascii() and value.isdigit():
            seconds = float(value)
        else:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return BUSY_SECONDS
    return min(max(seconds, BUSY_SECONDS), MAX_PAUSE_SECONDS)
