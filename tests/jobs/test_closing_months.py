"""The worker closes months and reports budgets by itself, also when several workers do."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from app.database import Database
from app.enums import Role, Tier
from app.jobs import housekeeping
from app.models import Mail, MailKind, Organization, SpendingTotal, Statement
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.services import organizations
from app.services.billing import closing
from app.services.pricing.plans import PlanTerms
from app.services.spending import LimitSubject, budgets
from app.services.tenancy import visible_organizations
from tests.fixtures.clock import set_clock
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.waiting import wait_for, waits_for_a_lock
from tests.fixtures.worker_context import worker_context
from tests.services.billing.conftest import publish

LONG_AGO = datetime(2025, 11, 1, tzinfo=UTC)
CLOSING = datetime(2026, 11, 1, 3, tzinfo=UTC)
CUSTOMERS = 20


@pytest.fixture
def tenant_with_customers(fresh_database: Database) -> Tenant:
    """Organizations that pay $99 a month, of a partner with plans since October."""
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        publish(session, tenant, datetime(2026, 10, 1, tzinfo=UTC), PLUS=PlanTerms(9_900, "USD"))
        for number in range(CUSTOMERS):
            organization = Organization(
                partner_id=tenant.partner.id,
                name=f"Customer {number}",
                created_at=LONG_AGO,
                payment_tier=Tier.PLUS,
            )
            session.add(organization)
        session.flush()
        session.expunge_all()
    return tenant


def numbers(database: Database) -> list[int | None]:
    with database.transaction(read_only=True) as session:
        return list(session.scalars(select(Statement.number).order_by(Statement.number)))


def close(database: Database) -> None:
    written = 1
    while written:
        with database.transaction() as session:
            written = closing.close_due(session, CLOSING)


def test_two_workers_close_a_month_once_with_numbers_without_gaps(
    fresh_database: Database, tenant_with_customers: Tenant
) -> None:
    with ThreadPoolExecutor(2) as workers:
        for closed in [workers.submit(close, fresh_database) for _each in range(2)]:
            closed.result()
    assert numbers(fresh_database) == list(range(1, CUSTOMERS + 1))


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_customer_can_be_changed_while_the_month_is_closed(
    fresh_database: Database, tenant_with_customers: Tenant
) -> None:
    """The change writes a row about the partner, the statement one about the customer."""
    changes = read(UpdateOrganizationInput, {"referralCode": "SPRING"})
    with ThreadPoolExecutor(1) as worker:
        with fresh_database.transaction() as session:
            changed = session.scalars(select(Organization).where(Organization.name == "Customer 0"))
            organization = changed.one()
            admin = tenant_with_customers.caller(Role.PARTNER_ADMIN)
            held = visible_organizations(admin).where(Organization.id == organization.id)
            session.execute(held.with_for_update())
            closed = worker.submit(close, fresh_database)
            wait_for(lambda: waits_for_a_lock(fresh_database))
            organizations.update(session, admin, organization.id, changes)
        closed.result()
    assert numbers(fresh_database) == list(range(1, CUSTOMERS + 1))


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_worker_closes_months_and_reports_budgets(
    fresh_database: Database, tenant_with_customers: Tenant, tmp_path: Path
) -> None:
    with worker_context(settings_for(url_of(fresh_database), tmp_path)):
        admin = tenant_with_customers.caller(Role.PARTNER_ADMIN)
        with fresh_database.transaction() as session:
            budgets.change(
                session, admin, LimitSubject(partner_id=tenant_with_customers.partner.id), 1_000_000
            )
            scope = f"partner:{tenant_with_customers.partner.id}"
            session.add(
                SpendingTotal(
                    scope=scope,
                    period="2026-11",
                    partner_id=tenant_with_customers.partner.id,
                    spent_micros=900_000,
                )
            )
        with set_clock() as clock:
            clock.now = CLOSING
            housekeeping.close_months()
            housekeeping.report_budgets()
        assert len(numbers(fresh_database)) == CUSTOMERS
        with fresh_database.transaction(read_only=True) as session:
            [mail] = session.scalars(select(Mail).where(Mail.kind == MailKind.BUDGET_REACHED.value))
            assert (mail.details["percent"], mail.details["organization"]) == (80, None)
