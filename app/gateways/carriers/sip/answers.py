"""The meaning of the trunk's SIP answers for a call."""

from dataclasses import dataclass

from app.enums import EndedReason

BUSY_TRUNK_SECONDS = 10.0
"""The pause if the trunk asks to wait without a duration."""
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 3600.0
_REASONS = {
    401: EndedReason.CARRIER_ERROR,
    403: EndedReason.REJECTED,
    404: EndedReason.NUMBER_INVALID,
    407: EndedReason.CARRIER_ERROR,
    408: EndedReason.NO_ANSWER,
    410: EndedReason.NUMBER_INVALID,
    480: EndedReason.NO_ANSWER,
    484: EndedReason.NUMBER_INVALID,
    486: EndedReason.BUSY,
    487: EndedReason.NO_ANSWER,
    600: EndedReason.BUSY,
    603: EndedReason.REJECTED,
    604: EndedReason.NUMBER_INVALID,
    607: EndedReason.REJECTED,
    608: EndedReason.REJECTED,
}
WRONG_CREDENTIALS = "The trunk did not accept the account's user and password; no call was placed."


@dataclass(frozen=True, slots=True)
class TrunkRefusal:
    """Why the trunk ended the call. ``is_definite``: it never rang; ``pause``: seconds after which
    the same request may be repeated."""

    code: int
    reason: EndedReason
    message: str
    is_definite: bool = False
    pause: float | None = None


def refusal(
    code: int, phrase: str, retry_after: str = "", *, has_rung: bool = False
) -> TrunkRefusal:
    """Return the meaning of the final answer to an INVITE, from 300 on."""
    if code in {401, 407}:
        return TrunkRefusal(code, EndedReason.CARRIER_ERROR, WRONG_CREDENTIALS, is_definite=True)
    message = f"The trunk answered {code} {phrase}".strip()[:300] + "."
    if code == 503 and not has_rung:
        return TrunkRefusal(
            code, EndedReason.CARRIER_ERROR, message, pause=retry_after_seconds(retry_after)
        )
    reason = _REASONS.get(code, EndedReason.CARRIER_ERROR)
    definite = reason in {EndedReason.REJECTED, EndedReason.NUMBER_INVALID} and not has_rung
    return TrunkRefusal(code, reason, message, is_definite=definite)


def is_answer(event: str | None, text: str) -> bool:
    """Whether this baresip event comes after an answer to the INVITE; a request for the password
    does not count as one."""
    if event == "CALL_CLOSED":
        return text[:3].isdigit() and text[:3] not in {"401", "407"}
    return event in {"CALL_RINGING", "CALL_PROGRESS", "CALL_ESTABLISHED"}


def retry_after_seconds(retry_after: str) -> float:
    """Return the seconds of SIP's ``Retry-After``, which may have a comment or parameters behind
    them."""
    seconds = retry_after.partition(";")[0].partition("(")[0].strip()
    if not (seconds.isascii() and seconds.isdigit()):
        return BUSY_TRUNK_SECONDS
    return min(max(float(seconds), MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)
