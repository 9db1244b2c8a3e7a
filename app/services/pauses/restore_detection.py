"""Detects a database that was restored from a backup; docs/operations.md explains the rule.

Workers raise a number in the database and keep it outside as well: a database with a smaller
number was restored, and what happened since is missing in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import exists, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import Sentence
from app.models import CallAttempt, InstallationMark, SimulatedCall, utcnow
from app.policy.caller import system_caller
from app.services.pauses import pauses

RESTORED = str(Sentence.gettext("restored from a backup"))
COPIED = str(Sentence.gettext("restored from a backup, or a copy of another installation"))


@dataclass(frozen=True, slots=True)
class Mark:
    """``lineage`` names a database and all copies of it; ``generation`` is a moment in
    milliseconds, and larger each time."""

    lineage: str
    generation: int


def advance(session: Session, kept: Mark | None, *, is_moved: Callable[[], bool]) -> Mark:
    """Raise the mark and return it. Pauses all dialling if ``kept``, the mark outside, is ahead of
    the database, or if it ``is_moved`` and a call was dialled before."""
    row = _row(session)
    now = int(utcnow().timestamp() * 1000)
    if kept is not None and kept.lineage == row.lineage:
        if row.generation < kept.generation:
            pauses.pause(session, system_caller(), pauses.Scope(), RESTORED)
        elif is_moved() and _has_placed_calls(session):
            pauses.pause(session, system_caller(), pauses.Scope(), COPIED)
        now = max(now, kept.generation + 1)
    row.generation = max(now, row.generation + 1)
    session.flush()
    return Mark(row.lineage, row.generation)


def _row(session: Session) -> InstallationMark:
    """The only row, locked. The first worker makes it, so that databases copied before that have
    different lineages."""
    query = select(InstallationMark).with_for_update()
    found = session.scalars(query, execution_options={"populate_existing": True}).one_or_none()
    if found is None:
        is_sqlite = session.get_bind().dialect.name == "sqlite"
        insert = sqlite.insert if is_sqlite else postgresql.insert
        made = {"id": 1, "lineage": uuid4().hex, "generation": 0}
        session.execute(insert(InstallationMark).values(**made).on_conflict_do_nothing())
        found = session.scalars(query).one()
    return found


def _has_placed_calls(session: Session) -> bool:
    real = exists().where(CallAttempt.carrier != CarrierKind.SIMULATOR)
    return bool(session.scalar(select(exists().select_from(SimulatedCall) | real)))
