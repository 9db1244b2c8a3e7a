"""Files that are refused as a whole, each with its kind and the row if that is known."""

import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from tests.files.corpus.cases import ANN, BOB, Case
from tests.files.corpus.workbooks import xls
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes

_SHEET = sheet_xml(inline_row(1, "Name", "Phone") + inline_row(2, "Ann Lee", ANN))
_BOMB = (
    '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)


def _archive(**parts: bytes) -> bytes:
    data = io.BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return data.getvalue()


def _unpacking_to(size: int) -> bytes:
    data = io.BytesIO(workbook_bytes(("L", _SHEET)))
    with ZipFile(data, "a", ZIP_DEFLATED) as package:
        package.writestr("xl/more.xml", bytes(1024))
        package.getinfo("xl/more.xml").file_size = size
    return data.getvalue()


def _renamed(data: bytes, old: str, new: str) -> bytes:
    """An old container whose one stream has another name of the same length or shorter."""
    was = old.encode("utf-16-le") + bytes(2 * max(0, len(new) - len(old)))
    return data.replace(was, new.encode("utf-16-le").ljust(len(was), b"\0"))


def _refused(name: str, data: bytes, kind: str, row: int | None = None, **options: Any) -> Case:
    return Case(name, data, refusal=(kind, row), options=options)


REFUSED = {
    "blanks only": _refused("list.csv", b" \r\n\t\n", "empty_file"),
    "a header only": _refused("list.csv", b"Name,Phone\n", "no_rows"),
    "a header row that is blank": _refused(
        "list.csv", b"a,b\n\n1,2\n", "no_header", 2, header_row=2
    ),
    "a renamed program": _refused("list.csv", b"MZ\x90\x00\x03" + bytes(99), "unsupported_type"),
    "a PDF": _refused("list.pdf", b"%PDF-1.7\n%\xe2\xe3", "unsupported_type"),
    "a picture": _refused("list.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "unsupported_type"),
    "a web page": _refused("list.html", b"<html><table></table></html>", "unsupported_type"),
    "a web page that is called XLS": _refused(
        "report.xls", b"<html><body><table><tr><td>Name</td></tr></table>", "content_mismatch"
    ),
    "an XML file that is called XLS": _refused(
        "report.xls", b'<?xml version="1.0"?><Workbook></Workbook>', "content_mismatch"
    ),
    "bytes without a meaning": _refused("list.csv", bytes(range(1, 256)) * 50, "not_text"),
    "NUL characters": _refused("list.csv", b"Name,Phone\nAnn\0,+12025550123\n", "nul_bytes"),
    "an encoding that is none": _refused(
        "list.csv", b"a,b\n1,2\n", "encoding_unknown", encoding="nope"
    ),
    "text in another encoding than chosen": _refused(
        "list.csv", "a,b\né,2\n".encode(), "undecodable_text", encoding="ascii"
    ),
    "a quote that opens in the header": _refused(
        "list.csv", f'"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n'.encode(), "unclosed_quote", 1
    ),
    "a quote out of place in the header": _refused(
        "list.csv", f'"Na"me,Phone\nAnn,{ANN}\n'.encode(), "bad_quote", 1
    ),
    "two columns for one field": _refused(
        "list.csv", f"First Name,First Name,Phone\nAnn,Bob,{ANN}\n".encode(), "duplicate_columns", 1
    ),
    "a field of 60 MB": _refused(
        "list.csv", b"a,b\n1,2\n" + b"x" * 60_000_000, "field_too_long", 3
    ),
    "a million columns": _refused(
        "list.csv", b"a,b\n" + b"," * 1_000_000 + b"\n", "too_many_columns", 2
    ),
    "a workbook that unpacks to two gibibytes": _refused(
        "list.xlsx", _unpacking_to(2 * 1024**3), "zip_bomb"
    ),
    "an XML bomb": _refused(
        "list.xlsx", workbook_bytes(("L", sheet_xml(inline_row(1, "&c;"), _BOMB))),
        "unsafe_workbook",
    ),
    "a workbook cut off": _refused(
        "list.xlsx", workbook_bytes(("L", _SHEET))[:600], "unreadable_workbook"
    ),
    "an old workbook cut off": _refused(
        "list.xls", xls(("L", [["a"]]))[:900], "unreadable_workbook"
    ),
    "an encrypted workbook": _refused(
        "list.xlsx", _renamed(xls(("L", [["a"]])), "Workbook", "EncryptedPackage"),
        "password_protected",
    ),
    "a document of the old kind": _refused(
        "list.doc", _renamed(xls(("L", [["a"]])), "Workbook", "WordDocm"), "unsupported_type"
    ),
    "an OpenDocument sheet": _refused(
        "list.ods",
        _archive(mimetype=b"application/vnd.oasis.opendocument.spreadsheet",
                 content_dot_xml=b"<x/>", **{"META-INF__manifest_dot_xml": b"<x/>"}),
        "unsupported_type",
    ),
    "a Numbers document": _refused(
        "list.numbers", _archive(Index__Document_dot_iwa=b"x"), "unsupported_type"
    ),
    "an archive": _refused("list.zip", _archive(list_dot_csv=b"a,b\n"), "unsupported_type"),
    "a workbook of macros": _refused(
        "tools.xlam",
        workbook_bytes(("L", _SHEET), extra={"xl/macrosheets/sheet1.xml": b"<x/>"}), "macro_file",
    ),
    "a sheet that is not there": _refused(
        "list.xlsx", workbook_bytes(("L", _SHEET)), "choose_sheet", sheet="M"
    ),
}  # fmt: skip
