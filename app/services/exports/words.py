"""Why an export failed, in the current language."""

from app.enums import ExportProblem
from app.languages import lazy_gettext

PROBLEM_WORDS: dict[str, str] = {
    ExportProblem.NO_ACCESS: lazy_gettext("You no longer have access to this list."),
    ExportProblem.TOO_MANY_ROWS: lazy_gettext(
        "An Excel file can’t hold so many rows. Export CSV instead."
    ),
    ExportProblem.TOO_LARGE: lazy_gettext(
        "The file is too large. Filter the list or choose fewer columns."
    ),
    ExportProblem.FAILED: lazy_gettext("Something went wrong on our side. Export the list again."),
}
