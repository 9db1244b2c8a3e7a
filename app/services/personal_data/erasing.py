"""Erasing a subject: requested once, carried out by the worker in short transactions.

The steps may run again after an interruption: each finds only what is left.
`app.jobs.erase_subject` calls them in order.
"""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.enums import ErasureStatus, SubjectKind
from app.errors import Forbidden, NotFound
from app.gateways.job_queue import enqueue_job
from app.languages import gettext
from app.models import Erasure, User, is_erased, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit, users
from app.services.personal_data import preview
from app.services.personal_data.subjects import DataSubject, of_erasure, with_contacts
from app.services.tenancy import fetch, of_tenant

ENDED = (ErasureStatus.DONE, ErasureStatus.FAILED)
MAX_COMMIT_TIME = timedelta(minutes=1)
"""How long after their creation contacts may become visible to others."""


def request(session: Session, caller: Caller, subject: DataSubject) -> Erasure:
    """Request the erasure of a person; return an existing request instead of another.

    A user is deactivated at once. Raises `Forbidden` (``own_account``, ``role_too_low``),
    `NotFound` for a user who is erased, and `Conflict` (``last_partner_admin``) and as
    `users.deactivate`.
    """
    caller.require_write()
    caller.require(Permission.PERSONAL_DATA)
    organization_id = subject.organization_id
    if subject.kind is SubjectKind.USER:
        organization_id = _deactivate_user(session, caller, subject).organization_id
    running = select(Erasure).where(
        Erasure.subject_id == subject.subject_id, Erasure.status.not_in(ENDED)
    )
    existing = session.scalar(running)
    if existing is not None:
        return existing
    known_counts = preview.erased(preview.erasure_lines(session, subject))
    erasure = Erasure(
        id=new_id(),
        partner_id=subject.partner_id,
        organization_id=organization_id,
        kind=subject.kind,
        subject_id=subject.subject_id,
        pseudonym=f"erased-{secrets.token_hex(4)}",
        status=ErasureStatus.WAITING,
        sought={**subject.stored(), "known": known_counts},
        requested_by=caller.label[:200],
        requested_by_id=caller.subject_id,
    )
    session.add(erasure)
    session.flush()
    _record_erasure(session, caller, erasure, "erasure_requested", {})
    _enqueue_erasure(session, erasure)
    return erasure


def retry(session: Session, caller: Caller, erasure_id: UUID) -> None:
    """Continue a failed erasure where it ended; no effect on any other. Raises `Forbidden` and
    `NotFound`."""
    caller.require_write()
    erasure = _lock_erasure(session, get(session, caller, erasure_id).id)
    if erasure.status is not ErasureStatus.FAILED:
        return
    erasure.status, erasure.finished_at = ErasureStatus.WAITING, None
    session.flush()
    _record_erasure(session, caller, erasure, "erasure_requested", {})
    _enqueue_erasure(session, erasure)


def get(session: Session, caller: Caller, erasure_id: UUID) -> Erasure:
    """Return an erasure of the caller's partner and organization. Raises `Forbidden` and
    `NotFound`."""
    query = _visible_erasures(caller).where(Erasure.id == erasure_id)
    return fetch(
        session, query, NotFound(gettext("There is no such erasure."), "erasure_not_found")
    )


def latest(session: Session, caller: Caller, limit: int) -> Sequence[Erasure]:
    """Return the caller's last erasures, newest first. Raises `Forbidden`."""
    return session.scalars(_visible_erasures(caller).order_by(Erasure.id.desc()).limit(limit)).all()


def start_erasure(session: Session, erasure_id: UUID) -> tuple[DataSubject, str] | None:
    """Return the person to erase, with contacts that were added since the request, such as by an
    upload; and the pseudonym. None if it is done."""
    erasure = _lock_erasure(session, erasure_id)
    if erasure.status in ENDED:
        return None
    subject = of_erasure(erasure)
    if subject.kind is SubjectKind.CONTACT:
        subject = with_contacts(session, subject, erasure.created_at - MAX_COMMIT_TIME)
    erasure.status = ErasureStatus.RUNNING
    erasure.sought = {**(erasure.sought or {}), **subject.stored()}
    session.flush()
    return subject, erasure.pseudonym


def requested_at(session: Session, erasure_id: UUID) -> datetime:
    return session.get_one(Erasure, erasure_id).created_at


def count(session: Session, erasure_id: UUID, counts: Mapping[str, int]) -> None:
    """Add to what the erasure reports, in the transaction of the step."""
    erasure = _lock_erasure(session, erasure_id)
    erasure.counts = dict(sorted((Counter(erasure.counts) + Counter(counts)).items()))
    session.flush()


def finish(session: Session, erasure_id: UUID) -> None:
    """Forget what was looked for, and write to the history what was done: what was counted before,
    and what the worker found beyond that."""
    erasure = _lock_erasure(session, erasure_id)
    if erasure.status in ENDED:
        return
    known_counts = Counter((erasure.sought or {}).get("known", {}))
    erasure.counts = dict(sorted((known_counts | Counter(erasure.counts)).items()))
    erasure.status, erasure.sought, erasure.finished_at = ErasureStatus.DONE, None, utcnow()
    session.flush()
    _record_erasure(session, _caller_of(erasure), erasure, "erased", erasure.counts)


def fail(session: Session, erasure_id: UUID) -> None:
    """Record that the worker gave up; `retry` continues where it stopped."""
    erasure = _lock_erasure(session, erasure_id)
    if erasure.status not in ENDED:
        erasure.status, erasure.finished_at = ErasureStatus.FAILED, utcnow()
        session.flush()
        _record_erasure(session, _caller_of(erasure), erasure, "erasure_failed", erasure.counts)


def _deactivate_user(session: Session, caller: Caller, subject: DataSubject) -> User:
    user = session.get_one(User, subject.subject_id)
    if is_erased(user.email):
        raise NotFound(gettext("There is no such user."), "user_not_found")
    if user.id == caller.subject_id:
        raise Forbidden(
            gettext("You can't erase yourself. Ask another administrator."), "own_account"
        )
    return users.deactivate(session, caller, user.id)


def _enqueue_erasure(session: Session, erasure: Erasure) -> None:
    enqueue_job(session, "erase_subject", f"erase:{erasure.id}:{new_id()}", str(erasure.id))


def _record_erasure(
    session: Session, caller: Caller, erasure: Erasure, verb: str, after: Mapping[str, int]
) -> None:
    audit.record(
        session,
        caller,
        action=f"{erasure.kind}.{verb}",
        target_type=erasure.kind.value,
        target_id=erasure.subject_id,
        partner_id=erasure.partner_id,
        organization_id=erasure.organization_id,
        target=erasure.pseudonym,
        after=after,
    )


def _caller_of(erasure: Erasure) -> Caller:
    return system_caller("system", erasure.partner_id)


def _visible_erasures(caller: Caller) -> Select[Erasure]:
    caller.require(Permission.PERSONAL_DATA)
    return of_tenant(select(Erasure), caller, Erasure.partner_id, Erasure.organization_id)


def _lock_erasure(session: Session, erasure_id: UUID) -> Erasure:
    return session.get_one(Erasure, erasure_id, with_for_update=True, populate_existing=True)
