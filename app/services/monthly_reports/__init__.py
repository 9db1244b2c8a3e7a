"""The monthly report by email: its schedule for a partner or an organization, and sending it."""

from app.services.monthly_reports.pdf_content import pdf_content
from app.services.monthly_reports.schedules import ScheduleInput, get, is_any_due, listing, save
from app.services.monthly_reports.sending import languages_of, preview, send_due, send_test
