"""The sums of a partner are those that counting everything again gives."""

from datetime import date
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.models import PartnerDay, PartnerTier
from app.services import organizations, users
from app.services.organizations.updating import change
from tests.fixtures.recount import recount
from tests.fixtures.tenants import Tenant, converse, make_tenant, make_user


def sums(session: Session, tenant: Tenant) -> set[tuple[Any, ...]]:
    """Every row that says something."""
    session.expire_all()
    found: set[tuple[Any, ...]] = set()
    for day in session.scalars(
        select(PartnerDay).where(PartnerDay.partner_id == tenant.partner.id)
    ):
        figures = (day.conversations, day.by_human, day.by_voicemail, day.seconds, day.sign_ups)
        found.add((day.day, *figures, day.updated_at))
    for plan in session.scalars(
        select(PartnerTier).where(PartnerTier.partner_id == tenant.partner.id)
    ):
        if plan.organizations or plan.users:
            found.add((plan.tier, plan.organizations, plan.archived, plan.users))
    return found


def test_kept_sums_equal_the_rows(session: Session) -> None:
    tenant, other_tenant = make_tenant(session), make_tenant(session, "Southgate")
    admin = tenant.caller(Role.PARTNER_ADMIN)
    converse(session, tenant.plus, date(2026, 5, 4), 3)
    converse(session, tenant.organization, date(2026, 5, 4), 2)
    converse(session, other_tenant.plus, date(2026, 5, 4), 7)
    make_user(session, tenant.partner.id, "new@northwind.example", tier=Tier.BASIC.value)
    change(session, admin, tenant.plus, {"user_limit": 0})
    people = (("invited", Role.STANDARD, tenant.plus.id), ("staff", Role.ADMIN, None))
    for name, role, where in people:
        email = f"{name}@northwind.example"
        users.invite(session, admin, email=email, user_type=role, organization_id=where)
    change(session, admin, tenant.plus, {"payment_tier": Tier.BASIC})
    organizations.archive(session, admin, tenant.organization.id)
    change(session, admin, tenant.organization, {"payment_tier": None})
    organizations.archive(session, admin, tenant.plus.id)
    organizations.restore(session, admin, tenant.plus.id)

    kept = sums(session, tenant)
    assert {row for row in kept if len(row) == 4} == {(Tier.FREE, 1, 1, 1), (Tier.BASIC, 2, 0, 3)}
    assert (date(2026, 5, 4), 5) in {row[:2] for row in kept}
    recount(session, tenant.partner.id)
    assert sums(session, tenant) == kept
