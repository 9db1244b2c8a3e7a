"""The effects of an erasure, in numbers that are quick to count, and its results."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import distinct, func, select
from sqlalchemy.orm import Session

from app.enums import SubjectKind
from app.models import Erasure, ImportChange, ListExport
from app.services.personal_data import copies, exporting
from app.services.personal_data.inventory import HOLDINGS, OnErasure
from app.services.personal_data.subjects import DataSubject

_FATES = {
    "contact_imports": OnErasure.DELETED,
    "idempotency_records": OnErasure.REPLACED,
    "texts": OnErasure.REPLACED,
}
"""The treatment of most rows of a line, if the first holding of its table is treated
differently."""


@dataclass(frozen=True, slots=True)
class ErasureLine:
    """Rows of a table and their treatment."""

    table: str
    rows: int
    fate: OnErasure


def erasure_lines(session: Session, subject: DataSubject) -> list[ErasureLine]:
    """Return the known rows of the person. Uploads that were never applied, mails, webhooks and
    texts about others are only searched by the erasure itself."""
    uploads = select(func.count(distinct(ImportChange.import_id))).where(
        ImportChange.contact_id.in_(subject.contacts)
    )
    exports = select(func.count()).select_from(ListExport).where(copies.exports_of(subject))
    counts = exporting.row_counts(subject) | {"contact_imports": uploads, "list_exports": exports}
    numbers = session.execute(select(*(query.scalar_subquery() for query in counts.values()))).one()
    return _in_order(
        [
            ErasureLine(table, rows, _fate(table, subject.kind))
            for table, rows in zip(counts, numbers, strict=True)
            if rows
        ]
    )


def erased(lines: Sequence[ErasureLine]) -> dict[str, int]:
    """Return the erased numbers by table, without what is kept."""
    return {line.table: line.rows for line in lines if line.fate is not OnErasure.KEPT}


def of_erasure(erasure: Erasure) -> list[ErasureLine]:
    """Return the result of an erasure, in the order and with the treatments of `erasure_lines`."""
    counts = erasure.counts.items()
    return _in_order(
        [ErasureLine(table, rows, _fate(table, erasure.kind)) for table, rows in counts]
    )


def _in_order(lines: Sequence[ErasureLine]) -> list[ErasureLine]:
    order = list(OnErasure)
    return sorted(lines, key=lambda line: (order.index(line.fate), line.table))


def _fate(table: str, kind: SubjectKind) -> OnErasure:
    """Return the treatment of most of a table's texts; words in other texts are replaced."""
    if table in _FATES:
        return _FATES[table]
    holdings = (each for each in HOLDINGS if each.table == table and kind in each.about)
    return next((each.on_erasure for each in holdings), OnErasure.DELETED)
