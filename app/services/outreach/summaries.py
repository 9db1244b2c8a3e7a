"""The outreach of many campaigns in a fixed number of queries, for lists."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES, AnsweredBy, CallStatus, CampaignStatus, OutreachStatus
from app.models import Assistant, Call, Campaign, Outreach, OutreachContact
from app.services.outreach import forecasting
from app.services.outreach.progress import removed_calls


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """The round of a campaign. ``callable`` counts the contacts that were or will be called,
    ``called`` those with a call, ``done`` those whose call has ended; all of them, and
    ``by_human``, those whose ended call a person answered, count contacts that were removed since.
    Numbers that may not be called are among ``callable`` until the campaign was started.

    ``next_at`` is when the next contact is due while the campaign runs, ``ended_at`` when the last
    decision was made, unless calls still wait or are in progress.
    """

    assistant: str = ""
    callable: int = 0
    called: int = 0
    done: int = 0
    by_human: int = 0
    started_at: datetime | None = None
    next_at: datetime | None = None
    ended_at: datetime | None = None


def summaries_of(
    session: Session,
    campaigns: Collection[Campaign],
    plans: Collection[tuple[Outreach, str]] | None = None,
) -> dict[UUID, RoundSummary]:
    """Return a summary of each campaign with a plan; the campaigns must come from a loader. The
    ``plans``, each with the name of its assistant, are read unless they are given."""
    by_id = {campaign.id: campaign for campaign in campaigns}
    if plans is None:
        rows = session.execute(
            select(Outreach, Assistant.name)
            .join(Assistant, Assistant.id == Outreach.assistant_id)
            .where(Outreach.campaign_id.in_(by_id))
        )
        plans = [(plan, assistant) for plan, assistant in rows]
    if not plans:
        return {}
    counts = _counts_by_campaign(session, by_id)
    begun = {plan.campaign_id for plan, _ in plans if plan.started_at is not None}
    ahead = forecasting.count_undecided(session, [by_id[campaign_id] for campaign_id in begun])
    summaries = {
        plan.campaign_id: _summarize(
            by_id[plan.campaign_id],
            plan,
            assistant,
            counts.get(plan.campaign_id, []),
            sum(ahead.get(plan.campaign_id, {}).values()),
        )
        for plan, assistant in plans
    }
    for campaign_id, status, answered_by, count in removed_calls(
        session, [plan for plan, _ in plans]
    ):
        if campaign_id is not None:
            summary = summaries[campaign_id]
            is_by_human = status is CallStatus.COMPLETED and answered_by is AnsweredBy.HUMAN
            summaries[campaign_id] = replace(
                summary,
                callable=summary.callable + count,
                called=summary.called + count,
                done=summary.done + (count if status in FINAL_CALL_STATUSES else 0),
                by_human=summary.by_human + (count if is_by_human else 0),
            )
    return summaries


_Count = tuple[OutreachStatus, bool, bool, datetime | None, datetime, int]


def _counts_by_campaign(session: Session, ids: Collection[UUID]) -> dict[UUID, list[_Count]]:
    row = OutreachContact
    by_human = func.coalesce(
        (Call.status == CallStatus.COMPLETED) & (Call.answered_by == AnsweredBy.HUMAN), False
    )
    goes_on = func.coalesce(Call.status.not_in(FINAL_CALL_STATUSES), False)
    query = (
        select(
            row.campaign_id,
            row.status,
            by_human,
            goes_on,
            func.min(row.due_at),
            func.max(row.decided_at),
            func.count(),
        )
        .join(Outreach, (Outreach.campaign_id == row.campaign_id) & (Outreach.round == row.round))
        .outerjoin(Call, Call.id == row.call_id)
        .where(row.campaign_id.in_(ids))
        .group_by(row.campaign_id, row.status, by_human, goes_on)
    )
    by_campaign: dict[UUID, list[_Count]] = {}
    for campaign_id, status, human, active, due_at, decided_at, count in session.execute(query):
        by_campaign.setdefault(campaign_id, []).append(
            (status, human, active, due_at, decided_at, count)
        )
    return by_campaign


def _summarize(
    campaign: Campaign, plan: Outreach, assistant: str, counts: Collection[_Count], ahead: int
) -> RoundSummary:
    by_status = Counter[OutreachStatus]()
    for status, *_, count in counts:
        by_status[status] += count
    called, left_out = by_status[OutreachStatus.CALLED], by_status[OutreachStatus.LEFT_OUT]
    in_progress = sum(count for _, _, active, *_, count in counts if active)
    is_over = 0 < called + left_out >= campaign.contact_count - ahead and not in_progress
    runs = campaign.status is CampaignStatus.ACTIVE and not is_over
    to_come = campaign.contact_count - ahead - by_status.total()
    due = [at for status, _, _, at, *_ in counts if status is OutreachStatus.WAITING and at]
    next_at = plan.next_at if to_come > 0 else None
    return RoundSummary(
        assistant=assistant,
        callable=campaign.contact_count - left_out - ahead,
        called=called,
        done=called - in_progress,
        by_human=sum(count for _, human, *_, count in counts if human),
        started_at=plan.started_at,
        next_at=(next_at or min(due, default=None)) if runs else None,
        ended_at=max(at for *_, at, _ in counts) if is_over else None,
    )
