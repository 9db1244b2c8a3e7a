"""The data of a page besides its content is read by one query."""

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role, Tier
from app.models import Pricing
from app.services import page_frame, pricing, saved_views
from app.services.audit import notified
from app.services.pricing import versions
from app.services.saved_views import ViewInput
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant

NAMES = ["Archived", "Basic", "New"]
PRICES = (Tier.FREE, Tier.BASIC, Tier.PLUS)


@pytest.fixture
def stored_views(session: Session, tenant: Tenant) -> None:
    """Three views of organizations and one of users."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for name in reversed(NAMES):
        saved_views.create(session, caller, "organizations", "status=any", ViewInput(name))
    saved_views.create(session, caller, "users", "q=a", ViewInput("People"))
    session.commit()


def add_prices(session: Session, tenant: Tenant) -> None:
    """Prices in the contract's ``pricing``, which count before the first version of the plans."""
    for position, tier in enumerate(PRICES, start=3):
        session.add(
            Pricing(
                partner_id=tenant.partner.id,
                position=position,
                tier=tier,
                processor_price_id=f"price-{tier}",
                processor_product_id=f"product-{tier}",
            )
        )
    session.commit()


def published(session: Session, tenant: Tenant) -> None:
    caller, partner_id = tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id
    plan = versions.current(session, caller, partner_id).plans[0]
    versions.save(session, caller, partner_id, replace(plan, name="Starter"))
    versions.publish(session, caller, partner_id)
    session.commit()


@pytest.mark.usefixtures("stored_views")
@pytest.mark.parametrize("prepare", [None, add_prices, published])
def test_views_notifications_and_plans_are_read_together(
    session: Session, database: Database, tenant: Tenant, prepare: object
) -> None:
    if callable(prepare):
        prepare(session, tenant)
    caller = tenant.caller(Role.PARTNER_ADMIN)
    with database.transaction(read_only=True) as reading:
        plans = pricing.published(reading, tenant.partner.id)
        unread = notified.count_unread(reading, caller)
    with database.transaction(read_only=True) as reading:
        with counted(database.engine) as statements:
            frame = page_frame.load(reading, caller, "organizations")
        assert [view.name for view in frame.views] == NAMES
        assert frame.unread == unread
        asked = [each for each in statements if each.startswith("SELECT")]
        with counted(database.engine) as statements:
            assert pricing.published(reading, tenant.partner.id) == plans
        assert (len(asked), len(statements)) == (2 if prepare is add_prices else 1, 0)


@pytest.mark.usefixtures("stored_views")
def test_a_page_without_plans_reads_none_and_a_page_without_a_list_no_views(
    database: Database, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    with database.transaction(read_only=True) as reading:
        assert page_frame.load(reading, caller).views == ()
        frame = page_frame.load(reading, caller, "users", with_plans=False)
        assert [view.name for view in frame.views] == ["People"]


def test_an_operator_has_no_frame(database: Database, tenant: Tenant) -> None:
    caller = tenant.caller(Role.OPERATOR)
    with (
        database.transaction(read_only=True) as reading,
        counted(database.engine) as statements,
    ):
        assert page_frame.load(reading, caller, "organizations").views == ()
    assert not [each for each in statements if each.startswith("SELECT")]
