"""Contact files as other products export them, generated each time, always the same.

Every generator returns an ``Export``: the bytes, and the rows that cannot be accepted with the kind
of their first problem, by the row number that a spreadsheet shows.
"""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from random import Random

from openpyxl import Workbook

HUBSPOT_COLUMNS = (
    "Record ID",
    "First Name",
    "Last Name",
    "Email",
    "Phone Number",
    "Mobile Phone Number",
    "Contact owner",
    "Lead Status",
    "Marketing contact status",
    "Create Date",
    "Last Activity Date",
    "Associated Company",
    "City",
    "Postal Code",
    "Favorite Content Topics",
)
_FIRST_NAMES = (
    *("Aurélie", "Björn", "Chloë", "Dag", "Émile", "François", "Gisèle", "Håkon", "Inês", "Jürgen"),
    *("Katrín", "Léa", "Maëlle", "Núria", "Óscar", "Pádraig", "Renée", "Søren", "Tomás", "Ulla"),
    *("Victor", "Wendy", "Xavier", "Yvonne", "Zoë", "Priya", "Marguerite", "Sinéad", "Ángel"),
)
_LAST_NAMES = (
    *("Müller", "Núñez", "O'Neill", "Sørensen", "García", "Lefèvre", "Gößling", "Østergård"),
    *("de la Fuente", "Whitcombe", "Baran", "Åkesson", "Peña", "Façade", "Bélanger", "Smith"),
    *("van der Berg", "Jónsdóttir", "Raghunathan", "Château", "Ibáñez", "Krüger"),
)
_COMPANIES = ("Hove Dental, Ltd", "Café Rübezahl", "Señor & Sons", 'The "Old" Mill', "Ærø Ferries")
_CITIES = ("Hove", "Köln", "Málaga", "Orléans", "Århus", "Brighton", "Zürich")
_AREA_CODES = (
    *(201, 202, 203, 205, 206, 207, 208, 209, 210, 212, 213, 214, 215, 216, 217, 218, 219, 224),
    *(225, 228, 229, 231, 234, 239, 240, 248, 251, 252, 253, 254),
)

Cells = list[str]
Fault = Callable[[Cells, int], None]


@dataclass(frozen=True, slots=True)
class Export:
    """A file, how many rows below its header, and ``bad``: (row number, kind) in order."""

    data: bytes
    rows: int
    bad: list[tuple[int, str]]


def _phone(index: int) -> str:
    """One of 3,000 American numbers set aside for fiction."""
    area = _AREA_CODES[index // 100 % len(_AREA_CODES)]
    return f"+1 {area}-555-{100 + index % 100:04d}"


def _without_other_phone(phone: str) -> Fault:
    def spoil(cells: Cells, _: int) -> None:
        cells[4], cells[5] = phone, ""

    return spoil


def _address(address: str) -> Fault:
    def spoil(cells: Cells, index: int) -> None:
        cells[3] = address.format(index)

    return spoil


def _unreachable(cells: Cells, _: int) -> None:
    cells[3] = cells[4] = cells[5] = ""


def _two_phones(cells: Cells, index: int) -> None:
    cells[4], cells[5] = f"{_phone(index)}; {_phone(index + 1)}", ""


def _endless_name(cells: Cells, _: int) -> None:
    cells[1] = "Maximiliane-" * 10


# Six kinds, 37 rows: (kind, the ways it happens, how many rows).
_FAULTS: tuple[tuple[str, tuple[Fault, ...], int], ...] = (
    (
        "excel_damaged_phone",
        (
            _without_other_phone("1.20256E+10"),
            _without_other_phone("12025550143.0"),
            _without_other_phone("########"),
            _without_other_phone("'2025550144"),
        ),
        8,
    ),
    (
        "invalid_phone",
        (
            _without_other_phone("+1 202-555-01"),
            _without_other_phone("+999 12345678"),
            _without_other_phone("call reception"),
        ),
        7,
    ),
    ("invalid_email", (_address("ann{}(at)mail.example"), _address("bob{}@")), 6),
    ("missing_identifier", (_unreachable,), 6),
    ("several_phones", (_two_phones,), 5),
    ("value_too_long", (_endless_name,), 5),
)
BAD_ROWS = sum(count for _, _, count in _FAULTS)


def _faults(rows: int) -> dict[int, tuple[str, Fault]]:
    """Row index -> fault: spread over the file, never in the same order of kinds."""
    queue = [
        (kind, ways[number % len(ways)]) for kind, ways, count in _FAULTS for number in range(count)
    ]
    Random(37).shuffle(queue)
    step = rows // len(queue)
    return {5 + place * step: fault for place, fault in enumerate(queue)}


def _hubspot_rows(rows: int) -> Iterator[Cells]:
    faults = _faults(rows)
    start = date(2024, 1, 1)
    for index in range(rows):
        first = _FIRST_NAMES[index % len(_FIRST_NAMES)]
        last = _LAST_NAMES[index % len(_LAST_NAMES)]
        cells = [
            str(51_000_000 + index),
            first,
            last,
            f"contact{index}@mail.example",
            _phone(index),
            f"+44 7700 {900_000 + index % 1000}" if index % 3 == 0 else "",
            "Maren Oduya" if index % 2 else "",
            ("NEW", "OPEN", "CONNECTED", "")[index % 4],
            "Marketing contact" if index % 5 else "Non-marketing contact",
            f"{start + timedelta(days=index % 600)} 09:{index % 60:02d}",
            "",
            _COMPANIES[index % len(_COMPANIES)],
            _CITIES[index % len(_CITIES)],
            f"{index % 100_000:05d}",
            "",
        ]
        if index in faults:
            faults[index][1](cells, index)
        yield cells


def _bad(rows: int) -> list[tuple[int, str]]:
    return [(index + 2, kind) for index, (kind, _) in sorted(_faults(rows).items())]


def hubspot_contacts(rows: int = 2000, encoding: str = "cp1252") -> Export:
    """All contacts of a HubSpot account as CSV: every cell quoted, as HubSpot writes it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(HUBSPOT_COLUMNS)
    writer.writerows(_hubspot_rows(rows))
    return Export(text.getvalue().encode(encoding), rows, _bad(rows))


@cache
def hubspot_workbook(rows: int = 2000) -> Export:
    """The same table as XLSX."""
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("All contacts")
    sheet.append(HUBSPOT_COLUMNS)
    for cells in _hubspot_rows(rows):
        sheet.append(cells)
    data = io.BytesIO()
    workbook.save(data)
    return Export(data.getvalue(), rows, _bad(rows))
