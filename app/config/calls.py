"""Settings of every call of an installation."""

from dataclasses import dataclass

from app.config.trial import DEFAULT_LIMITS, TrialLimits
from app.enums import CarrierKind

MAX_CALL_MINUTES = 60
"""Minutes of the longest call, where the installation's setting isn't known."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """``carrier`` is used where neither the organization nor the partner has a carrier account,
    ``calls_at_once`` is the limit of an organization without its own. An accepted call that can't
    be placed ends after ``expiry_hours``; a worker without a heartbeat is offline after
    ``worker_silent_after`` seconds."""

    carrier: CarrierKind = CarrierKind.SIMULATOR
    calls_at_once: int = 5
    calls_per_second: float = 0
    trial_limits: TrialLimits = DEFAULT_LIMITS
    max_call_minutes: int = MAX_CALL_MINUTES
    expiry_hours: float = 24
    worker_silent_after: float = 6.0
