"""Statements: what a customer pays for a month, as a page, for spreadsheets and as a PDF."""

from collections.abc import Iterable
from datetime import date
from uuid import UUID

from flask import Response, g, render_template
from sqlalchemy.orm import Session

from app import languages
from app.calendar_months import last_day_of, month_of
from app.extensions import caller, transaction
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.billing import blueprint
from app.portal.billing.formats import (
    due_label,
    included_message,
    invoice_number,
    month_name,
    month_of_url,
    statement_lines,
)
from app.portal.billing.labels import charge_message, status_message
from app.portal.billing.statement_files import COLUMNS, NOTE, csv_rows, pdf_parts
from app.portal.web.lists import csv_file, file_name_part, pdf_file
from app.portal.web.page_frame import read_frame
from app.services import csv_files, organizations, pdf
from app.services.billing import closing, statements
from app.services.billing.parties import StatementParties
from app.services.billing.statements import Bill
from app.services.branding.letterhead import letterhead


@blueprint.get("/statements/<uuid:organization_id>")
def show_statement(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        read_frame(session, partner_id=organization.partner_id)
        bill, parties = _requested_statement(session, organization_id)
        months = _offered_months(session, organization, bill)
        return _statement_page(bill, parties, months)


def _statement_page(bill: Bill, parties: StatementParties, months: Iterable[date]) -> str:
    return render_template(
        "portal/billing/statement.html",
        bill=bill,
        parties=parties,
        lines=[texts for _, texts in statement_lines(bill)],
        included=included_message(bill),
        number=invoice_number(bill.number),
        last_day=last_day_of(bill.month),
        status=status_message(bill),
        charge=charge_message(bill, names_problem=caller().may(Permission.ORGANIZATIONS_WRITE)),
        months=[(f"{month:%Y-%m}", month_name(month)) for month in months],
        note=NOTE,
        has_pdf=pdf.is_installed(),
        due=due_label(bill, parties),
    )


@blueprint.get("/statements/<uuid:organization_id>.csv")
def download_statement(organization_id: UUID) -> Response:
    with languages.using_language(languages.DEFAULT):  # scripts read it
        with transaction(read_only=True) as session:
            bill, parties = _requested_statement(session, organization_id)
        rows = csv_rows(bill, parties)
    return csv_file(_file_name(bill), [csv_files.first_line(COLUMNS), csv_files.lines(rows)])


@blueprint.get("/statements/<uuid:organization_id>.pdf")
def download_statement_pdf(organization_id: UUID) -> Response:
    with transaction(read_only=True) as session:
        bill, parties = _requested_statement(session, organization_id)
        head = letterhead(session, g.brand)
    content = pdf.render("statement", {**head, **pdf_parts(bill, parties)})
    return pdf_file(_file_name(bill), content)


def _requested_statement(session: Session, organization_id: UUID) -> tuple[Bill, StatementParties]:
    return statements.bill_with_parties(session, caller(), organization_id, month_of_url())


def _offered_months(session: Session, organization: Organization, bill: Bill) -> list[date]:
    """Return the months on offer, the newest first: this one, the last one also while it waits to
    be closed, those that are closed, and the one that is shown."""
    today = utcnow().date()
    ended = closing.ended_months(session, organization, today)
    return sorted({month_of(today), *ended, bill.month}, reverse=True)


def _file_name(bill: Bill) -> str:
    kind = "preview" if bill.closed_at is None else "statement"
    return f"{kind}-{file_name_part(bill.name, 'customer')}-{bill.month:%Y-%m}"
