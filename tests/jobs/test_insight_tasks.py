"""The worker's periodic tasks open alerts, send reports and check figures."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app.database import Database
from app.enums import AlertMeasure, AlertPeriod, AlertScope, Role
from app.jobs.housekeeping import TASKS, check_figures, evaluate_alerts, send_reports
from app.models import Alert, CallDay, FigureCheck, Mail, ReportSchedule, utcnow
from app.services import alerts, monthly_reports
from app.services.alerts import RuleInput
from app.services.monthly_reports import ScheduleInput
from tests.fixtures.cast import make_tenant
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker_context import worker_context


@pytest.fixture
def database(fresh_database: Database, tmp_path: Path) -> Iterator[Database]:
    with worker_context(settings_for(url_of(fresh_database), tmp_path)):
        yield fresh_database


def test_each_task_runs_once_when_it_is_due(database: Database) -> None:
    with database.transaction() as session:
        own = make_tenant(session)
        admin, rule = own.caller(Role.PARTNER_ADMIN), AlertMeasure.FAILED_CALLS
        alerts.create(session, admin, RuleInput(rule, AlertScope.PARTNER, 1, AlertPeriod.TODAY))
        whose = {"organization_id": own.organization.id, "partner_id": own.partner.id}
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
