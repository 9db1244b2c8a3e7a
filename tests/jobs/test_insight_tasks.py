"""The worker's periodic tasks open alerts, report budgets, send reports and check figures."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import AlertMeasure, AlertPeriod, AlertScope, Role
from app.jobs.housekeeping import (
    TASKS,
    check_figures,
    evaluate_alerts,
    report_budgets,
    send_reports,
)
from app.models import (
    Alert,
    CallDay,
    FigureCheck,
    Mail,
    ReportSchedule,
    SpendingLimit,
    SpendingTotal,
    utcnow,
)
from app.services import alerts, figure_check, monthly_reports
from app.services.alerts import RuleInput
from app.services.monthly_reports import ScheduleInput
from app.services.spending import LimitSubject, budgets
from app.services.spending.scopes import month_period
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import make_tenant
from tests.fixtures.worker_context import worker_context


@pytest.fixture
def database(fresh_database: Database, tmp_path: Path) -> Iterator[Database]:
    with worker_context(settings_for(url_of(fresh_database), tmp_path)):
        yield fresh_database


def test_each_task_runs_once_when_it_is_due(database: Database) -> None:
    with database.transaction() as session:
        tenant = make_tenant(session)
        admin, rule = tenant.caller(Role.PARTNER_ADMIN), AlertMeasure.FAILED_CALLS
        alerts.create(session, admin, RuleInput(rule, AlertScope.PARTNER, 1, AlertPeriod.TODAY))
        whose = {"organization_id": tenant.organization.id, "partner_id": tenant.partner.id}
        session.add(CallDay(**whose, day=utcnow().date(), ended=2, failed=2))
        wanted = ScheduleInput(recipients=("ann@example.com",))
        monthly_reports.save(session, admin, None, wanted)
        past = utcnow() - timedelta(minutes=1)
        session.execute(update(ReportSchedule).values(next_at=past))
    for _each in range(2):
        for task in (evaluate_alerts, send_reports, check_figures):
            task()
    with database.transaction(read_only=True) as session:
        assert [alert.value for alert in session.scalars(select(Alert))] == [2]
        kinds = session.scalars(select(Mail.kind).order_by(Mail.kind))
        assert [kind for kind in kinds if kind != "set_password"] == [
            "alerts_opened",
            "alerts_opened",
            "monthly_report",
        ]
        assert [check.counted for check in session.scalars(select(FigureCheck))] == [0] * 5
    assert {evaluate_alerts, send_reports, check_figures} <= {task.run for task in TASKS}


def test_two_workers_that_check_figures_together_report_a_difference_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    yesterday = (utcnow() - figure_check.SETTLED).date() - timedelta(days=1)
    with database.transaction() as session:
        tenant = make_tenant(session)
        whose = {"organization_id": tenant.organization.id, "partner_id": tenant.partner.id}
        session.add(CallDay(**whose, day=yesterday, ended=2))
    together, counted = Barrier(2, timeout=30), figure_check.compare_day

    def counted_together(session: Session, day: date) -> Sequence[FigureCheck]:
        together.wait()
        return counted(session, day)

    monkeypatch.setattr(figure_check, "compare_day", counted_together)
    with ThreadPoolExecutor() as workers:
        for check in [workers.submit(check_figures) for _each in range(2)]:
            check.result()
    differences = [line for line in caplog.messages if figure_check.ENDED_CALLS in line]
    assert differences == [
        f"Ended calls by organization of {yesterday}: 0 is stored as 2, 1 differ"
    ]


def test_a_budget_whose_alert_is_not_due_is_not_locked(database: Database) -> None:
    with database.transaction() as session:
        tenant = make_tenant(session)
        subject = LimitSubject(partner_id=tenant.partner.id)
        budgets.change(session, tenant.caller(Role.PARTNER_ADMIN), subject, 1_000_000)
        scope = f"partner:{tenant.partner.id}"
        spent = {"partner_id": tenant.partner.id, "spent_micros": 900_000}
        session.add(SpendingTotal(scope=scope, period=month_period(utcnow()), **spent))
    report_budgets()
    with database.transaction() as session:
        locked = session.scalars(select(SpendingLimit).with_for_update()).one()
        report_budgets()  # would wait for the end of this transaction
        assert (locked.budget_alert or "").endswith(":80")
