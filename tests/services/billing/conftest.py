"""A partner with published plans, and calls that cost something."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, CarrierKind, Role, Tier
from app.gateways.carriers.base import CarrierReport, PlacementVerdict
from app.models import Assistant, Call, CallAttempt, Organization, PlanVersion, new_id
from app.models.base import id_at
from app.services import spending
from app.services.calls import carrier_costs
from app.services.pricing import versions
from app.services.pricing.plans import EditedPlan, PlanTerms
from tests.fixtures.tenants import Tenant, make_tenant

SINCE = datetime(2025, 11, 1, tzinfo=UTC)


@pytest.fixture
def tenant(session: Session) -> Tenant:
    return make_old_tenant(session)


def make_old_tenant(session: Session) -> Tenant:
    """A partner whose organizations have been customers since `SINCE`."""
    tenant = make_tenant(session)
    for organization in (tenant.organization, tenant.plus):
        organization.created_at = organization.tier_since = SINCE
    session.flush()
    return tenant


def publish(session: Session, tenant: Tenant, at: datetime, **plans: PlanTerms) -> PlanVersion:
    """Publish terms by the names of the tiers' members, at a moment."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for name, terms in plans.items():
        plan = EditedPlan(Tier[name], name.title(), terms)
        versions.save(session, caller, tenant.partner.id, plan)
    version = versions.publish(session, caller, tenant.partner.id)
    version.published_at = at
    session.flush()
    return version


def call(
    session: Session,
    organization: Organization,
    at: datetime,
    seconds: int | None,
    *,
    campaign_id: UUID | None = None,
    cost: str | None = None,
    currency: str = "USD",
    carrier: CarrierKind = CarrierKind.TWILIO,
    source: CallSource = CallSource.API,
    live: bool = True,
) -> CallAttempt:
    """A call that was answered for this long, or not at all, and has ended; the carrier reports its
    cost later."""
    assistant = select(Assistant.id).where(Assistant.organization_id == organization.id)
    made = Call(
        id=UUID(int=id_at(at).int | new_id().int & (1 << 80) - 1),
        created_at=at,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        assistant_id=session.scalars(assistant).first(),
        campaign_id=campaign_id,
        source=source,
        live=live,
        carrier=carrier,
        requested_by="tests",
        phone_number="+12025550123",
        contact={},
        status=CallStatus.COMPLETED,
        expires_at=at,
    )
    session.add(made)
    session.flush()
    attempt = CallAttempt(
        organization_id=organization.id,
        call_id=made.id,
        number=1,
        carrier=carrier,
        status=CallStatus.COMPLETED,
        started_at=at,
        answered_at=None if seconds is None else at,
        ended_at=at + timedelta(seconds=seconds or 20),
    )
    session.add(attempt)
    session.flush()
    spending.settle(session, made, attempt)
    session.flush()
    if cost is not None:
        report_cost(session, attempt, cost, currency)
    return attempt


def report_cost(session: Session, attempt: CallAttempt, cost: str, currency: str = "USD") -> None:
    report = CarrierReport(PlacementVerdict.PLACED, "CA1", cost=Decimal(cost), currency=currency)
    carrier_costs.write_cost_of(session, attempt.id, report)
    session.flush()
