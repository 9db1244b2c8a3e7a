"""Figures over the daily roll-up of conversations: report, usage, subscription, charts.

All read the same table by the same rules, so that report, screens and JSON agree to the unit.
"""

from app.services.reporting.admin_report import (
    AdminReport,
    ReportRow,
    Summary,
    report,
    search,
    summary,
)
from app.services.reporting.daily import Day, daily, last_updated
from app.services.reporting.plan import subscription, subscription_of, subscription_of_user
from app.services.reporting.usage import usage, usage_of

__all__ = [
    "AdminReport",
    "Day",
    "ReportRow",
    "Summary",
    "daily",
    "last_updated",
    "report",
    "search",
    "subscription",
    "subscription_of",
    "subscription_of_user",
    "summary",
    "usage",
    "usage_of",
]
