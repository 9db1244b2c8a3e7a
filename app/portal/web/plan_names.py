"""The names of plans on pages: those that the partner has published."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from flask import g, has_request_context
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from app.enums import Tier
from app.extensions import transaction
from app.models import Organization
from app.policy.caller import Caller
from app.portal.web.blueprint import portal
from app.services import pricing
from app.services.pricing.plans import PLAN_LABELS


def plan_names() -> Mapping[Tier, str]:
    """Return the names of the plans of the caller's partner, in its order, read once in a request;
    the built-in names for operators."""
    caller: Caller | None = g.get("caller") if has_request_context() else None
    if caller is None or caller.partner_id is None:
        return PLAN_LABELS
    return names_at(caller.partner_id)


def plan_choices(names: Mapping[Tier, str] | None = None) -> list[SelectChoice]:
    """Return the plans to choose from: those of the caller's partner, or the named ones."""
    return [SelectChoice(tier.value, name) for tier, name in (names or plan_names()).items()]


@portal.app_template_filter()
def plan_name(organization: Organization) -> str:
    """Return the name of an organization's plan; operators see those of all partners."""
    return names_at(organization.partner_id)[organization.payment_tier or Tier.FREE]


def read_plan_names(session: Session, organizations: Iterable[Organization]) -> None:
    """Read the names for `plan_name` of organizations of several partners, in one query."""
    names_by_partner: dict[UUID, Mapping[Tier, str]] = g.setdefault("plan_names", {})
    partner_ids = {organization.partner_id for organization in organizations}
    names_by_partner |= pricing.localized_names_of(session, partner_ids)


def names_at(partner_id: UUID) -> Mapping[Tier, str]:
    """Return the names of a partner's plans, in its order; read once in a request."""
    names_by_partner: dict[UUID, Mapping[Tier, str]] = g.setdefault("plan_names", {})
    if partner_id not in names_by_partner:
        with transaction(read_only=True) as session:
            names_by_partner[partner_id] = pricing.localized_names(session, partner_id)
    return names_by_partner[partner_id]
