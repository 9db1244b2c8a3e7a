"""A real export, read and mapped: every good row a contact, every bad one named."""

import io
from collections.abc import Callable

import pytest

from app.contact_files import open_table
from app.phone import normalise
from app.services.imports.mapping import HeaderMapping
from app.services.imports.rows import to_contact
from app.services.imports.suggestions import suggest
from tests.files.exports import (
    BAD_ROWS,
    HUBSPOT_COLUMNS,
    Export,
    hubspot_contacts,
    hubspot_workbook,
)

# What one cell cannot decide is left to the rules of contacts.
RULES_OF_CONTACTS = {"invalid_email", "missing_identifier", "value_too_long"}


@pytest.mark.parametrize(
    ("make_export", "kind", "encoding"),
    [(hubspot_contacts, "csv", "cp1252"), (hubspot_workbook, "xlsx", None)],
    ids=["csv", "xlsx"],
)
def test_a_hubspot_export_is_read_row_by_row(
    make_export: Callable[[], Export], kind: str, encoding: str | None
) -> None:
    export = make_export()
    with open_table(io.BytesIO(export.data), name="all-contacts") as table:
        assert (table.kind, table.encoding, table.header_row_number) == (kind, encoding, 1)
        assert table.header == list(HUBSPOT_COLUMNS)
        mapping = HeaderMapping(table.header, suggest(table.header))
        rows = [(row, to_contact(row.cells, mapping, "US")) for row in table.rows()]
    assert (len(rows), len(export.bad), BAD_ROWS) == (2000, 37, 37)
    named = [(row.number, read.errors[0].code) for row, read in rows if read.errors]
    assert named == [item for item in export.bad if item[1] not in RULES_OF_CONTACTS]
    bad = {number for number, _ in export.bad}
    contacts = [read.contact for row, read in rows if row.number not in bad]
    assert len({contact["phone"] for contact in contacts}) == len(contacts) == 1963
    assert all(normalise(contact["phone"], None) == contact["phone"] for contact in contacts)
    assert {"Aurélie", "Björn", "Søren", "Núria"} <= {contact["firstName"] for contact in contacts}


def test_an_export_is_the_same_every_time() -> None:
    assert hubspot_contacts(200) == hubspot_contacts(200)
    assert len({kind for _, kind in hubspot_contacts(200).bad}) == 6
