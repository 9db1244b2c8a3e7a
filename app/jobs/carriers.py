"""The carrier of an attempt: the installation's, or that of a carrier account, opened on first
use."""

from threading import Lock
from uuid import UUID

from app.config import Settings
from app.database import Database
from app.enums import CarrierKind, EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    Carrier,
    CarrierReport,
    NoCarrierAnswer,
    PlacementRejected,
)
from app.gateways.carriers.factory import open_account
from app.jobs.carrier_statistics import CarrierStatistics, CountedCarrier
from app.services import carrier_accounts


class CarrierRegistry:
    """``own`` are the installation's carriers."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        own: dict[CarrierKind, Carrier],
        watch: CarrierStatistics,
    ):
        self._settings = settings
        self._database = database
        self._own: dict[CarrierKind, Carrier] = {
            kind: CountedCarrier(carrier, watch) for kind, carrier in own.items()
        }
        self._watch = watch
        self._lock = Lock()
        self._opened: dict[UUID, tuple[int, Carrier]] = {}

    def of(self, kind: CarrierKind, account_id: UUID | None) -> Carrier:
        """Return the carrier; one that refuses every call if the account can't be used any more."""
        if account_id is None:
            return self._own.get(kind) or ClosedCarrier(kind)
        with self._database.transaction(read_only=True) as session:
            keys = self._settings.secret_keys
            account = carrier_accounts.credentials(session, keys, account_id)
        if account is None:
            return ClosedCarrier(kind)
        with self._lock:
            version, carrier = self._opened.get(account_id, (0, None))
            if carrier is None or version != account.version:
                carrier = open_account(self._settings, account)
                if carrier.kind is CarrierKind.TWILIO:  # its outages concern every account
                    carrier = CountedCarrier(carrier, self._watch, is_own=False)
                self._opened[account_id] = account.version, carrier
            return carrier

    def charging(self) -> list[CarrierKind]:
        """Return the carriers that report costs; all carrier accounts are with one of them."""
        operator_carriers = [kind for kind, carrier in self._own.items() if carrier.charges]
        return list({*operator_carriers, CarrierKind.TWILIO})


class ClosedCarrier:
    """Replaces an account that can't be used any more."""

    charges = False
    settle_seconds = 0.0
    silence_seconds = 60.0

    def __init__(self, kind: CarrierKind):
        self.kind = kind

    def place(self, placement: CallPlacement) -> CarrierReport:  # noqa: ARG002 - the protocol's
        message = "The carrier account of this call can no longer be used."
        raise PlacementRejected(message, EndedReason.CARRIER_ERROR)

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:  # noqa: ARG002 - as above
        message = "no account to ask with"
        raise NoCarrierAnswer(message)

    def hang_up(self, inquiry: AttemptInquiry) -> bool:  # noqa: ARG002 - as above
        message = "no account to ask with"
        raise NoCarrierAnswer(message)
