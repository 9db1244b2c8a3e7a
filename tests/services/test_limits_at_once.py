"""Eight clients at the last place of a limit, at one list's default view, and at the values of one
alert rule: one gets it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import AlertMeasure, AlertPeriod, AlertScope, ExportFormat
from app.errors import DomainError
from app.models import SavedView
from app.policy.caller import Caller
from app.services import alerts, exports, organization_templates, saved_views, webhooks
from app.services.alerts import rules
from app.services.exports import ExportInput, requesting
from app.services.organization_templates import updating
from app.services.saved_views import ViewInput
from app.services.webhooks import managing
from tests.fixtures.databases import runs_on
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import Tenant, make_tenant

CLIENTS = 8
SETTINGS = settings_for("sqlite://", Path())
numbers = count(1)

backend = runs_on(["postgresql"])


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        return make_tenant(session)


def at_once(database: Database, attempt: Callable[[Session], object]) -> list[str]:
    """The codes of those that are refused."""
    start = Barrier(CLIENTS)

    def client(_: int) -> str | None:
        start.wait()
        try:
            with database.transaction() as session:
                attempt(session)
        except DomainError as error:
            return error.code
        return None

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [code for code in pool.map(client, range(CLIENTS)) if code is not None]


def test_one_alert_rule_is_the_last(
    fresh_database: Database, admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_RULES", 1)

    def add(session: Session) -> None:
        alerts.create(session, admin, failed_calls(next(numbers)))

    assert at_once(fresh_database, add) == ["too_many_rules"] * (CLIENTS - 1)


def test_of_alert_rules_that_get_the_same_values_at_once_one_is_changed(
    fresh_database: Database, admin: Caller
) -> None:
    with fresh_database.transaction() as session:
        rule_ids = iter(
            [alerts.create(session, admin, failed_calls(more)).id for more in range(1, 1 + CLIENTS)]
        )

    def change(session: Session) -> None:
        alerts.update(session, admin, next(rule_ids), failed_calls(100))

    assert at_once(fresh_database, change) == [alerts.EXISTS] * (CLIENTS - 1)


def failed_calls(threshold: int) -> alerts.RuleInput:
    return alerts.RuleInput(
        AlertMeasure.FAILED_CALLS, AlertScope.PARTNER, threshold, AlertPeriod.TODAY
    )


@pytest.mark.parametrize("of_portal", [True, False], ids=["portal", "organization"])
def test_one_webhook_is_the_last(
    fresh_database: Database,
    tenant: Tenant,
    admin: Caller,
    of_portal: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(managing, "MAX_WEBHOOKS", 1)
    organization_id = None if of_portal else tenant.organization.id

    def add(session: Session) -> None:
        url = "https://crm.example/hooks"
        webhooks.add(
            session,
            admin,
            SETTINGS,
            organization_id=organization_id,
            url=url,
            events=["call.failed"],
        )

    assert at_once(fresh_database, add) == ["too_many_webhooks"] * (CLIENTS - 1)


def test_one_template_is_the_last(
    fresh_database: Database, admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updating, "MAX_TEMPLATES", 1)

    def add(session: Session) -> None:
        organization_templates.create(session, admin, f"Template {next(numbers)}")

    assert at_once(fresh_database, add) == ["too_many"] * (CLIENTS - 1)


def test_one_export_is_the_last(
    fresh_database: Database, admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requesting, "MAX_EXPORTS", 1)

    def add(session: Session) -> None:
        query = f"q={next(numbers)}"
        exports.create(session, admin, ExportInput("users", query, ExportFormat.CSV, "UTC"))

    assert at_once(fresh_database, add) == ["too_many_exports"] * (CLIENTS - 1)


def test_one_saved_view_is_the_last(
    fresh_database: Database, admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 1)

    def add(session: Session) -> None:
        saved_views.create(session, admin, "users", "q=x", ViewInput("Mine"))

    assert at_once(fresh_database, add) == ["too_many"] * (CLIENTS - 1)


def test_of_default_views_saved_at_once_the_last_stays_the_default(
    fresh_database: Database, admin: Caller
) -> None:
    def add(session: Session) -> None:
        saved_views.create(session, admin, "users", "q=x", ViewInput("Mine", is_default=True))

    assert at_once(fresh_database, add) == []
    with fresh_database.transaction() as session:
        ids = session.scalars(select(SavedView.id)).all()

    def choose(session: Session) -> None:
        view_id = ids[next(numbers) % CLIENTS]
        saved_views.change(session, admin, view_id, ViewInput("Mine", is_default=True))

    assert at_once(fresh_database, choose) == []
    with fresh_database.transaction() as session:
        defaults = session.scalars(select(SavedView).where(SavedView.is_default)).all()
        assert len(defaults) == 1
