"""The report of a month as a PDF."""

from flask import Response

from app.extensions import caller, figures
from app.models import utcnow
from app.portal.billing.words import model_rate
from app.portal.report.month_views import asked_report
from app.portal.web.blueprint import portal
from app.portal.web.letterhead import letterhead, pdf_file
from app.portal.web.lists import file_words
from app.services import monthly_reports, partners, pdf
from app.services.billing.usage import ModelRate


@portal.get("/report/month.pdf")
def report_month_file() -> Response:
    today = utcnow().date()
    with figures() as session:
        shown = asked_report(session, today)
        head = letterhead(session)
        partner = partners.get_own(session, caller())
        name = shown.organization.name if shown.organization else partner.name
    has_model = model_rate() != ModelRate()
    parts = monthly_reports.paper(shown.report, shown.earned, name, today, has_model=has_model)
    content = pdf.render("report", {**head, **parts})
    whose = f"-{file_words(name, 'organization')}" if shown.organization else ""
    return pdf_file(f"report{whose}-{shown.month:%Y-%m}", content)
