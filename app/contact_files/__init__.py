"""Contact files of any format, as a header and numbered rows of text.

`open_table` takes the bytes of a CSV, XLSX, XLS or vCard file and gives a `ContactTable`: its
columns, its rows with their numbers and problems, and notes about the whole file. A file that can't
be read raises `UnreadableFile`. Nothing here knows contacts, campaigns or databases.
"""

from app.contact_files.column_names import made_name
from app.contact_files.errors import UnreadableFile, reading_one_of
from app.contact_files.formulas import guard_cell, unguard_cell
from app.contact_files.open_file import open_table
from app.contact_files.spreadsheet_damage import inspect_phone
from app.contact_files.table import ContactTable, FileLimits, FileRow, ReadOptions
