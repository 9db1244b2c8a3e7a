"""The do-not-call list of an organization: its numbers are stored as contacts, never called."""

from app.services.do_not_call.bulk_add import AddedNumbers, add_many, waiting_calls_to
from app.services.do_not_call.entries import (
    EntryFilter,
    add,
    count,
    get_many,
    is_listed,
    listed_among,
    listed_or_waiting,
    listing,
    remove,
)
from app.services.do_not_call.overview import entry, sizes
from app.services.do_not_call.parsing import (
    COLUMNS,
    MAX_FILE_BYTES,
    MAX_NUMBERS,
    ParsedNumbers,
    SheetLine,
    from_lines,
    read_numbers,
    to_lines,
)
