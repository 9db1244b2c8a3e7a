"""Carrier accounts of partners: their credentials, and the result of a test."""

from dataclasses import dataclass, field
from uuid import UUID

from app.enums import CarrierKind
from app.gateways.carriers.sip.account import Trunk


@dataclass(frozen=True, slots=True)
class AccountCredentials:
    """``secret`` is the token of Twilio's ``sid``, or the password of the user of a SIP ``trunk``,
    which may be empty. ``version`` changes with any of them."""

    account_id: UUID
    version: int
    secret: str = field(repr=False)
    sid: str = ""
    trunk: Trunk | None = None

    @property
    def kind(self) -> CarrierKind:
        return CarrierKind.SIP if self.trunk else CarrierKind.TWILIO


@dataclass(frozen=True, slots=True)
class AccountTestResult:
    """A sentence or two about what works, or what is wrong."""

    works: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class ListedNumbers:
    """The numbers, in E.164, that calls over an account may come from; ``message`` says why the
    list couldn't be read."""

    works: bool
    numbers: frozenset[str] = frozenset()
    message: str = ""
