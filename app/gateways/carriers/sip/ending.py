"""How a call's process ends: the final entry of its ledger."""

from typing import Any

from app.enums import EndedReason
from app.gateways.carriers.sip.answers import Refusal
from app.gateways.carriers.sip.ledger import Fact

UNREACHED_SECONDS = 10.0
"""The pause after a trunk that was unreachable: no call was placed."""


class Over(Exception):
    """The call is over, or never began: its final entry and details."""

    def __init__(self, fact: Fact, **more: Any):
        super().__init__(fact)
        self.fact = fact
        self.more = more


def ended(reason: EndedReason, words: str = "", *, definite: bool = False) -> Over:
    """``definite``: the phone has not rung and never will."""
    return Over(Fact.ENDED, reason=reason.value, words=words, definite=definite)


def closed_by(refusal: Refusal) -> Over:
    """The trunk ended the call, or asked to try later."""
    over = ended(refusal.reason, refusal.words, definite=refusal.is_definite)
    if refusal.pause is not None:
        over = Over(Fact.DELAYED, seconds=refusal.pause, words=refusal.words)
    over.more["code"] = str(refusal.code)
    return over


def unreached(words: str) -> Over:
    """Return the end of an attempt whose server could not be reached."""
    return Over(Fact.DELAYED, seconds=UNREACHED_SECONDS, words=words, unreached=True)
