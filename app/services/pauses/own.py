"""The pause that the administrators of a partner set and end; those of operators are others."""

from sqlalchemy.orm import Session

from app.errors import NotFound, Sentence
from app.models import DispatchPause
from app.policy import Permission
from app.policy.caller import Caller
from app.services.pauses import pauses

BY_ADMIN = str(Sentence.gettext("a partner admin paused all calls"))


def pause_own(session: Session, caller: Caller) -> DispatchPause:
    """Hold the calls of all organizations of the caller's partner. Raises `Forbidden` and, for
    operators, `NotFound`."""
    return pauses.pause(session, caller, _scope(caller), BY_ADMIN)


def resume_own(session: Session, caller: Caller) -> bool:
    """End the pause; False if there was none. Raises as `pause_own`."""
    return pauses.resume(session, caller, _scope(caller))


def _scope(caller: Caller) -> pauses.Scope:
    caller.require(Permission.PARTNER_WRITE)
    if caller.partner_id is None:
        raise NotFound
    return pauses.Scope(partner_id=caller.partner_id, is_own=True)
