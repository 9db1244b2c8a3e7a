"""Figures over the daily roll-up of conversations: report, usage, subscription, charts.

All read the same table by the same rules, so that report, screens and JSON agree exactly.
"""

from app.services.reporting.admin_report import report
from app.services.reporting.by_organization import (
    MAX_RANKED,
    MOST_FIRST,
    OrganizationUsage,
    UsageFigures,
    UsageFilter,
    by_organization,
    can_rank,
    count_if_few,
    count_organizations,
    few_to_rank,
)
from app.services.reporting.by_organization import SORTS as USAGE_SORTS
from app.services.reporting.comparing import ComparedDays, compare_days
from app.services.reporting.costs import (
    CostLine,
    CurrencyCost,
    MonthCost,
    by_month,
    by_month_and_can_rank,
    by_organization_ids,
    cost_lines,
    round_to_total,
    subtract_costs,
    totals,
)
from app.services.reporting.daily import (
    DailyFigures,
    daily,
    daily_of,
    total,
    totals_from,
    totals_query,
    within,
)
from app.services.reporting.earnings import (
    MonthEarned,
    PartnerEarnings,
    earnings,
    earnings_by_month,
    month_earnings,
    total_of,
)
from app.services.reporting.monthly import AnsweredCalls, ConversationChange, MonthlyReport, monthly
from app.services.reporting.plan import subscription, subscription_of_user
from app.services.reporting.report_page import SORTS as REPORT_SORTS
from app.services.reporting.report_page import ReportFilter, ReportRow, count, search, summary
from app.services.reporting.sign_ups import SignUps, by_days, range_of_sign_ups, sign_ups
from app.services.reporting.span import (
    DaySpan,
    last_days,
    last_month,
    requested_span,
    this_month,
    whole_month,
)
from app.services.reporting.usage import usage
