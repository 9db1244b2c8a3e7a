"""How carriers behave: counted by the minute, kept for a day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.enums import CarrierKind, Observed
from app.models import CarrierObservation, utcnow

KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that a carrier did, in the minute that is counted. ``code`` is its own word."""

    minute: datetime
    carrier: CarrierKind
    kind: Observed
    code: str = ""


@dataclass(slots=True)
class Count:
    """How often, when last, and the carrier's words then."""

    count: int
    last_at: datetime
    detail: str


def keep(session: Session, counts: Mapping[Behaviour, Count]) -> None:
    """Adds to what is kept, whichever worker counted it."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    insert = (sqlite.insert if is_sqlite else postgresql.insert)(CarrierObservation)
    for behaviour, count in sorted(counts.items(), key=lambda pair: str(pair[0])):
        session.execute(
            insert.values(
                minute=behaviour.minute,
                carrier=behaviour.carrier,
                kind=behaviour.kind,
                code=behaviour.code,
                count=count.count,
                last_at=count.last_at,
                detail=count.detail,
            ).on_conflict_do_update(
                index_elements=["minute", "carrier", "kind", "code"],
                set_={
                    "count": CarrierObservation.count + count.count,
                    "last_at": count.last_at,
                    "detail": count.detail,
                },
            )
        )


def forget(session: Session) -> None:
    """Removes what is older than a day."""
    old = CarrierObservation.minute < utcnow() - KEPT
    session.execute(delete(CarrierObservation).where(old))
