"""Reasons why a campaign currently calls no one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CampaignStatus
from app.errors import Sentence
from app.models import Campaign, Outreach, utcnow
from app.phone import calling_code
from app.policy.caller import Caller
from app.services import pauses, phone_numbers, spending
from app.services.calls import limits, rules
from app.services.campaigns.loading import visible
from app.services.phone_numbers import NumberRoute

_NOT_BEGUN_MESSAGE = Sentence.gettext("The first day of the plan hasn’t come yet.")
_OVER_MESSAGE = Sentence.gettext("The last day of the plan is over.")
_PASSING = (limits.DAY_USED_UP, limits.PLAN_USED_UP, str(_NOT_BEGUN_MESSAGE), str(_OVER_MESSAGE))
"""Temporary reasons that need no action."""


class BlockerKind(StrEnum):
    """What holds the calls of a campaign; the first four are codes of `rules`."""

    ORGANIZATION_SUSPENDED = "organization_suspended"
    ASSISTANT_INACTIVE = "agent_inactive"
    PHONE_NOT_READY = "agent_phone_not_ready"
    ASSISTANT_LEFT = "agent_left"
    NOT_BEGUN = "first_day_ahead"
    OVER = "last_day_over"
    DAY_USED_UP = "day_used_up"
    SPENDING = spending.REACHED
    PAUSED = "dialling_paused"


@dataclass(frozen=True, slots=True)
class CampaignBlocker:
    """``until`` if it ends by itself."""

    code: BlockerKind
    message: str
    until: datetime | None = None


def of_plan(
    session: Session,
    campaign: Campaign,
    plan: Outreach,
    parties: rules.CallParties,
    now: datetime,
    route: NumberRoute,
    max_call_minutes: int,
) -> CampaignBlocker | None:
    """Return what blocks a campaign's plan. Spending limits are checked for a call within the
    organization's country."""
    rule_blocker = next(rules.general_blockers(parties, route), None)
    rule_blocker = rule_blocker or rules.membership_blocker(session, campaign, plan.assistant_id)
    if rule_blocker is not None:
        return CampaignBlocker(BlockerKind(rule_blocker.code), rule_blocker.message)
    if of_days := _of_days(plan, parties, now):
        return of_days
    wait = limits.day_used_up(session, parties.organization, now)
    if wait is not None:
        return CampaignBlocker(BlockerKind.DAY_USED_UP, wait.reason, wait.until)
    organization = parties.organization
    spender = spending.Spender(organization.partner_id, organization.id)
    prefix = calling_code(organization.default_region)
    stop = spending.check(session, spender, prefix, now, max_call_minutes=max_call_minutes)
    if stop is None or stop.frees_up:
        return None
    return CampaignBlocker(BlockerKind.SPENDING, stop.reason, stop.until)


def _of_days(plan: Outreach, parties: rules.CallParties, now: datetime) -> CampaignBlocker | None:
    """Return whether it is before the first or after the last day of the plan."""
    zone = ZoneInfo(parties.assistant.timezone or "UTC")
    today = now.astimezone(zone).date()
    if plan.starts_on is not None and today < plan.starts_on:
        begins = datetime.combine(plan.starts_on, time(), zone).astimezone(now.tzinfo)
        return CampaignBlocker(BlockerKind.NOT_BEGUN, _NOT_BEGUN_MESSAGE(), begins)
    if limits.is_plan_over(plan, parties.assistant, now):
        return CampaignBlocker(BlockerKind.OVER, _OVER_MESSAGE())
    return None


def blocker(
    session: Session, campaign: Campaign, plan: Outreach, settings: CallSettings
) -> CampaignBlocker | None:
    """Return the current blocker of the plan (`of_plan`), or the pause that holds its calls."""
    parties = rules.parties_of(session, plan.assistant_id, "")
    route = phone_numbers.route_of(session, parties.organization, settings.carrier)
    own_blocker = of_plan(
        session, campaign, plan, parties, utcnow(), route, settings.max_call_minutes
    )
    if own_blocker is not None:
        return own_blocker
    owner = (campaign.partner_id, campaign.organization_id)
    pause = pauses.of_carrier(session, *owner, route.carrier)
    return (
        CampaignBlocker(BlockerKind.PAUSED, pauses.pause_message(pause))
        if pause is not None
        else None
    )


def blocked_campaigns(
    session: Session, caller: Caller, limit: int
) -> Sequence[tuple[Campaign, str]]:
    """Return running campaigns that call no one until a user fixes the cause, each with the
    cause."""
    query = _blocked_query(caller).add_columns(Outreach.held_reason).order_by(Campaign.id.desc())
    return [(campaign, reason) for campaign, reason in session.execute(query.limit(limit))]


def any_blocked(caller: Caller) -> ColumnElement[bool]:
    """Return whether `blocked_campaigns` finds any."""
    return _blocked_query(caller).exists()


def _blocked_query(caller: Caller) -> Select[Campaign]:
    return (
        visible(caller)
        .join(Outreach, Outreach.campaign_id == Campaign.id)
        .where(
            Campaign.status == CampaignStatus.ACTIVE,
            Outreach.held_reason.is_not(None),
            Outreach.held_reason.not_in(_PASSING),
        )
    )
