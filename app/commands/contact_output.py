"""The result of a contact file as text for a terminal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.services.imports.kinds import ERRORS, IGNORED
from app.services.imports.summary import ImportSummary, RowSummary

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_TYPES = {"csv": "text", "xlsx": "XLSX", "xls": "XLS", "vcard": "vCard"}


@dataclass(slots=True)
class _ProblemGroup:
    """Problems of one kind: the number of rows, and the first problem in words."""

    rows: int
    first: str


def summary_lines(
    summary: ImportSummary, rows: Iterable[RowSummary], file_name: str, *, dry_run: bool
) -> Iterator[str]:
    """Yield the lines. Reads all rows."""
    yield f"{file_name}: {_format_description(summary)}"
    for name, columns in summary.fields().items():
        yield f"  {name}: {', '.join(columns)}"
    errors: dict[str, _ProblemGroup] = {}
    ignored: dict[str, int] = {}
    for row in summary.counted(rows):
        for kind in {error["kind"]: error for error in row["errors"]}.values():
            _add_problem(errors, row["row"], kind)
        if row["is"] == "ignored":
            ignored[row["kind"]] = ignored.get(row["kind"], 0) + 1
    counters = summary.counters()
    skipped = counters.pop("skipped")
    writes = ("created", "updated", "deleted") if dry_run else ()
    counts = ", ".join(
        f"{count:,} {'would be ' if name in writes else ''}{name}"
        for name, count in counters.items()
    )
    yield f"{sum(counters.values()):,} rows: {counts}; {skipped:,} blank or footers."
    for kind, group in sorted(errors.items(), key=lambda item: -item[1].rows):
        yield f"  failed   {group.rows:>9,}  {ERRORS[kind].title} ({kind}): {group.first}"
    for kind, count in ignored.items():
        yield f"  ignored  {count:>9,}  {IGNORED[kind].title} ({kind})"
    for warning in summary.warnings():
        row_count = "" if warning["rows"] is None else f"{warning['rows']:,}"
        yield f"  warning  {row_count:>9}  {warning['kind']}: {warning['message']}"


def _add_problem(errors: dict[str, _ProblemGroup], number: int, error: RowSummary) -> None:
    group = errors.get(error["kind"])
    if group is None:
        column = f", {error['column']}" if error["column"] else ""
        errors[error["kind"]] = _ProblemGroup(
            1, f"first in row {number}{column}. {error['message']}"
        )
    else:
        group.rows += 1


def _format_description(summary: ImportSummary) -> str:
    read = summary.read()
    details = [_TYPES[read["type"]]]
    if read["encoding"]:
        details.append(read["encoding"])
    if read["delimiter"]:
        details.append(f"parted by {_DELIMITERS.get(read['delimiter'], read['delimiter'])}")
    if read["sheet"]:
        details.append(f"sheet {read['sheet']}")
    if read["headerRow"]:
        details.append(f"column names in row {read['headerRow']}")
    details.append("columns by hand" if read["mappedBy"] == "hand" else "columns by their names")
    return ", ".join(details)
