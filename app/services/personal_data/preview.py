"""What an erasure would do, in numbers that are quick to count."""

from dataclasses import dataclass

from sqlalchemy import distinct, func, select
from sqlalchemy.orm import Session

from app.enums import SubjectKind
from app.models import ImportChange
from app.services.personal_data import exporting
from app.services.personal_data.inventory import HOLDINGS, OnErasure
from app.services.personal_data.subjects import Subject


@dataclass(frozen=True, slots=True)
class Line:
    """Rows of a table and what becomes of them."""

    table: str
    rows: int
    fate: OnErasure


def of(session: Session, subject: Subject) -> list[Line]:
    """Return what is known of the person. Uploads that were never applied, mails, webhooks and
    texts of others are only searched by the erasure itself."""
    lines = [
        Line(table, rows, _fate(table, subject.kind))
        for table, rows in exporting.counts(session, subject).items()
    ]
    if subject.contacts:
        uploads = select(func.count(distinct(ImportChange.import_id))).where(
            ImportChange.contact_id.in_(subject.contacts)
        )
        number = session.scalar(uploads) or 0
        if number:
            lines.append(Line("contact_imports", number, OnErasure.DELETED))
    order = list(OnErasure)
    return sorted(lines, key=lambda line: order.index(line.fate))


def _fate(table: str, kind: SubjectKind) -> OnErasure:
    """Return what becomes of most of a table's texts."""
    return next(
        holding.on_erasure
        for holding in HOLDINGS
        if holding.table == table and kind in holding.about
    )
