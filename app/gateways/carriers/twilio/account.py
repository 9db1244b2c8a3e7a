"""The configuration of a Twilio account."""

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class TwilioAccount:
    """``api_url``, if set, replaces the real API's base URL. ``public_url`` is where Twilio reaches
    us. ``request_seconds`` is the timeout for an answer, ``settle_seconds`` for a call to appear in
    the list, ``silence_seconds`` for a Twilio that doesn't answer and ``longest_call_seconds`` for
    the end of an answered call; ``poll_seconds`` are between two requests for a call. If it
    ``records``, answered calls are recorded."""

    sid: str
    auth_token: str
    public_url: str
    api_url: str = ""
    request_seconds: float = 10.0
    settle_seconds: float = 12.0
    poll_seconds: float = 15.0
    silence_seconds: float = 110.0
    longest_call_seconds: int = 3600
    records: bool = False


def is_installed() -> bool:
    """Return whether the extra ``twilio`` is installed, without which no account can be used."""
    return find_spec("twilio") is not None
