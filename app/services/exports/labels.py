"""The name of an export and the reason of its failure, in the current language."""

from app.enums import ExportFormat, ExportProblem
from app.languages import lazy_gettext

SUBJECT_TITLES: dict[str, str] = {
    "user-data": lazy_gettext("Data about a user"),
    "contact-data": lazy_gettext("Data about a person"),
}
"""Names of exports about one person; lists have their own."""
FORMAT_NAMES: dict[str, str] = {
    ExportFormat.CSV: "CSV",
    ExportFormat.XLSX: "Excel (XLSX)",
    ExportFormat.ZIP: "ZIP (JSON)",
}
_PROBLEMS: dict[str, str] = {
    ExportProblem.NO_ACCESS: lazy_gettext("You no longer have access to this list."),
    ExportProblem.TOO_MANY_ROWS: lazy_gettext(
        "An Excel file can’t hold so many rows. Export CSV instead."
    ),
    ExportProblem.TOO_LARGE: lazy_gettext(
        "The file is too large. Filter the list or choose fewer columns."
    ),
    ExportProblem.FAILED: lazy_gettext("Something went wrong on our side. Export the list again."),
}
_NO_SUBJECT = lazy_gettext(
    "The person was erased or removed before the file was written, or you no longer have access."
)


def problem_label(list_name: str, problem: str) -> str:
    """Return why an export of a list or of a person failed."""
    if problem == ExportProblem.NO_ACCESS and list_name in SUBJECT_TITLES:
        return str(_NO_SUBJECT)
    return str(_PROBLEMS[problem])
