"""Pauses of calling: for everyone, for one carrier or for one partner.

Calls are still accepted; those whose turn comes are held until no pause covers them. Active calls
continue.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Exists, and_, exists, or_, select
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import CarrierKind
from app.errors import NotFound, Sentence, ValidationFailed, translate_stored
from app.languages import gettext
from app.models import Call, DispatchPause, HeldCall, Organization, Partner, utcnow
from app.models.audit import CALLING_PAUSE
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.tenancy import of_tenant

ALL, OWN = "all", "own:"
WIDEST_FIRST = (DispatchPause.scope != ALL, DispatchPause.paused_at)
RECHECK = timedelta(seconds=5)
"""How soon an attempt that the carrier wanted later is checked again during a pause."""
MAX_REASON_LENGTH = 300
BY_ADMIN = str(Sentence.gettext("a partner admin paused all calls"))
RESTORED = str(Sentence.gettext("restored from a backup"))
COPIED = str(Sentence.gettext("restored from a backup, or a copy of another installation"))
RECOVERED = str(
    Sentence.gettext(
        "the database was recovered or its standby took over; recent calls may be missing"
    )
)
NEW_HOST = str(
    Sentence.gettext("started on a new host after an outage; recent calls may be missing")
)
CALLS_MAY_BE_MISSING = frozenset({RESTORED, COPIED, RECOVERED, NEW_HOST})
"""The reasons after which calls are compared with the carrier before they resume."""

_PAUSED = Sentence.gettext("Calling is paused: %(reason_words)s")
_PAUSED_FOR = Sentence.gettext("Calling is paused (%(reason_words)s).")
"""Sentence for reasons that are no sentences."""


@dataclass(frozen=True, slots=True)
class PauseScope:
    """The scope of a pause: a carrier, a partner, one organization of the partner, or everything.
    ``is_own``: the partner's administrators paused it, not an operator."""

    carrier: CarrierKind | None = None
    partner_id: UUID | None = None
    organization_id: UUID | None = None
    is_own: bool = False

    @property
    def key(self) -> str:
        if self.carrier is not None:
            return f"carrier:{self.carrier.value}"
        if self.organization_id is not None:
            return f"organization:{self.organization_id}"
        if self.is_own:
            return f"{OWN}{self.partner_id}"
        return ALL if self.partner_id is None else f"partner:{self.partner_id}"


def pause(session: Session, caller: Caller, scope: PauseScope, reason: str) -> DispatchPause:
    """Dial nothing that ``scope`` covers from now on. An existing pause stays and gets the new
    reason. Raises `NotFound` (``partner_not_found``), `ValidationFailed`."""
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON_LENGTH:
        message = f"A pause has a reason of 1 to {MAX_REASON_LENGTH} characters."
        raise ValidationFailed.on("reason", "invalid_reason", message)
    _check_partner(session, scope)
    stored = session.get(DispatchPause, scope.key, with_for_update=True)
    before = stored.reason if stored else None
    if stored is None:
        stored = DispatchPause(
            scope=scope.key,
            carrier=scope.carrier,
            partner_id=scope.partner_id,
            organization_id=scope.organization_id,
            reason=reason,
            paused_by=caller.label[:200],
        )
        session.add(stored)
    stored.reason = reason
    _record(session, caller, scope, "paused", before, reason)
    session.flush()
    return stored


def resume(session: Session, caller: Caller, scope: PauseScope) -> bool:
    """End the pause; return False if there was none. The worker releases the held calls."""
    _check_partner(session, scope)
    stored = session.get(DispatchPause, scope.key, with_for_update=True)
    if stored is None:
        return False
    session.delete(stored)
    _record(session, caller, scope, "resumed", stored.reason, None)
    session.flush()
    return True


def pause_own(session: Session, caller: Caller) -> DispatchPause:
    """Hold the calls of all organizations of the caller's partner. Raises `Forbidden` and, for
    operators, `NotFound`."""
    return pause(session, caller, _own_scope(caller), BY_ADMIN)


def resume_own(session: Session, caller: Caller) -> bool:
    """End the pause; return False if there was none. Raises as `pause_own`."""
    return resume(session, caller, _own_scope(caller))


def _own_scope(caller: Caller) -> PauseScope:
    caller.require(Permission.PARTNER_WRITE)
    if caller.partner_id is None:
        raise NotFound
    return PauseScope(partner_id=caller.partner_id, is_own=True)


def listing(session: Session) -> list[DispatchPause]:
    """Return every pause: that of everything first, then the oldest. A read-only transaction reads
    them once."""
    query = select(DispatchPause).order_by(*WIDEST_FIRST)
    return read_once(session, ("pauses",), lambda: list(session.scalars(query)))


def visible_pauses(session: Session, caller: Caller) -> list[DispatchPause]:
    """Return the pauses that the caller may see: all for an operator, else those that may hold
    their calls."""
    if caller.partner_id is None:
        return listing(session) if caller.is_operator else []
    is_visible = DispatchPause.partner_id.is_(None) | (
        DispatchPause.partner_id == caller.partner_id
    )
    query = select(DispatchPause).where(is_visible, DispatchPause.organization_id.is_(None))
    return list(session.scalars(query.order_by(DispatchPause.scope != ALL, DispatchPause.scope)))


def any_seen(caller: Caller) -> ColumnElement[bool]:
    """Return whether a pause holds calls of the caller's partner, or some of them."""
    is_visible = DispatchPause.partner_id.is_(None) | (
        DispatchPause.partner_id == caller.partner_id
    )
    return exists().where(is_visible)


def of_call(session: Session, call: Call) -> DispatchPause | None:
    """Return the widest pause that covers the call now."""
    return of_carrier(session, call.partner_id, call.organization_id, call.carrier)


def is_covered(call: Call) -> Exists:
    """Return `of_call` as a condition of a query."""
    scopes = _scopes(call.partner_id, call.organization_id, call.carrier)
    return exists().where(DispatchPause.scope.in_(scopes))


def of_carrier(
    session: Session, partner_id: UUID, organization_id: UUID, carrier: CarrierKind
) -> DispatchPause | None:
    """Return the widest pause that covers the organization's calls over the carrier now."""
    scopes = _scopes(partner_id, organization_id, carrier)
    query = select(DispatchPause).where(DispatchPause.scope.in_(scopes))
    matches = session.scalars(query, execution_options={"populate_existing": True}).all()
    return min(matches, key=lambda pause: scopes.index(pause.scope), default=None)


def of_organizations(session: Session, caller: Caller) -> list[DispatchPause]:
    """Return the pauses of single organizations that the caller may see."""
    query = of_tenant(
        select(DispatchPause), caller, DispatchPause.partner_id, DispatchPause.organization_id
    ).where(DispatchPause.organization_id.is_not(None))
    return list(session.scalars(query.order_by(DispatchPause.paused_at.desc())))


def of_organization(session: Session, organization: Organization) -> DispatchPause | None:
    """Return the organization's own pause, not a wider one; the organization must come from its
    loader."""
    query = select(DispatchPause).where(is_of_organization(organization))
    return session.scalar(query, execution_options={"populate_existing": True})


def is_of_organization(organization: Organization) -> ColumnElement[bool]:
    """Return the condition of `of_organization`."""
    return DispatchPause.scope == PauseScope(organization_id=organization.id).key


def _scopes(partner_id: UUID, organization_id: UUID, carrier: CarrierKind) -> tuple[str, ...]:
    return (
        ALL,
        PauseScope(carrier=carrier).key,
        PauseScope(partner_id=partner_id).key,
        PauseScope(partner_id=partner_id, is_own=True).key,
        PauseScope(organization_id=organization_id).key,
    )


def is_own(pause: DispatchPause) -> bool:
    """Return whether the partner's administrators paused it, and may resume."""
    return pause.scope.startswith(OWN)


def pause_message(pause: DispatchPause) -> str:
    """Return why a call waits, as its page shows it."""
    template = _PAUSED if pause.reason.endswith(".") else _PAUSED_FOR
    return template(reason_words=translate_stored(pause.reason))


def resume_command(pause: DispatchPause) -> str:
    """Return the command that ends the pause, for operators."""
    return "flask calls reconcile" if pause.reason in CALLS_MAY_BE_MISSING else "flask calls resume"


def is_released() -> ColumnElement[bool]:
    """Return the condition that no pause covers a `HeldCall` any more, or that its call has
    expired."""
    organization = select(Call.organization_id).where(Call.id == HeldCall.call_id).scalar_subquery()
    covers = or_(
        DispatchPause.scope == ALL,
        and_(
            DispatchPause.partner_id == HeldCall.partner_id,
            or_(
                DispatchPause.organization_id.is_(None),
                DispatchPause.organization_id == organization,
            ),
        ),
        DispatchPause.carrier == HeldCall.carrier,
    )
    paused = exists().where(covers).correlate(HeldCall)
    return or_(~paused, HeldCall.expires_at <= utcnow())


def _check_partner(session: Session, scope: PauseScope) -> None:
    if scope.partner_id is not None and session.get(Partner, scope.partner_id) is None:
        message = gettext("There is no such partner.")
        raise NotFound(message, "partner_not_found")


def _record(
    session: Session,
    caller: Caller,
    scope: PauseScope,
    verb: str,
    before: str | None,
    after: str | None,
) -> None:
    audit.record(
        session,
        caller,
        action=f"{CALLING_PAUSE}.{verb}",
        target_type=CALLING_PAUSE,
        target_id=scope.key,
        partner_id=scope.partner_id,
        organization_id=scope.organization_id,
        before={"reason": before},
        after={"reason": after},
    )
