"""Rows of a file that are about the contact of an earlier one."""

from app.services.contacts.stored import Said
from app.services.imports.contact_cells import Note


def notes_on(earlier: Said, row: Said) -> list[Note]:
    """The warnings for a row that is applied; ``earlier`` is the last one about its contact."""
    number = earlier.row_number
    notes = [Note(None, "duplicate", f"The same contact as row {number}, which it updates.")]
    if not _differ(earlier, row):
        return notes
    if row.phone and row.phone == earlier.phone:
        message = f"Row {number} has this phone too, with other details."
        notes.append(Note(None, "duplicate_phone", message))
    if row.email_key and row.email_key == earlier.email_key:
        message = f"Row {number} has this e-mail too, with other details."
        notes.append(Note(None, "duplicate_email", message))
    return notes


def _differ(earlier: Said, row: Said) -> bool:
    """Whether the two say different things of what identifies a contact."""
    pairs = zip(earlier[1:], row[1:], strict=True)
    return any(one and other and one != other for one, other in pairs)
