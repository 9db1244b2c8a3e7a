"""Statements: what a customer pays for a month, as a page, for spreadsheets and as a PDF."""

from uuid import UUID

from flask import Response, render_template, request
from sqlalchemy.orm import Session

from app import languages
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, pgettext
from app.models import utcnow
from app.portal.billing.words import (
    amount_of,
    decimal_of,
    included_words,
    invoice_number,
    last_day_of,
    month_name,
    statement_lines,
    total_words,
)
from app.portal.web.blueprint import portal
from app.portal.web.formats import day
from app.portal.web.letterhead import letterhead, pdf_file
from app.portal.web.lists import csv_file, file_words
from app.services import csv_files, pdf
from app.services.billing import statements
from app.services.billing.months import asked_month, next_month
from app.services.billing.parties import Parties, Party
from app.services.billing.rating import Line, LineKind, in_micros
from app.services.billing.statements import Bill

COLUMNS = (
    *("Customer", "Month (UTC)", "First day", "Last day", "Issued", "Invoice number"),
    *("Description", "Detail", "Quantity", "Unit price", "Amount", "Currency"),
    *("Seller", "Seller address", "Seller tax ID", "Buyer", "Buyer address", "Buyer tax ID"),
)
NOTE = lazy_gettext(
    "Days and months are UTC. Each answered call counts in full minutes. Usage that is reported "
    "after a month is closed is in the next statement. No tax is included."
)


@portal.get("/statements/<uuid:organization_id>")
def statement(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        bill, parties = _asked(session, organization_id)
        closed = statements.closed_months(session, caller(), organization_id)
    this = utcnow().date().replace(day=1)
    months = [this, *(month for month in closed if month != this)]
    if bill.month not in months:
        months.append(bill.month)
    return render_template(
        "portal/billing/statement.html",
        bill=bill,
        parties=parties,
        lines=[shown for _, shown in statement_lines(bill)],
        included=included_words(bill),
        number=invoice_number(bill.number),
        last_day=last_day_of(bill),
        closes=next_month(bill.month),
        months=[(f"{month:%Y-%m}", month_name(month)) for month in sorted(months, reverse=True)],
        note=NOTE,
        has_pdf=pdf.is_installed(),
    )


@portal.get("/statements/<uuid:organization_id>.csv")
def statement_file(organization_id: UUID) -> Response:
    with languages.speaking(languages.DEFAULT):  # scripts read it
        with transaction(read_only=True) as session:
            bill, parties = _asked(session, organization_id)
        lines = statement_lines(bill)
    issued = f"{bill.closed_at:%Y-%m-%d}" if bill.closed_at else ""
    days = (bill.month.isoformat(), last_day_of(bill).isoformat(), issued)
    sides = (*_cells(parties.seller), *_cells(parties.buyer))
    about = (parties.buyer.name, f"{bill.month:%Y-%m}", *days, invoice_number(bill.number))
    rows: list[tuple[csv_files.Cell, ...]] = [
        (
            *about,
            *(shown.name, shown.detail, _quantity(line) if shown.quantity else None),
            decimal_of(line.unit_micros) if shown.price else None,
            *(amount_of(in_micros(line.amount, bill.currency), bill.currency), bill.currency),
            *sides,
        )
        for line, shown in lines
    ]
    total = amount_of(in_micros(bill.total, bill.currency), bill.currency)
    summed = (*about, "Total", "", "", "", total, bill.currency, *sides)
    cells = csv_files.lines([*rows, summed])
    return csv_file(_file_name(bill), [csv_files.first_line(COLUMNS), cells])


@portal.get("/statements/<uuid:organization_id>.pdf")
def statement_pdf(organization_id: UUID) -> Response:
    with transaction(read_only=True) as session:
        bill, parties = _asked(session, organization_id)
        paper = letterhead(session)
    month = month_name(bill.month)
    facts = [
        (
            gettext("Period"),
            gettext(
                "%(first)s to %(last)s, UTC", first=day(bill.month), last=day(last_day_of(bill))
            ),
        ),
    ]
    if bill.number is not None:
        facts.append((gettext("Invoice number"), invoice_number(bill.number)))
    if bill.closed_at:
        facts.append((gettext("Issued"), day(bill.closed_at)))
    if included := included_words(bill):
        facts.append((gettext("Usage"), included))
    if bill.charge:
        facts.append((gettext("Payment"), gettext("Through Stripe")))
    content = pdf.render(
        "statement",
        {
            **paper,
            "title": gettext("Statement for %(month)s", month=month)
            if bill.closed_at
            else gettext("Preview of the statement for %(month)s", month=month),
            "parties": [
                (pgettext("statement", "From"), parties.seller.name, _below(parties.seller)),
                (pgettext("statement", "To"), parties.buyer.name, _below(parties.buyer)),
            ],
            "facts": facts,
            "columns": [
                gettext("Description"),
                gettext("Quantity"),
                gettext("Unit price"),
                gettext("Amount"),
            ],
            "lines": [
                (line.name, line.detail, line.quantity, line.price, line.amount)
                for _, line in statement_lines(bill)
            ],
            "total": (gettext("Total"), total_words(bill)),
            "note": str(NOTE),
        },
    )
    return pdf_file(_file_name(bill), content)


def _quantity(line: Line) -> int:
    return 1 if line.kind is LineKind.PLAN else line.charged


def _cells(party: Party) -> tuple[str, str, str]:
    return party.name, ", ".join(party.address.lines), party.address.tax_id


def _below(party: Party) -> list[str]:
    """Return the lines of a party below its name."""
    lines = list(party.address.lines)
    if party.address.tax_id:
        number = party.address.tax_id
        lines.append(gettext("Tax or registration number: %(number)s", number=number))
    return lines + ([party.email] if party.email else [])


def _asked(session: Session, organization_id: UUID) -> tuple[Bill, Parties]:
    month = asked_month(request.args.get("month", ""), utcnow().date())
    return statements.bill_with_parties(session, caller(), organization_id, month)


def _file_name(bill: Bill) -> str:
    kind = "preview" if bill.closed_at is None else "statement"
    return f"{kind}-{file_words(bill.name, 'customer')}-{bill.month:%Y-%m}"
