"""The line that an attempt goes out over: the installation's, or that of an account, opened when
it is first needed."""

from threading import Lock
from uuid import UUID

from app.config import Settings
from app.database import Database
from app.enums import CarrierKind, EndedReason
from app.gateways.carriers.base import (
    Carrier,
    Inquiry,
    LineState,
    NoCarrierAnswer,
    Placement,
    PlacementRejected,
)
from app.gateways.carriers.opening import open_account
from app.jobs.watching import Watch, Watched
from app.services import carrier_accounts


class Lines:
    """``own`` are the installation's."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        own: dict[CarrierKind, Carrier],
        watch: Watch,
    ):
        self._settings = settings
        self._database = database
        self._own: dict[CarrierKind, Carrier] = {
            kind: Watched(line, watch) for kind, line in own.items()
        }
        self._watch = watch
        self._lock = Lock()
        self._opened: dict[UUID, tuple[int, Carrier]] = {}

    def of(self, kind: CarrierKind, account_id: UUID | None) -> Carrier:
        """Where nothing opens the account any more, a line that takes no call."""
        if account_id is None:
            return self._own.get(kind) or Closed(kind)
        with self._database.transaction(read_only=True) as session:
            keys = self._settings.secret_keys
            found = carrier_accounts.credentials(session, keys, account_id)
        if found is None:
            return Closed(kind)
        with self._lock:
            version, line = self._opened.get(account_id, (0, None))
            if line is None or version != found.version:
                line = open_account(self._settings, found)
                if line.kind is CarrierKind.TWILIO:  # where it is away, it is so for everybody
                    line = Watched(line, self._watch, is_own=False)
                self._opened[account_id] = found.version, line
            return line

    def charging(self) -> list[CarrierKind]:
        """The carriers that say what calls cost; accounts are all with one that does."""
        own = [kind for kind, line in self._own.items() if line.charges]
        return list({*own, CarrierKind.TWILIO})


class Closed:
    """In place of an account that can't be used any more."""

    charges = False
    settle_seconds = 0.0
    silence_seconds = 60.0

    def __init__(self, kind: CarrierKind):
        self.kind = kind

    def place(self, placement: Placement) -> LineState:  # noqa: ARG002 - the protocol's
        message = "The carrier account of this call can’t be used any more."
        raise PlacementRejected(message, EndedReason.CARRIER_ERROR)

    def look_up(self, inquiry: Inquiry) -> LineState:  # noqa: ARG002 - as above
        message = "no account to ask with"
        raise NoCarrierAnswer(message)

    def hang_up(self, inquiry: Inquiry) -> bool:  # noqa: ARG002 - as above
        message = "no account to ask with"
        raise NoCarrierAnswer(message)
