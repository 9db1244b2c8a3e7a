"""The files of a statement: rows for spreadsheets and the parts of its PDF."""

from typing import Any

from app.calendar_months import last_day_of
from app.languages import gettext, lazy_gettext, pgettext
from app.portal.billing.formats import (
    amount_of,
    decimal_of,
    due_label,
    included_message,
    invoice_number,
    month_name,
    statement_lines,
    total_label,
)
from app.portal.web.formats import day
from app.services import csv_files
from app.services.billing.parties import StatementParties, StatementParty
from app.services.billing.rating import LineKind, StatementLine, in_micros
from app.services.billing.statements import Bill

COLUMNS = (
    "Customer",
    "Month (UTC)",
    "First day",
    "Last day",
    "Issued",
    "Invoice number",
    "Description",
    "Detail",
    "Quantity",
    "Unit price",
    "Amount",
    "Currency",
    "Seller",
    "Seller address",
    "Seller tax ID",
    "Buyer",
    "Buyer address",
    "Buyer tax ID",
)
NOTE = lazy_gettext(
    "Days and months are UTC. Each answered call counts in full minutes. Usage that is reported "
    "after a month is closed is in the next statement. No tax is included."
)


def csv_rows(bill: Bill, parties: StatementParties) -> list[tuple[csv_files.Cell, ...]]:
    """Return the rows of the file for spreadsheets; the last one has the total."""
    issued = f"{bill.closed_at:%Y-%m-%d}" if bill.closed_at else ""
    days = (bill.month.isoformat(), last_day_of(bill.month).isoformat(), issued)
    sides = (*_party_cells(parties.seller), *_party_cells(parties.buyer))
    leading_cells = (parties.buyer.name, f"{bill.month:%Y-%m}", *days, invoice_number(bill.number))
    rows: list[tuple[csv_files.Cell, ...]] = [
        (
            *leading_cells,
            *(texts.name, texts.detail, _line_quantity(line) if texts.quantity else None),
            decimal_of(line.unit_micros) if texts.price else None,
            *(amount_of(in_micros(line.amount, bill.currency), bill.currency), bill.currency),
            *sides,
        )
        for line, texts in statement_lines(bill)
    ]
    total = amount_of(in_micros(bill.total, bill.currency), bill.currency)
    total_row = (*leading_cells, "Total", "", "", "", total, bill.currency, *sides)
    return [*rows, total_row]


def pdf_parts(bill: Bill, parties: StatementParties) -> dict[str, Any]:
    """Return the content of the PDF below the letterhead."""
    month = month_name(bill.month)
    return {
        "title": gettext("Statement for %(month)s", month=month)
        if bill.closed_at
        else gettext("Preview of the statement for %(month)s", month=month),
        "parties": [
            (pgettext("statement", "From"), parties.seller.name, _lines_below_name(parties.seller)),
            (pgettext("statement", "To"), parties.buyer.name, _lines_below_name(parties.buyer)),
        ],
        "facts": _statement_details(bill, parties),
        "columns": [
            gettext("Description"),
            gettext("Quantity"),
            gettext("Unit price"),
            gettext("Amount"),
        ],
        "lines": [
            (texts.name, texts.detail, texts.quantity, texts.price, texts.amount)
            for _, texts in statement_lines(bill)
        ],
        "total": (gettext("Total"), total_label(bill)),
        "payment": _payment_lines(parties),
        "note": str(NOTE),
    }


def _payment_lines(parties: StatementParties) -> tuple[str, list[str]] | None:
    """Return how to pay, with its title, in lines; None without instructions."""
    if parties.payment is None or not parties.payment.shown:
        return None
    return gettext("How to pay"), parties.payment.shown.splitlines()


def _statement_details(bill: Bill, parties: StatementParties) -> list[tuple[str, str]]:
    details = [
        (
            gettext("Period"),
            gettext(
                "%(first)s to %(last)s, UTC",
                first=day(bill.month),
                last=day(last_day_of(bill.month)),
            ),
        ),
    ]
    if bill.number is not None:
        details.append((gettext("Invoice number"), invoice_number(bill.number)))
    if bill.closed_at:
        details.append((gettext("Issued"), day(bill.closed_at)))
    if due := due_label(bill, parties):
        details.append((pgettext("statement", "Due"), due))
    if included := included_message(bill):
        details.append((gettext("Usage"), included))
    if bill.charge:
        details.append((gettext("Payment"), gettext("Through Stripe")))
    return details


def _line_quantity(line: StatementLine) -> int:
    return 1 if line.kind is LineKind.PLAN else line.charged


def _party_cells(party: StatementParty) -> tuple[str, str, str]:
    return party.name, ", ".join(party.address.lines), party.address.tax_id


def _lines_below_name(party: StatementParty) -> list[str | tuple[str, str, str]]:
    """Return the lines of a party below its name; that of its tax number in parts, of which the
    second is never broken."""
    lines: list[str | tuple[str, str, str]] = list(party.address.lines)
    if party.address.tax_id:
        text = gettext("Tax or registration number: %(number)s", number="\0")
        before, _, after = text.partition("\0")
        lines.append((before, party.address.tax_id, after))
    return lines + ([party.email] if party.email else [])
