"""What the calls of each organization of a partner have cost this month."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Organization, SpendingTotal, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.spending.scopes import ORGANIZATION, month_of, scope_key
from app.services.tenancy import of_tenant


@dataclass(frozen=True, slots=True)
class OrganizationSpending:
    """What an organization has spent this month, in millionths and seconds."""

    organization: Organization
    micros: int
    seconds: int


def by_organization(session: Session, caller: Caller, most: int) -> Sequence[OrganizationSpending]:
    """Return at most so many organizations that spent something this month (UTC), those that spent
    the most first, in one query. Raises `Forbidden`."""
    caller.require(Permission.ORGANIZATIONS_READ)
    total = SpendingTotal
    query = (
        of_tenant(select(Organization), caller, total.partner_id, total.organization_id)
        .add_columns(total.spent_micros, total.spent_seconds)
        .join(total, total.organization_id == Organization.id)
        .where(
            total.period == month_of(utcnow()),
            total.scope.startswith(scope_key(ORGANIZATION, "")),
            total.spent_micros > 0,
        )
        .order_by(total.spent_micros.desc(), Organization.name, Organization.id)
        .limit(most)
    )
    return [OrganizationSpending(*row) for row in session.execute(query)]
