"""Cells as spreadsheets, forms and people write them."""

from typing import Any

from tests.files.corpus.cases import ANN, BOB, CY, Case, bad, ok

_ABROAD = "assumed_country country_not_open"
_DAMAGE = ("excel_damaged_phone", "Phone")


def _phones(*cells: tuple[str, dict[str, Any] | tuple[str, str | None]], **more: Any) -> Case:
    """One phone a row: a dictionary for a row that is applied, a pair for one in error."""
    lines, rows = ["Name;Phone"], []
    for number, (cell, expected) in enumerate(cells, 2):
        lines.append(f"P{number};{cell}")
        if isinstance(expected, dict):
            rows.append(ok(number, f"P{number}", **expected))
        else:
            rows.append(bad(number, expected))
    return Case("list.csv", "\n".join([*lines, ""]).encode(), rows, **more)


CELLS = {
    "numbers rounded and written as powers of ten": _phones(
        ("4.41E+11", _DAMAGE), ("1,20256E+10", _DAMAGE), ("4.47700900418E+11", _DAMAGE)
    ),
    "numbers turned into something else": _phones(
        ("12025550101.0", _DAMAGE), ("########", _DAMAGE), ("12-May-20", _DAMAGE),
        ("2026-05-12 00:00:00", _DAMAGE), ("'2025550101", _DAMAGE), ("2025550101'", _DAMAGE),
        ("12,025,550,101", _DAMAGE), ("-8253", _DAMAGE), ("2O2-555-O1O1", _DAMAGE),
    ),
    "a plus lost": _phones(("442079460000", _DAMAGE), ("4915112345678", _DAMAGE)),
    "numbers without a country code": _phones(
        ("(202) 555-0101", {"phone": ANN, "warnings": "assumed_country"}),
        ("202.555.0102", {"phone": BOB, "warnings": "assumed_country"}),
        ("1 202 555 0103", {"phone": CY, "warnings": "assumed_country"}),
        ("0044 20 7946 0000", _DAMAGE),
        ("011 44 20 7946 0000", {"phone": "+442079460000", "warnings": "country_not_open"}),
    ),
    "numbers as Germans write them": _phones(
        ("0171 / 1234567", {"phone": "+491711234567", "warnings": _ABROAD}),
        ("030 123456-12", {"phone": "+493012345612", "warnings": _ABROAD}),
        ("+49 (0) 171 1234568", {"phone": "+491711234568", "warnings": "country_not_open"}),
        ("0049 171 1234569", {"phone": "+491711234569", "warnings": "country_not_open"}),
        ("49 171 1234567", _DAMAGE), ("49 (0)171 1234567", _DAMAGE), ("1711234567", _DAMAGE),
        ("0171 1234567 bzw. 0172 7654321", ("several_phones", "Phone")),
        options={"region": "DE"},
    ),
    "numbers as Indians write them": _phones(
        ("9876543210", {"phone": "+919876543210", "warnings": _ABROAD}),
        ("919876543211", {"phone": "+919876543211", "warnings": _ABROAD}),
        ("098765 43212", {"phone": "+919876543212", "warnings": _ABROAD}),
        options={"region": "IN"},
    ),
    "invisible marks and digits of other scripts": _phones(
        ("\u202a+1 202 555 0101\u202c", {"phone": ANN, "warnings": "characters_removed"}),
        ("\u200b2025550102", {"phone": BOB, "warnings": "assumed_country characters_removed"}),
        ("＋１２０２５５５０１０３", {"phone": CY, "warnings": "characters_replaced"}),
        ("+١٢٠٢٥٥٥٠١٠٤", {"phone": "+12025550104", "warnings": "characters_replaced"}),
        ("+1\u00a0202\u2011555\u20110105", {"phone": "+12025550105"}),
    ),
    "extensions": _phones(
        (f"{ANN} ext. 45", {
            "phone": ANN, "meta": {"phoneExtension": "45"}, "warnings": "extension_dropped"}),
        ("+1 202-555-0102 x7", {
            "phone": BOB, "meta": {"phoneExtension": "7"}, "warnings": "extension_dropped"}),
        (f"{CY} ext.", ("phone_extension", "Phone")),
        (f"{CY} x12345678", ("phone_extension", "Phone")),
        (f"{CY} ext TBD", ("phone_extension", "Phone")),
    ),
    "several numbers in one cell": _phones(
        (f"{ANN}, {BOB}", ("several_phones", "Phone")),
        (f"{ANN} / {BOB}", ("several_phones", "Phone")),
        (f"{ANN} ::: {BOB}", ("several_phones", "Phone")),
        ("030 1234567/8", ("several_phones", "Phone")),
        ("home 202 555 0101 cell 202 555 0102", ("several_phones", "Phone")),
    ),
    "words around a number": _phones(
        (f"Tel.: {ANN}", {
            "phone": ANN, "meta": {"Phone": f"Tel.: {ANN}"}, "warnings": "text_around_value"}),
        (f"{BOB} (mobile)", {
            "phone": BOB, "meta": {"Phone": f"{BOB} (mobile)"}, "warnings": "text_around_value"}),
        (f"not {CY}", ("invalid_phone", "Phone")),
        (f"fax {CY}", ("invalid_phone", "Phone")),
        ("call reception", ("invalid_phone", "Phone")),
        ('="+12025550103"', {"phone": CY, "warnings": "text_around_value"}),
    ),
    "numbers that fill a cell": _phones(
        ("000-000-0000", ("placeholder_value", "Phone")),
        ("1234567890", ("placeholder_value", "Phone")),
        ("(999) 999-9999", ("placeholder_value", "Phone")),
    ),
    "numbers that cannot be": _phones(
        ("+1 202-555-01", ("invalid_phone", "Phone")),
        ("+999 12345678", ("invalid_phone", "Phone")),
        ("12345", ("invalid_phone", "Phone")),
        ("555-0143", ("invalid_phone", "Phone")),
        ("+15550143", ("invalid_phone", "Phone")),
        ("+0012025550101", ("invalid_phone", "Phone")),
        ("1-800-FLOWERS", ("invalid_phone", "Phone")),
        ("+44 7700 90041", {"phone": "+44770090041", "warnings": "implausible_phone"}),
    ),
    "words for nothing": Case(
        "list.csv",
        f"Name,E-mail,Phone\nN/A,none,{ANN}\nBob,-,{BOB}\nCy,,unknown\n".encode(),
        [
            ok(2, phone=ANN, warnings="placeholder_value"),
            ok(3, "Bob", phone=BOB, warnings="placeholder_value"),
            bad(4, ("missing_identifier", "Phone")),
        ],
    ),
    "formulas and errors": Case(
        "list.csv",
        f'Name,Phone,Sum\n#REF!,{ANN},1\nBob,"=B2&""1""",2\nCy,{CY},#DIV/0!\nDi,{BOB},=SUM(A1)\n'
        .encode(),
        [
            bad(2, ("cell_error", "Name")), bad(3, ("formula_without_value", "Phone")),
            ok(4, "Cy", phone=CY, warnings="placeholder_value"),
            ok(5, "Di", phone=BOB, warnings="formula_without_value"),
        ],
    ),
    "characters that were lost or cannot be typed": Case(
        "list.csv",
        f"Name,Phone\nJos\ufffd,{ANN}\nBo\x07b,{BOB}\nC\u200by,{CY}\n".encode(),
        [
            bad(2, ("undecodable_text", "Name")), bad(3, ("control_characters", "Name")),
            ok(4, "Cy", phone=CY, warnings="characters_removed"),
        ],
    ),
    "external ids named beside their values": Case(
        "list.csv",
        f"Phone,externalIdKey,externalIdValue\n{ANN},nope,1\n{BOB},,2\n{CY},,\n".encode(),
        [
            bad(2, ("unknown_external_id_key", "externalIdKey")),
            bad(3, ("external_id_pair_incomplete", "externalIdKey")),
            ok(4, phone=CY),
        ],
        {"mapping": {name: [name] for name in ("externalIdKey", "externalIdValue")}
            | {"phone": ["Phone"]}},
    ),
    "addresses": Case(
        "list.csv",
        "Phone;E-mail\n"
        ";Ann Lee <ann@mail.example>\n"
        ";mailto:bob@mail.example\n"
        ";a@mail.example, b@mail.example\n"
        ";a@mail.example ::: b@mail.example\n"
        ";ann(at)mail.example\n"
        ";ｃｙ＠mail.example\n"
        ";di@mail.example,\n".encode(),
        [
            ok(2, email="ann@mail.example", warnings="no_phone text_around_value",
               meta={"E-mail": "Ann Lee <ann@mail.example>"}),
            ok(3, email="bob@mail.example", warnings="no_phone text_around_value",
               meta={"E-mail": "mailto:bob@mail.example"}),
            bad(4, ("several_emails", "E-mail")), bad(5, ("several_emails", "E-mail")),
            bad(6, ("invalid_email", "E-mail")),
            ok(7, email="cy@mail.example", warnings="characters_replaced no_phone"),
            ok(8, email="di@mail.example", warnings="no_phone text_around_value",
               meta={"E-mail": "di@mail.example,"}),
        ],
    ),
    "the same contact again": Case(
        "list.csv",
        "Name,Phone,E-mail\n"
        f"Ann,{ANN},\nAnna,{ANN},ann@mail.example\nAnn,{ANN},lee@mail.example\n"
        f"Bob,{BOB},bob@mail.example\nBob,,BOB@mail.example\n".encode(),
        [
            ok(2, "Ann", phone=ANN),
            ok(3, "Anna", phone=ANN, email="ann@mail.example", action="updated",
               warnings="duplicate"),
            ok(4, "Ann", phone=ANN, email="lee@mail.example", action="updated",
               warnings="duplicate duplicate_phone"),
            ok(5, "Bob", phone=BOB, email="bob@mail.example"),
            ok(6, "Bob", email="BOB@mail.example", action="updated", warnings="duplicate"),
        ],
    ),
    "texts too long": Case(
        "list.csv",
        f"Name,Phone,Note\n{'x' * 101},{ANN},\nBob,{BOB},{'y' * 1001}\n".encode(),
        [bad(2, ("value_too_long", "Name")), bad(3, ("value_too_long", "Note"))],
    ),
    "too much information": Case(
        "list.csv",
        (",".join(["Phone", *(f"k{n}" for n in range(51))]) + "\n"
         + ",".join([ANN, *("v" for _ in range(51))]) + "\n").encode(),
        [bad(2, ("too_many_metadata_keys", None))],
    ),
}  # fmt: skip
