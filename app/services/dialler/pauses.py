"""Pauses of dialling: for everybody, for one carrier, for one partner.

Calls go on being accepted; those whose turn comes are held, in no queue, until no pause covers
them any more. Calls on the line go on.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Exists, delete, exists, or_, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind
from app.errors import NotFound, ValidationFailed
from app.gateways.job_queue import enqueue_call
from app.models import Call, DiallingPause, HeldCall, Partner, new_id, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.calls.states import WAITING, note

ALL = "all"
LOOK_AGAIN = timedelta(seconds=5)
"""How soon an attempt that the carrier put off is looked at again during a pause."""
LONGEST_REASON = 300
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Scope:
    """What a pause covers: a carrier, a partner, or with neither everything."""

    carrier: CarrierKind | None = None
    partner_id: UUID | None = None

    @property
    def key(self) -> str:
        if self.carrier is not None:
            return f"carrier:{self.carrier.value}"
        return ALL if self.partner_id is None else f"partner:{self.partner_id}"


def pause(session: Session, caller: Caller, scope: Scope, reason: str) -> DiallingPause:
    """Nothing that ``scope`` covers is dialled from now on. A pause of before stays, with the new
    reason. Raises `NotFound` (``partner_not_found``), `ValidationFailed`."""
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        message = f"A pause has a reason of 1 to {LONGEST_REASON} characters."
        raise ValidationFailed.on("reason", "invalid_reason", message)
    _check_partner(session, scope)
    found = session.get(DiallingPause, scope.key, with_for_update=True)
    before = found.reason if found else None
    if found is None:
        found = DiallingPause(
            scope=scope.key,
            carrier=scope.carrier,
            partner_id=scope.partner_id,
            reason=reason,
            paused_by=caller.label[:200],
        )
        session.add(found)
    found.reason = reason
    _record(session, caller, scope, "dialling.paused", before, reason)
    session.flush()
    return found


def resume(session: Session, caller: Caller, scope: Scope) -> bool:
    """Ends the pause; False where there was none. The worker takes up what it held."""
    _check_partner(session, scope)
    found = session.get(DiallingPause, scope.key, with_for_update=True)
    if found is None:
        return False
    session.delete(found)
    _record(session, caller, scope, "dialling.resumed", found.reason, None)
    session.flush()
    return True


def listing(session: Session) -> list[DiallingPause]:
    """Every pause: for all first, then the oldest."""
    query = select(DiallingPause).order_by(DiallingPause.scope != ALL, DiallingPause.paused_at)
    return list(session.scalars(query))


def covering(session: Session, caller: Caller) -> list[DiallingPause]:
    """The pauses that the caller should know of: an operator of all, others of those that may
    hold their calls."""
    if caller.partner_id is None:
        return listing(session) if caller.is_operator else []
    mine = DiallingPause.partner_id.is_(None) | (DiallingPause.partner_id == caller.partner_id)
    query = select(DiallingPause).where(mine)
    return list(session.scalars(query.order_by(DiallingPause.scope != ALL, DiallingPause.scope)))


def of_call(session: Session, call: Call) -> DiallingPause | None:
    """The pause that covers the call now, the widest first."""
    return of_line(session, call.partner_id, call.carrier)


def is_covered(call: Call) -> Exists:
    """Whether `of_call` would find one, as a part of a query."""
    scopes = _scopes(call.partner_id, call.carrier)
    return exists().where(DiallingPause.scope.in_(scopes))


def of_line(session: Session, partner_id: UUID, carrier: CarrierKind) -> DiallingPause | None:
    """The pause that covers the partner's calls over the carrier now, the widest first."""
    scopes = _scopes(partner_id, carrier)
    query = select(DiallingPause).where(DiallingPause.scope.in_(scopes))
    found = session.scalars(query, execution_options={"populate_existing": True}).all()
    return min(found, key=lambda pause: scopes.index(pause.scope), default=None)


def _scopes(partner_id: UUID, carrier: CarrierKind) -> tuple[str, ...]:
    return ALL, Scope(carrier=carrier).key, Scope(partner_id=partner_id).key


def sentence(pause: DiallingPause) -> str:
    """Why a call waits, in the words that its page shows."""
    return f"Dialling is paused: {pause.reason}"


def hold_where_paused(session: Session, call: Call) -> bool:
    """Keeps a call that waits until no pause covers it; False where none does. ``call`` is
    locked."""
    pause = of_call(session, call)
    if pause is None:
        return False
    now, words = utcnow(), sentence(pause)
    call.status, call.next_attempt_at = CallStatus.QUEUED, None
    held = session.get(HeldCall, call.id)
    if held is None or call.status_detail != words:
        call.status_detail = words
        kind = f"held:{now.isoformat()}"
        note(session, call, kind, CallStatus.QUEUED, at=now, detail=words)
    if held is None:
        session.add(
            HeldCall(
                call_id=call.id,
                partner_id=call.partner_id,
                carrier=call.carrier,
                expires_at=call.expires_at,
            )
        )
    return True


def any_to_release(session: Session) -> bool:
    """Whether `release` would find something."""
    return session.scalar(select(HeldCall.call_id).where(_free()).limit(1)) is not None


def release(session: Session) -> int:
    """Hands in the held calls that no pause covers any more, in the order in which they were
    accepted, and those that have expired; at most `AT_ONCE`, returns how many."""
    some = (
        select(HeldCall.call_id)
        .where(_free())
        .order_by(HeldCall.call_id)
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    ids = list(session.scalars(some))
    calls = session.execute(
        select(Call.id, Call.organization_id, Call.status).where(Call.id.in_(ids)).order_by(Call.id)
    )
    for call_id, organization_id, status in calls:
        if status in WAITING:
            enqueue_call(
                session, call_id=call_id, attempt_id=new_id(), organization_id=organization_id
            )
    session.execute(delete(HeldCall).where(HeldCall.call_id.in_(ids)))
    return len(ids)


def _free() -> ColumnElement[bool]:
    covers = or_(
        DiallingPause.scope == ALL,
        DiallingPause.partner_id == HeldCall.partner_id,
        DiallingPause.carrier == HeldCall.carrier,
    )
    paused = exists().where(covers).correlate(HeldCall)
    return or_(~paused, HeldCall.expires_at <= utcnow())


def _check_partner(session: Session, scope: Scope) -> None:
    if scope.partner_id is not None and session.get(Partner, scope.partner_id) is None:
        message = "There is no such partner."
        raise NotFound(message, "partner_not_found")


def _record(
    session: Session,
    caller: Caller,
    scope: Scope,
    action: str,
    before: str | None,
    after: str | None,
) -> None:
    audit.record(
        session,
        caller,
        action=action,
        target_type="dialling",
        target_id=scope.key,
        partner_id=scope.partner_id,
        before={"reason": before},
        after={"reason": after},
    )
