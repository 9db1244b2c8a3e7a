"""What an export is called and why it failed, in the current language."""

from app.enums import ExportProblem
from app.languages import lazy_gettext

SUBJECT_TITLES: dict[str, str] = {
    "user-data": lazy_gettext("Data about a user"),
    "contact-data": lazy_gettext("Data about a contact"),
}
"""What exports about one person are called, beside those of lists."""
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
