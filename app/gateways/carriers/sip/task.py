"""The task that the worker gives to a call's process on its standard input."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from app.gateways.carriers.sip.account import SipAccount

SILENT_TRUNK_SECONDS = 40.0
"""How long to wait for an answer to an INVITE; SIP's own limit is 32 s."""


@dataclass(frozen=True, slots=True)
class SipCallTask:
    """One call. ``hand_over_to`` is empty if the call ends after the intro."""

    attempt_id: UUID
    to_number: str
    from_number: str
    intro: str
    voicemail: str
    hand_over_to: str
    account: SipAccount

    def written(self) -> bytes:
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "account"}
        account = {name: getattr(self.account, name) for name in self.account.__slots__}
        return json.dumps({**fields, "account": account}, default=str).encode()

    @classmethod
    def read(cls, text: bytes) -> "SipCallTask":
        fields: dict[str, Any] = json.loads(text)
        account = fields.pop("account")
        sounds = account.pop("sounds")
        account |= {"folder": Path(account["folder"]), "sounds": Path(sounds) if sounds else None}
        attempt_id = UUID(fields.pop("attempt_id"))
        return cls(attempt_id=attempt_id, account=SipAccount(**account), **fields)
