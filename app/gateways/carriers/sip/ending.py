"""How a call's process ends: the final entry of its ledger."""

from typing import Any

from app.enums import EndedReason
from app.gateways.carriers.sip.answers import TrunkRefusal
from app.gateways.carriers.sip.ledger import AttemptFact

UNREACHED_SECONDS = 10.0
"""The pause after a trunk that was unreachable: no call was placed."""


class CallOver(Exception):
    """The call is over, or never began: its final entry and details."""

    def __init__(self, fact: AttemptFact, **more: Any):
        super().__init__(fact)
        self.fact = fact
        self.more = more


def ended(reason: EndedReason, words: str = "", *, definite: bool = False) -> CallOver:
    """``definite``: the phone has not rung and never will."""
    return CallOver(AttemptFact.ENDED, reason=reason.value, words=words, definite=definite)


def closed_by(refusal: TrunkRefusal) -> CallOver:
    """The trunk ended the call, or asked to try later."""
    over = ended(refusal.reason, refusal.words, definite=refusal.is_definite)
    if refusal.pause is not None:
        over = CallOver(AttemptFact.DELAYED, seconds=refusal.pause, words=refusal.words)
    over.more["code"] = str(refusal.code)
    return over


def server_unreached(words: str) -> CallOver:
    """Return the end of an attempt whose server could not be reached."""
    return CallOver(AttemptFact.DELAYED, seconds=UNREACHED_SECONDS, words=words, unreached=True)
