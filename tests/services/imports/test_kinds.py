"""The kinds of problems of a file are the same in the code, the docs and the agreement."""

import re
from pathlib import Path

import pytest

from app.contact_files.errors import REFUSALS
from app.services.imports import kinds

DOCS = Path(__file__).resolve().parents[3] / "docs" / "contact-files.md"
AGREED = {
    "Rows in error": """
        missing_identifier invalid_phone invalid_email value_too_long key_too_long
        too_many_metadata_keys invalid_metadata unknown_external_id_key external_id_pair_incomplete
        ambiguous_match column_count unclosed_quote bad_quote undecodable_text control_characters
        excel_damaged_phone several_phones several_emails phone_extension formula_without_value
        cell_error placeholder_value
    """,
    "Rows that are ignored": "status_ended not_in_campaign",
    "Warnings": """
        duplicate duplicate_phone duplicate_email extension_dropped several_phones several_emails
        no_phone phone_dropped email_dropped encoding_guessed other_sheets hidden_sheet footer_rows
        title_rows unnamed_column duplicate_columns extra_cells missing_cells placeholder_value
        characters_removed characters_replaced assumed_country implausible_phone text_around_value
        macros_ignored content_mismatch formula_without_value key_too_long
    """,
    "Refused files": """
        empty_file no_rows no_header no_contact_column unclosed_quote bad_quote undecodable_text
        encoding_unknown not_text unsupported_type content_mismatch too_many_columns
        duplicate_columns field_too_long nul_bytes too_large too_many_rows zip_bomb
        password_protected macro_file unreadable_workbook unsafe_workbook choose_sheet
    """,
}
ADDED = {
    "Rows in error": {"not_found", "do_not_contact"},
    "Rows that are ignored": {"left_out"},
    "Warnings": {
        "repaired",
        "do_not_call",
        "do_not_call_unclear",
        "hidden_rows",
        "hidden_columns",
        "on_do_not_call_list",
        "country_not_open",
    },
    "Refused files": {"no_such_column"},
}
"""Kinds beyond the agreement: of contacts of any source, of a user's own repairs, of contacts who
can't be called, of hidden parts of a spreadsheet, and of columns that a script names."""
IN_CODE = {
    "Rows in error": {kind: words.rule for kind, words in kinds.ERRORS.items()},
    "Rows that are ignored": {kind: words.rule for kind, words in kinds.IGNORED.items()},
    "Warnings": {kind: words.rule for kind, words in kinds.WARNINGS.items()},
    "Refused files": REFUSALS,
}


@pytest.mark.parametrize("section", AGREED)
def test_the_kinds_of_files_are_exactly_these(section: str) -> None:
    assert IN_CODE[section].keys() == {*AGREED[section].split()} | ADDED.get(section, set())


@pytest.mark.parametrize("section", AGREED)
def test_the_docs_list_the_same_kinds_of_files(section: str) -> None:
    text = DOCS.read_text().split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE)) == IN_CODE[section]
