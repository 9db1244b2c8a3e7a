"""Calls, from the request to their end. `states` has the table of states and moves."""

from app.services.calls.accept import CallScheduled, dry_run, schedule
from app.services.calls.cancel import cancel, cancel_for_contacts, cancel_waiting
from app.services.calls.figures import figures_of
from app.services.calls.preflight import CheckStatus, PreflightCheck, in_utc, preflight
from app.services.calls.queries import (
    LAST_DAY,
    TimelineEntry,
    attempts_of,
    describe,
    earlier_of,
    get,
    later_of,
    page,
    timeline,
)
from app.services.calls.request import CallRequest, CallTexts
from app.services.calls.searching import (
    CallSearch,
    count,
    count_if_few,
    get_many,
    has_imported,
    names_and_suspended,
    search,
    without_calls,
)
from app.services.calls.verification import request_verification, simulated_code
