"""CSV and TSV in every dialect, with their defects."""

from typing import Any

from tests.files.corpus.cases import ANN, BOB, CY, Case, bad, ok, skipped

_LIST = f"Name,Phone\nZoë Núñez,{ANN}\nRenée Gößling,{BOB}\nBjörn Müller,{CY}\n"
_PEOPLE = [
    ok(2, "Zoë", "Núñez", ANN),
    ok(3, "Renée", "Gößling", BOB),
    ok(4, "Björn", "Müller", CY),
]
_PLAIN = [ok(2, "Ann", "Lee", ANN), ok(3, "Bob", "Li", BOB)]


def _encoded(encoding: str, python: str, *, guessed: bool = False, line_end: str = "\n") -> Case:
    return Case(
        "list.csv",
        _LIST.replace("\n", line_end).encode(encoding),
        _PEOPLE,
        {"type": "csv", "encoding": python, "headerRow": 1},
        {"encoding_guessed": 0} if guessed else {},
    )


def _guessed(encoding: str, *names: tuple[str, str]) -> Case:
    """Return first and last names whose encoding can only be guessed from their letters."""
    people = [*zip(range(2, 5), names, (ANN, BOB, CY), strict=True)]
    lines = [f"{first};{last};{phone}" for _, (first, last), phone in people]
    return Case(
        "list.csv",
        "\r\n".join(["First name;Last name;Phone", *lines, ""]).encode(encoding),
        [ok(number, first, last, phone) for number, (first, last), phone in people],
        {"type": "csv", "encoding": encoding, "delimiter": ";"},
        {"encoding_guessed": 0},
    )


def _parted(delimiter: str, line_end: str) -> Case:
    rows = (("Name", "Phone"), ('"Ann, ""A"" Lee; x|y"', ANN), ("Bob Li", BOB))
    text = line_end.join([*(delimiter.join(row) for row in rows), ""])
    return Case(
        "list.tsv",
        text.encode(),
        [ok(2, '"A" Lee; x|y', "Ann", ANN), ok(3, "Bob", "Li", BOB)],
        {"delimiter": delimiter, "encoding": "utf-8"},
    )


def _text(text: str, *rows: dict[str, Any], **more: Any) -> Case:
    return Case("list.csv", text.encode(), list(rows), **more)


TEXTS = {
    "UTF-8": _encoded("utf-8", "utf-8"),
    "UTF-8 with its mark": _encoded("utf-8-sig", "utf-8-sig"),
    "UTF-16 with its mark": _encoded("utf-16", "utf-16"),
    "UTF-16, little end first": _encoded("utf-16-le", "utf-16-le"),
    "UTF-16, big end first": _encoded("utf-16-be", "utf-16-be"),
    "Windows-1252": _encoded("cp1252", "cp1252", guessed=True, line_end="\r\n"),
    "Mac Roman": _encoded("mac_roman", "mac_roman", guessed=True, line_end="\r"),
    "MS-DOS": _encoded("cp850", "cp850", guessed=True, line_end="\r\n"),
    "Windows-1250, Polish": _guessed(
        "cp1250", ("Łukasz", "Wójcik"), ("Małgorzata", "Wiśniewska"), ("Paweł", "Zieliński")
    ),
    "Windows-1250, Hungarian": _guessed(
        "cp1250", ("Jenő", "Szűcs"), ("Éva", "Kovács"), ("Győző", "Erdős")
    ),
    "Latin-2, Czech": _guessed(
        "iso8859-2", ("Jiří", "Dvořák"), ("Zdeněk", "Šťastný"), ("Růžena", "Říhová")
    ),
    "Windows-1251": _guessed(
        "cp1251", ("Пётр", "Иванов"), ("Юлия", "ЩЕРБАКОВА"), ("Ірина", "Коваленко")
    ),
    "KOI8-R": _guessed("koi8-r", ("Пётр", "Иванов"), ("Юлия", "ЩЕРБАКОВА"), ("Анна", "Попова")),
    "Shift-JIS": _guessed("cp932", ("太郎", "佐藤"), ("さくら", "山本"), ("ハナコ", "鈴木")),
    "GB 18030": _guessed("gb18030", ("伟", "王"), ("秀英", "张"), ("建国", "李")),
    "Big5": _guessed("big5", ("怡君", "陳"), ("志明", "林"), ("淑芬", "黃")),
    "names that were saved in a wrong encoding": _text(
        f"\ufeff\ufeffName,Phone\nMÃ¼ller,{ANN}\nMüller,{BOB}\nOâ€™Neill,{CY}\n",
        bad(2, ("undecodable_text", "Name")), ok(3, "Müller", phone=BOB),
        bad(4, ("undecodable_text", "Name")), read={"mapping": {
            "fullName": ["Name"], "phone": ["Phone"]}},
    ),
    "UTF-8 among Windows-1252": Case(
        "list.csv",
        f"Name,Phone\nJörg,{ANN}\n".encode() + f"Jörg,{BOB}\nZoë,{CY}\n".encode("cp1252"),
        [bad(2, ("undecodable_text", "Name")), ok(3, "Jörg", phone=BOB), ok(4, "Zoë", phone=CY)],
        {"encoding": "cp1252"},
        {"encoding_guessed": 0},
    ),
    "Latin-1": Case(
        "list.csv",
        b"Name,Phone,Note\n" + f"Zoë Núñez,{ANN},".encode("latin-1") + b"\x81\n",
        [bad(2, ("control_characters", "Note"))],
        {"encoding": "latin-1"},
        {"encoding_guessed": 0},
    ),
    "semicolons": _parted(";", "\r\n"),
    "tabs": _parted("\t", "\n"),
    "bars and old line ends": _parted("|", "\r"),
    "a line that names the separator": _text(
        f"sep=;\nName;Phone\nAnn Lee;{ANN}\nBob Li;{BOB}\n",
        ok(3, "Ann", "Lee", ANN), ok(4, "Bob", "Li", BOB),
        read={"delimiter": ";", "headerRow": 2},
    ),
    "lines above the header": _text(
        f"Recall list\nMade on 21 November\n\nName,Phone,City\nAnn Lee,{ANN},Hove\n",
        ok(5, "Ann", "Lee", ANN, meta={"City": "Hove"}),
        read={"headerRow": 4}, warnings={"title_rows": 2},
    ),
    "no header, one column of phones": _text(
        f"{ANN}\n{BOB}\n", ok(1, phone=ANN), ok(2, phone=BOB), read={"headerRow": None}
    ),
    "no header, phones beside addresses": _text(
        f"Ann,{ANN},ann@mail.example\nBob,{BOB},bob@mail.example\n",
        ok(1, "Ann", "", ANN, "ann@mail.example"),
        ok(2, "Bob", "", BOB, "bob@mail.example"),
        read={"mapping": {"firstName": ["Column A"], "phone": ["Column B"], "email": ["Column C"]}},
    ),
    "no header, first and last names beside phones": _text(
        f"Anna,Lees,Hove,{ANN}\nZoë,O’Neill,Hove,{BOB}\n",
        ok(1, "Anna", "Lees", ANN, meta={"Column C": "Hove"}),
        ok(2, "Zoë", "O’Neill", BOB, meta={"Column C": "Hove"}),
        read={"headerRow": None, "mapping": {
            "firstName": ["Column A"], "lastName": ["Column B"], "Column C": ["Column C"],
            "phone": ["Column D"]}},
    ),
    "no header, a single row": _text(
        f"Anna,{ANN}\n", ok(1, "Anna", "", ANN),
        read={"headerRow": None, "mapping": {"firstName": ["Column A"], "phone": ["Column B"]}},
    ),
    "no header, two columns of phones": _text(
        f"{ANN},{BOB}\n{BOB},{CY}\n",
        refusal=("no_contact_column", None),
    ),
    "blank rows": _text(
        f"\nName,Phone\n\nAnn Lee,{ANN}\n,\n,,,\nBob Li,{BOB}\n\n",
        skipped(3), ok(4, "Ann", "Lee", ANN), skipped(5), skipped(6), ok(7, "Bob", "Li", BOB),
        skipped(8),
    ),
    "values of several lines": _text(
        f'Name,Phone,Address\nAnn Lee,{ANN},"12 High St\nHove"\nBob Li,{BOB},\n',
        ok(2, "Ann", "Lee", ANN, meta={"Address": "12 High St\nHove"}), ok(3, "Bob", "Li", BOB),
    ),
    "columns without names and of one name": _text(
        f"Name,,Phone,Phone\nAnn Lee,x,,{ANN}\nBob Li,y,{BOB},{CY}\n",
        ok(2, "Ann", "Lee", ANN, meta={"Column B": "x"}),
        ok(3, "Bob", "Li", BOB, meta={"Column B": "y", "Phone (2)": CY}, warnings="several_phones"),
        warnings={"unnamed_column": 0, "duplicate_columns": 0},
    ),
    "blanks before the quotes, and the end of a file of old": _text(
        f'Name, Phone, City\n"Lee, Ann", "{ANN}", "Hove, UK"\nBob, {BOB}, "Rye"\n\x1a',
        ok(2, "Ann", "Lee", ANN, meta={"City": "Hove, UK"}),
        ok(3, "Bob", "", BOB, meta={"City": "Rye"}), skipped(4),
    ),
    "a separator inside a value": _text(
        f"City,Name,Phone\nHove,Lee, Ann,{ANN}\nHove,Bob Li,{BOB}\n",
        bad(2, ("column_count", None)), ok(3, "Bob", "Li", BOB, meta={"City": "Hove"}),
    ),
    "cells too many and too few": _text(
        f"Name,Phone,City,Note\nAnn Lee,{ANN},,,,\nBob Li,{BOB}\n",
        ok(2, "Ann", "Lee", ANN, warnings="extra_cells"),
        ok(3, "Bob", "Li", BOB, warnings="missing_cells"),
    ),
    "a quote that never closes": _text(
        f'Name,Phone\n"Ann Lee,{ANN}\nBob Li,{BOB}\n',
        bad(2, ("unclosed_quote", None)), ok(3, "Bob", "Li", BOB),
    ),
    "a quote that closes rows later": _text(
        f'Name,Phone\n"Ann Lee,{ANN}\nBob Li,{BOB}\n"Cy Ek",{CY}\n',
        bad(2, ("unclosed_quote", None)), ok(3, "Bob", "Li", BOB), ok(4, "Cy", "Ek", CY),
    ),
    "a quote inside a quoted value": _text(
        f'Name,Phone\n"Ann "A" Lee",{ANN}\nBob Li,{BOB}\n',
        bad(2, ("bad_quote", None)), ok(3, "Bob", "Li", BOB),
    ),
    "a byte of another encoding": Case(
        "list.csv",
        (_LIST * 1).encode() + b"Ren\xe9,+12025550104\n" + b"Bob,+12025550105\n",
        [*_PEOPLE, bad(5, ("undecodable_text", None)), ok(6, "Bob", "", "+12025550105")],
        {"encoding": "utf-8"},
    ),
    "a column name beyond the limit": _text(
        f"Phone,{'n' * 70}\n{ANN},x\n",
        ok(2, phone=ANN, meta={"n" * 64: "x"}), warnings={"key_too_long": 0},
    ),
    "phone columns with a name beyond the limit": _text(
        f"Phone,Mobile phone{' ' + 'n' * 60} phone\n{ANN},{BOB}\n",
        ok(2, phone=ANN, meta={f"Mobile phone {'n' * 60} phone"[:64]: BOB}),
        warnings={"key_too_long": 0},
    ),
    "an exported file": Case(
        "contacts.csv",
        b"\xef\xbb\xbffirstName,lastName,email,phone,status,City,contactJson\r\n"
        b"'=Ann,Lee,,'+12025550101,,Hove,\r\n"
        b",Li,,'+12025550102,,,\"{\"\"firstName\"\":\"\"N/A\"\",\"\"contactMetadata\"\":"
        b"{\"\"Age\"\":7}}\"\r\n"
        b",Ek,,'+12025550103,,,{broken\r\n"
        b",Om,,'+12025550104,,,\"{\"\"contactMetadata\"\":{\"\"" + b"k" * 65 + b"\"\":1}}\"\r\n",
        [
            ok(2, "=Ann", "Lee", ANN, meta={"City": "Hove"}),
            ok(3, "N/A", "Li", BOB, meta={"Age": 7}),
            bad(4, ("invalid_metadata", "contactJson")),
            bad(5, ("key_too_long", "contactJson")),
        ],
        {"encoding": "utf-8-sig", "headerRow": 1},
    ),
    "text that is called a workbook": Case(
        "list.xlsx", f"Name,Phone\nAnn Lee,{ANN}\nBob Li,{BOB}\n".encode(), _PLAIN,
        {"type": "csv"}, {"content_mismatch": 0},
    ),
    "a status that ends outreach": _text(
        f"Record,Phone,Status\nA-1,{ANN},new\n,{BOB},completed\n",
        ok(2, phone=ANN, meta={"Record": "A-1"}, status="new"),
        {"row": 3, "is": "ignored", "kind": "status_ended"},
    ),
    "only an update": _text(
        f"Name,Phone\nAnn Lee,{ANN}\n",
        {"row": 2, "is": "ignored", "kind": "not_in_campaign"}, action="updateOnly",
    ),
}  # fmt: skip
