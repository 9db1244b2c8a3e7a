"""The plan of a campaign's outreach: assistant, hours, pace and messages."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, time
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import CallStatus, CampaignStatus, OutreachStatus
from app.errors import Conflict, Problem, ValidationFailed, raise_problems
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Assistant, Call, Campaign, Outreach, OutreachContact
from app.phone import EVERY_DAY, comparable_end
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.services import assistants, campaigns
from app.services.calls import CallRequest, states
from app.services.calls.request import messaging_problems

MAX_TEXT_LENGTH = 1000
MAX_PER_HOUR = 10_000
WORKDAYS = frozenset(range(1, 6))


class RecallChoice(StrEnum):
    """Which contacts of a finished round are called again."""

    ALL = "all"
    NOT_REACHED = "not-reached"


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """Weekdays are ISO's, hours are in the contact's time zone; an end of 00:00 is midnight. The
    first and the last day are days in the assistant's time zone. Without a pace, only the
    organization's calls at once limit the pace; without messages the assistant's own are used."""

    assistant_id: UUID | None
    weekdays: frozenset[int] = WORKDAYS
    hours_start: time = time(8)
    hours_end: time = time(21)
    starts_on: date | None = None
    ends_on: date | None = None
    calls_per_hour: int | None = None
    calls_at_once: int | None = None
    intro_message: str | None = None
    voicemail_message: str | None = None
    call_instructions: str | None = None


def stored_plan(session: Session, campaign: Campaign) -> Outreach | None:
    """Return the plan's row, None if there is none yet. A read-only transaction reads it once."""
    return read_once(
        session,
        (Outreach, campaign.id),
        lambda: session.get(Outreach, campaign.id, populate_existing=True),
    )


def plan_of(session: Session, campaign: Campaign) -> CampaignPlan:
    """Return the stored plan, or a proposed one if there is none yet."""
    stored = stored_plan(session, campaign)
    if stored is None:
        return CampaignPlan(next((assistant.id for assistant in speakers(session, campaign)), None))
    return CampaignPlan(
        assistant_id=stored.assistant_id,
        weekdays=weekdays_of(stored),
        hours_start=stored.hours_start,
        hours_end=stored.hours_end,
        starts_on=stored.starts_on,
        ends_on=stored.ends_on,
        calls_per_hour=stored.calls_per_hour,
        calls_at_once=stored.calls_at_once,
        intro_message=stored.intro_message,
        voicemail_message=stored.voicemail_message,
        call_instructions=stored.call_instructions,
    )


def weekdays_of(plan: CampaignPlan | Outreach) -> frozenset[int]:
    return frozenset(int(digit) for digit in plan.weekdays)


def speakers(session: Session, campaign: Campaign) -> list[Assistant]:
    """Return the assistants that may call for the campaign, ready ones first. A read-only
    transaction reads them once."""
    return read_once(session, ("speakers", campaign.id), lambda: _speakers(session, campaign))


def _speakers(session: Session, campaign: Campaign) -> list[Assistant]:
    query = select(Assistant).where(Assistant.organization_id == campaign.organization_id)
    if not campaign.all_assistants:
        query = query.where(Assistant.id.in_(campaigns.assistants_of(session, campaign)))
    by_name = session.scalars(query.order_by(Assistant.name_key, Assistant.id))
    return sorted(by_name, key=lambda assistant: not (assistant.active and assistant.phone_ready))


def change_plan(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    plan: CampaignPlan,
    *,
    max_at_once: int,
    expected_version: int | None = None,
) -> bool:
    """Store the plan; return whether it has changed. Waiting contacts are checked again by it;
    scheduled calls stay.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` with every problem by its field, and
    `Conflict` (``changed_meanwhile``, ``archived``).
    """
    campaign = campaigns.lock_campaign(session, caller, campaign_id, expected_version)
    if campaign.status is CampaignStatus.ARCHIVED:
        message = gettext("The campaign is archived.")
        raise Conflict(message, "archived")
    stored = lock_plan(session, campaign)
    problems = list(_find_problems(session, caller, campaign, plan, max_at_once))
    if problems or plan.assistant_id is None:
        raise ValidationFailed.of(*problems)
    before = _audit_values(plan_of(session, campaign)) if stored is not None else {}
    after = _audit_values(plan)
    if before == after:
        return False
    if stored is None:
        stored = Outreach(campaign_id=campaign.id, organization_id=campaign.organization_id)
        stored.round = 1
        session.add(stored)
    for name, value in asdict(plan).items():
        setattr(stored, name, value)
    stored.weekdays = "".join(str(day) for day in sorted(plan.weekdays))
    recheck(session, stored, OutreachStatus.WAITING)
    campaigns.record_change(session, caller, campaign, "planned", before=before, after=after)
    return True


def check_plan(
    session: Session, caller: Caller, campaign_id: UUID, plan: CampaignPlan, *, max_at_once: int
) -> None:
    """Check the plan. Raises `NotFound`, and `ValidationFailed` with every problem by its field."""
    campaign = campaigns.get(session, caller, campaign_id)
    raise_problems(_find_problems(session, caller, campaign, plan, max_at_once))


def lock_plan(session: Session, campaign: Campaign) -> Outreach | None:
    """Return the plan's row, locked against the dispatcher until the transaction ends."""
    return session.get(Outreach, campaign.id, with_for_update=True, populate_existing=True)


def recheck(session: Session, stored: Outreach, *statuses: OutreachStatus) -> None:
    """Delete the decisions about contacts with these statuses, so that they are made again."""
    session.execute(
        delete(OutreachContact).where(
            OutreachContact.campaign_id == stored.campaign_id,
            OutreachContact.round == stored.round,
            OutreachContact.status.in_(statuses),
        )
    )
    stored.next_at, stored.held_reason = None, None
    stored.seen_revision, stored.position = None, None


def recheck_unreached(session: Session, stored: Outreach) -> None:
    """Delete the decisions about contacts whose call of this round was busy or not answered."""
    unreached = select(Call.id).where(
        Call.id == OutreachContact.call_id, Call.status.in_(states.NOT_REACHED)
    )
    _delete_called(session, stored, unreached.exists())


def recheck_stopped(session: Session, stored: Outreach) -> None:
    """Delete the decisions about contacts whose call ended before it was placed, except those that
    a user cancelled: a suspension or an outage is over, or the assistant is active again."""
    never_begun = select(Call.id).where(
        Call.id == OutreachContact.call_id,
        Call.status.in_((CallStatus.CANCELED, CallStatus.EXPIRED)),
        Call.started_at.is_(None),
        Call.cancel_requested_at.is_(None),
    )
    _delete_called(session, stored, never_begun.exists())


def _delete_called(session: Session, stored: Outreach, condition: ColumnElement[bool]) -> None:
    session.execute(
        delete(OutreachContact)
        .where(
            OutreachContact.campaign_id == stored.campaign_id,
            OutreachContact.round == stored.round,
            OutreachContact.status == OutreachStatus.CALLED,
            condition,
        )
        .execution_options(synchronize_session=False)
    )
    stored.position = None


def _audit_values(plan: CampaignPlan) -> dict[str, Any]:
    values = {wire_name(name): value for name, value in asdict(plan).items()}
    values["weekdays"] = sorted(plan.weekdays)
    values["hoursStart"], values["hoursEnd"] = (
        f"{plan.hours_start:%H:%M}",
        f"{plan.hours_end:%H:%M}",
    )
    return values


def _find_problems(
    session: Session, caller: Caller, campaign: Campaign, plan: CampaignPlan, max_at_once: int
) -> Iterator[Problem]:
    if plan.assistant_id not in {assistant.id for assistant in speakers(session, campaign)}:
        yield Problem("agentId", "agent_not_found", gettext("Choose an assistant of the campaign."))
    else:
        assistant = assistants.get(session, caller, plan.assistant_id)
        request = CallRequest(
            assistant_id=assistant.id,
            phone_number="",
            intro_message=plan.intro_message,
            voicemail_message=plan.voicemail_message,
            call_instructions=plan.call_instructions,
        )
        yield from messaging_problems(request, assistant)
    yield from plan_problems(plan, max_at_once)


def plan_problems(plan: CampaignPlan, max_at_once: int) -> Iterator[Problem]:
    """Return what is wrong with a plan, whichever assistant calls."""
    if not plan.weekdays or not plan.weekdays <= EVERY_DAY:
        yield Problem("weekdays", "required", gettext("Choose at least one day of the week."))
    if plan.hours_start >= comparable_end(plan.hours_end):
        message = gettext("The end must be after the start. Calls are placed between them.")
        yield Problem("hoursEnd", "end_before_start", message)
    if plan.starts_on and plan.ends_on and plan.ends_on < plan.starts_on:
        message = gettext("The last day can’t be before the first day.")
        yield Problem("endsOn", "end_before_start", message)
    bounds = (("calls_per_hour", MAX_PER_HOUR), ("calls_at_once", max_at_once))
    for name, limit in bounds:
        value = getattr(plan, name)
        if value is not None and not 1 <= value <= limit:
            message = gettext(
                "Enter a whole number from 1 to %(most)s.", most=localize_number(limit)
            )
            yield Problem(wire_name(name), "out_of_range", message)
    for name in ("intro_message", "voicemail_message", "call_instructions"):
        text = getattr(plan, name) or ""
        if len(text) > MAX_TEXT_LENGTH:
            message = gettext(
                "Too long. Use at most %(most)s characters.", most=localize_number(MAX_TEXT_LENGTH)
            )
            yield Problem(wire_name(name), "too_long", message)
