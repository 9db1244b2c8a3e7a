"""Reasons to hold calls back: pauses, carriers with problems, a database restored from a backup.

It is a layer below `app.services.calls`, which holds and releases the calls.
"""

from app.services.pauses.pauses import (
    CALLS_MAY_BE_MISSING,
    RECHECK,
    WIDEST_FIRST,
    PauseScope,
    any_seen,
    is_covered,
    is_of_organization,
    is_own,
    is_released,
    listing,
    of_call,
    of_carrier,
    of_organization,
    of_organizations,
    pause,
    pause_message,
    pause_own,
    resume,
    resume_command,
    resume_own,
    visible_pauses,
)
