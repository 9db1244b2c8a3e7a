"""The changes that applying rows of a checked upload would make to existing contacts of the
campaign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy.orm import Session

from app.models import Campaign, ContactImport
from app.services import contacts
from app.services.contacts.results import CREATED, DELETED, UPDATED
from app.services.imports.mapping import ColumnTarget, TargetField
from app.services.imports.reports import ShownRow

_TEXTS = (
    TargetField.FIRST_NAME,
    TargetField.LAST_NAME,
    TargetField.PHONE,
    TargetField.EMAIL,
    TargetField.STATUS,
)


@dataclass(frozen=True, slots=True)
class ContactChange:
    """The values of a contact before and after a row, by their fields as `ColumnTarget` writes
    them: ``firstName``, ``metadata:City``."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def fields(self) -> list[str]:
        """The fields whose values differ."""
        names = dict.fromkeys([*self.before, *self.after])
        return [name for name in names if self.before.get(name) != self.after.get(name)]


def changes_of(
    session: Session, upload: ContactImport, rows: Sequence[ShownRow]
) -> dict[int, ContactChange]:
    """Return the changes of the given rows, by row number, as `contacts.apply` would make them now.
    Earlier rows count only if they are given. Rows that find no contact are absent. The number of
    statements doesn't grow with the rows."""
    good = [row for row in rows if row.contact and row.outcome in (CREATED, UPDATED, DELETED)]
    if not any(row.outcome == UPDATED for row in good):
        return {}
    result = contacts.apply(
        session,
        session.get_one(Campaign, upload.campaign_id),
        [row.contact for row in good],
        upload.action,
        dry_run=True,
        row_numbers=[row.number for row in good],
        collect_changes=True,
    )
    return {
        change.row_number: ContactChange(
            _values_by_target(change.before), _values_by_target(change.after)
        )
        for change in result.changes
        if change.action == UPDATED and change.before and change.after
    }


def _values_by_target(state: Mapping[str, Any]) -> dict[str, str]:
    values = {str(name): state[name] for name in _TEXTS if state[name]}
    metadata = orjson.loads(state["metadata"] or "{}")
    values |= {
        str(ColumnTarget(TargetField.METADATA, key)): _to_text(metadata[key]) for key in metadata
    }
    ids = state["externalIds"]
    return values | {
        str(ColumnTarget(TargetField.EXTERNAL_ID, key)): ids[key]["value"] for key in ids
    }


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
