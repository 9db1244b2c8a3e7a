"""Which account of Twilio's is used, and how patiently."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TwilioAccount:
    """``api_url`` replaces the real API's base address where it is not empty. ``public_url`` is
    where Twilio reaches us. The waits are in seconds: for an answer (``request``), for the list
    of calls to show a call (``settle``), between two looks at a call (``poll``), for a Twilio
    that doesn't answer (``silence``)."""

    sid: str
    auth_token: str
    public_url: str
    api_url: str = ""
    request_seconds: float = 10.0
    settle_seconds: float = 12.0
    poll_seconds: float = 15.0
    silence_seconds: float = 110.0
