"""Accounts that partners bring along: what opens one, and what a test of it finds."""

from dataclasses import dataclass, field
from uuid import UUID

from app.enums import CarrierKind
from app.gateways.carriers.sip.account import Trunk


@dataclass(frozen=True, slots=True)
class Credentials:
    """``secret`` is Twilio's token to its ``sid``, or the password of the user of a SIP ``trunk``,
    which may be empty. ``version`` changes with any of it."""

    account_id: UUID
    version: int
    secret: str = field(repr=False)
    sid: str = ""
    trunk: Trunk | None = None

    @property
    def kind(self) -> CarrierKind:
        return CarrierKind.SIP if self.trunk else CarrierKind.TWILIO


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence or two about what works, or what is wrong."""

    works: bool
    words: str = ""
