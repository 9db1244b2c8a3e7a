"""The sheet of a checked file: the user's own columns and rows, and the cells that can be fixed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from app.contact_files.spreadsheet_damage import possible_numbers
from app.errors import translate_stored
from app.languages import gettext, lazy_gettext, lazy_pgettext, pgettext
from app.models import ContactImport, ImportProblem
from app.portal.uploads.labels import repaired_value
from app.portal.uploads.row_changes import ContactFieldChange, RowChanges, row_changes
from app.schemas.checks import MAX_METADATA_KEY
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports.changes import ContactChange
from app.services.imports.corrections import LEFT_OUT
from app.services.imports.mapping import PAIR, ColumnTarget, TargetField, problem_column
from app.services.imports.reports import ShownRow

MAX_CELL_LENGTH = 200
WHOLE_ROW = frozenset({"column_count", "unclosed_quote", "bad_quote", "undecodable_text"})
"""Problems that concern all cells of a row."""
IDENTIFIERS = frozenset(
    {TargetField.PHONE, TargetField.EMAIL, TargetField.EXTERNAL_ID, TargetField.EXTERNAL_ID_VALUE}
)
FURTHER_ON_PHONES = 4
_EFFECTS = {
    CREATED: lazy_pgettext("row of a file", "New"),
    UPDATED: lazy_pgettext("row of a file", "Changed"),
    DELETED: lazy_pgettext("row of a file", "Removal"),
    IGNORED: lazy_pgettext("row of a file", "Ignored"),
}
"""The effect of a row, by its outcome."""
_PAIR_NAMES = (
    (str(TargetField.EXTERNAL_ID_KEY), lazy_gettext("External ID name")),
    (str(TargetField.EXTERNAL_ID_VALUE), lazy_gettext("External ID value")),
)


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A value of the file; ``tone`` is "bad", "repair" or empty, ``reasons`` are shown below it.

    ``editable_value`` is the whole value if it can be fixed, otherwise None. ``old`` is the
    contact's value that this one replaces, None if it replaces none; ``changes``
    are those of further fields. ``choices`` are numbers of which one can be chosen in its place.
    """

    value: str
    tone: str
    reasons: tuple[str, ...]
    editable_value: str | None = None
    old: str | None = None
    changes: Sequence[ContactFieldChange] = ()
    choices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of the sheet; one with a problem or note can be fixed or left out. ``effect`` is empty
    for a row that failed; ``is_left_out`` if a user has left it out."""

    number: int
    cells: list[SheetCell]
    effect: str
    can_be_fixed: bool
    is_left_out: bool
    surname: int | None
    """The column of the last name, if phones show it behind the title, the first name."""


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column of the file: its name, its target, and its possible targets."""

    index: int
    name: str
    target: str
    choices: list[tuple[str | None, list[tuple[str, str]]]]
    is_title: bool
    is_fact: bool
    """Whether phones show it below the title, after its name."""
    samples: tuple[str, ...]


def columns_of(
    upload: ContactImport, external_keys: Sequence[str], submitted: Sequence[str] | None = None
) -> list[SheetColumn]:
    """Return the file's columns; ``submitted`` are targets from a form that was not accepted."""
    targets = submitted if submitted is not None else upload.mapping
    title = _title_column(upload)
    phone_columns = _columns_on_phones(upload)
    return [
        SheetColumn(
            index,
            name,
            targets[index],
            _choices(name, targets[index], external_keys),
            index == title,
            index != title and index in phone_columns,
            tuple(row[index] for row in upload.samples if index < len(row) and row[index].strip()),
        )
        for index, name in enumerate(upload.columns)
    ]


def _field_names() -> dict[TargetField, str]:
    return {
        TargetField.FIRST_NAME: gettext("First name"),
        TargetField.LAST_NAME: gettext("Last name"),
        TargetField.FULL_NAME: gettext("Full name"),
        TargetField.PHONE: gettext("Phone"),
        TargetField.COUNTRY_CODE: gettext("Country code"),
        TargetField.EMAIL: gettext("Email"),
        TargetField.STATUS: gettext("Status"),
        TargetField.DO_NOT_CALL: pgettext("contact", "Do not call"),
        TargetField.EXACT: gettext("Contact as JSON"),
        TargetField.IGNORE: gettext("Leave out"),
    }


def _choices(
    name: str, target: str, external_keys: Sequence[str]
) -> list[tuple[str | None, list[tuple[str, str]]]]:
    fields = [
        (str(field), label)
        for field, label in _field_names().items()
        if field is not TargetField.EXACT or target == field
    ]
    default_target = str(ColumnTarget(TargetField.METADATA, name[:MAX_METADATA_KEY]))
    information = [(default_target, name)]
    if target.startswith(f"{TargetField.METADATA}:") and target != default_target:
        information.append((target, ColumnTarget.parse(target).key))
    groups: list[tuple[str | None, list[tuple[str, str]]]] = [
        (gettext("Kept as metadata"), information),
        (gettext("Part of the contact"), fields[:-1]),
    ]
    ids = [(str(ColumnTarget(TargetField.EXTERNAL_ID, key)), key) for key in external_keys]
    if ids or target in PAIR:
        pair = [(target, str(label)) for target, label in _PAIR_NAMES]
        groups.append((gettext("External ID"), [*ids, *pair]))
    groups.append((None, fields[-1:]))
    return groups


def hidden_column(upload: ContactImport, rows: Sequence[SheetRow]) -> int | None:
    """Return the column with the problems of the upload that this one corrects, which the rows show
    themselves, unless it has cells to fix."""
    column = problem_column(upload.columns) if upload.corrects_id else None
    if not column or upload.mapping[column] != TargetField.IGNORE:
        return None
    needs_fixing = any(row.cells[column].editable_value is not None for row in rows)
    return None if needs_fixing else column


def sheet_row(
    upload: ContactImport, row: ShownRow, submitted: Mapping[int, str], change: ContactChange | None
) -> SheetRow:
    """Return a row with its editable cells; ``change`` is its effect on the contact."""
    failed = row.outcome == FAILED
    identifying = [i for i, text in enumerate(upload.mapping) if _identifies(text)]
    note_column = 0 if failed or not identifying else identifying[0]
    cells = _cells(upload, row, submitted, identifying, note_column)
    if change is not None:
        _show_change(
            cells, upload, row_changes(upload, row.cells, change, _field_names()), note_column
        )
    is_left_out = row.outcome == IGNORED and row.code == LEFT_OUT
    effect = "" if failed or is_left_out else str(_EFFECTS[row.outcome])
    if change is not None and not change.fields:
        effect = pgettext("row of a file", "No change")
    can_be_fixed = failed or bool(row.problems)
    return SheetRow(row.number, cells, effect, can_be_fixed, is_left_out, _surname(upload, cells))


def _cells(
    upload: ContactImport,
    row: ShownRow,
    submitted: Mapping[int, str],
    identifying: Sequence[int],
    note_column: int,
) -> list[SheetCell]:
    """Return the cells of a row. Those with a problem can be fixed, and those with a note in a row
    that is applied; a note about the whole row is shown at ``note_column``. A broken row is fixed
    as a whole; in a row without any identifier, every cell for one can be filled in."""
    failed = row.outcome == FAILED
    by_column: dict[int, list[ImportProblem]] = {}
    for problem in row.problems:
        column = note_column if problem.column_index is None else problem.column_index
        by_column.setdefault(column, []).append(problem)
    is_broken = failed and any(p.code in WHOLE_ROW and p.column_index is None for p in row.problems)
    lacks_identifier = failed and any(p.code == "missing_identifier" for p in row.problems)
    width = len(upload.columns)
    cells = []
    for index in range(width):
        value = row.cells[index] if index < len(row.cells) else ""
        problems = by_column.get(index, ())
        identifies = lacks_identifier and index in identifying
        is_wrong = any(not problem.is_warning for problem in problems) if failed else bool(problems)
        can_be_fixed = is_broken or identifies or is_wrong
        text = submitted.get(index, value) if can_be_fixed else None
        cells.append(_cell(value, problems, text))
    if is_broken and (further := [cell for cell in row.cells[width:] if cell.strip()]):
        values = "; ".join(further)[:MAX_CELL_LENGTH]
        reason = gettext("After the last column: %(values)s", values=values)
        cells[-1] = replace(cells[-1], tone="bad", reasons=(*cells[-1].reasons, reason))
    return cells


def _show_change(
    cells: list[SheetCell], upload: ContactImport, changed: RowChanges, note_column: int
) -> None:
    """Show old values in their cells, and changes without a column of their own in one of the
    cells."""
    for index, old in changed.old_values.items():
        new = changed.new_phones.get(index, cells[index].value)
        cells[index] = replace(cells[index], old=old, value=new)
    if changed.others:
        index = _changes_column(upload, note_column)
        cells[index] = replace(cells[index], changes=changed.others)


def _changes_column(upload: ContactImport, default: int) -> int:
    """Return the column that shows changes without a column of their own."""
    if TargetField.EXACT in upload.mapping:
        return upload.mapping.index(TargetField.EXACT)
    return default


def _columns_on_phones(upload: ContactImport) -> set[int]:
    """Return the columns that a phone shows: those of the contact's fields, and the first that are
    kept as metadata."""
    fields = [text.partition(":")[0] for text in upload.mapping]
    further = [index for index, field in enumerate(fields) if field == TargetField.METADATA]
    hidden = (TargetField.METADATA, TargetField.IGNORE, TargetField.EXACT)
    own = (index for index, field in enumerate(fields) if field not in hidden)
    return {*further[:FURTHER_ON_PHONES], *own}


def _identifies(target: str) -> bool:
    return target.partition(":")[0] in IDENTIFIERS


def _cell(value: str, problems: Sequence[ImportProblem], submitted: str | None) -> SheetCell:
    text = value.strip()
    if len(text) > MAX_CELL_LENGTH:
        text = text[:MAX_CELL_LENGTH] + "…"
    errors = [problem for problem in problems if not problem.is_warning]
    tone = ""
    if problems:
        tone = "bad" if any(not problem.repair for problem in errors) else "repair"
    shown = errors or problems
    choices = tuple(chain.from_iterable(possible_numbers(each.message) for each in shown))
    reasons = (gettext("Leading zero or + lost."),) if choices else map(problem_message, shown)
    return SheetCell(text, tone, tuple(reasons), submitted, choices=choices)


def problem_message(problem: ImportProblem) -> str:
    message = translate_stored(problem.message)
    if not problem.repair:
        return message
    return gettext(
        "%(problem)s Repair: %(value)s",
        problem=message,
        value=repaired_value(problem.reason, problem.repair),
    )


def _surname(upload: ContactImport, cells: Sequence[SheetCell]) -> int | None:
    """Return the column of a last name that phones show behind the first name."""
    if TargetField.LAST_NAME not in upload.mapping:
        return None
    index, first = upload.mapping.index(TargetField.LAST_NAME), _title_column(upload)
    is_plain = all(not cells[i].tone and cells[i].old is None for i in (index, first))
    return index if is_plain and upload.mapping[first] == TargetField.FIRST_NAME else None


def _title_column(upload: ContactImport) -> int:
    """Return the column whose value is the row's title on a phone."""
    fields = [text.partition(":")[0] for text in upload.mapping]
    for target_field in (
        TargetField.FULL_NAME,
        TargetField.FIRST_NAME,
        TargetField.LAST_NAME,
        TargetField.EMAIL,
        TargetField.PHONE,
    ):
        if target_field in fields:
            return fields.index(target_field)
    return 0
