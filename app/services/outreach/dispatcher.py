"""Schedules the calls of running campaigns: a few ahead, never the whole list.

The decision about a contact is written in the transaction that schedules its call, under the lock
of the campaign's outreach; its primary key makes it happen only once.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallSource, CallStatus, CampaignStatus, OutreachStatus
from app.errors import DomainError
from app.models import Call, Campaign, Contact, Outreach, OutreachContact
from app.policy.caller import Caller, system_caller
from app.services import audit, calls, phone_numbers
from app.services.calls import limits, rules, states
from app.services.outreach.blockers import of_plan
from app.services.outreach.eligibility import (
    KnownNumbers,
    LeftOutContact,
    WaitingContact,
    decide,
    load_known_numbers,
    request_for,
)
from app.services.outreach.plans import recheck_stopped

MAX_CHECKED = 500
"""The most contacts checked in one transaction."""
CHUNK = 50
IDLE = timedelta(seconds=5)
"""Time before a campaign whose contacts were all checked is checked again."""
FINISHED = timedelta(minutes=5)
"""The same if none of its calls is left; a change of its contacts ends this time."""
ALL_DECIDED = UUID(int=2**128 - 1)
"""`Outreach.position` once the decisions about all contacts were counted."""
BLOCKED = timedelta(seconds=30)
"""Time before a blocked campaign is checked again."""
MAX_BLOCK_TIME = timedelta(minutes=5)
"""Maximum time before a campaign at a limit is checked again, because the limit may be raised."""
CATCHING_UP = timedelta(seconds=10)
"""How much of a missed pace is made up for."""


def any_runs(session: Session) -> bool:
    """Return whether a campaign runs, due or not."""
    query = select(Outreach.campaign_id).join(Campaign, Campaign.id == Outreach.campaign_id)
    query = query.where(Campaign.status == CampaignStatus.ACTIVE, Outreach.started_at.is_not(None))
    return session.scalar(query.limit(1)) is not None


def due(session: Session, now: datetime) -> Sequence[UUID]:
    """Return the running campaigns that may have a contact to call now."""
    query = (
        select(Outreach.campaign_id)
        .join(Campaign, Campaign.id == Outreach.campaign_id)
        .where(
            Campaign.status == CampaignStatus.ACTIVE,
            Outreach.started_at.is_not(None),
            or_(Outreach.next_at.is_(None), Outreach.next_at <= now, _has_new_contacts()),
        )
        .order_by(Outreach.campaign_id)
    )
    return session.scalars(query).all()


def _has_new_contacts() -> ColumnElement[bool]:
    """Whether contacts may have come after those of the campaign were all decided."""
    return (Outreach.position == ALL_DECIDED) & (Outreach.seen_revision != Campaign.revision)


def dispatch(session: Session, campaign_id: UUID, settings: CallSettings, now: datetime) -> int:
    """Schedule the next calls of a campaign, as many as its pace and calls at once allow. Return
    how many.

    It does nothing while another worker dispatches the campaign, or if the campaign has stopped.
    """
    outreach = session.get(
        Outreach, campaign_id, with_for_update={"skip_locked": True}, populate_existing=True
    )
    if outreach is None or outreach.started_at is None:
        return 0
    campaign = session.get_one(Campaign, campaign_id, populate_existing=True)
    if campaign.status is not CampaignStatus.ACTIVE:
        return 0
    if outreach.seen_revision != campaign.revision:
        if outreach.position == ALL_DECIDED:
            outreach.next_at = None
        outreach.seen_revision = campaign.revision
        outreach.position = None
    if outreach.next_at is not None and outreach.next_at > now:
        return 0
    parties = rules.parties_of(session, outreach.assistant_id, "")
    route = phone_numbers.route_of(session, parties.organization, settings.carrier)
    if _is_blocked(session, campaign, outreach, parties, settings, now, route):
        return 0
    if outreach.held_reason is not None:
        outreach.held_reason = None
        recheck_stopped(session, outreach)
    room = min(_free_slots(session, outreach, parties, settings), _count_in_pace(outreach, now))
    if room <= 0:
        return 0
    caller = system_caller(f"Campaign {campaign.name}", partner_id=campaign.partner_id)
    scheduled = _CampaignRun(session, caller, campaign, outreach, parties, settings, now).call(room)
    if scheduled and outreach.calls_per_hour:
        began = max(outreach.next_at or now, now - CATCHING_UP)
        outreach.next_at = began + scheduled * timedelta(hours=1) / outreach.calls_per_hour
    session.flush()
    return scheduled


def _is_blocked(
    session: Session,
    campaign: Campaign,
    outreach: Outreach,
    parties: rules.CallParties,
    settings: CallSettings,
    now: datetime,
    route: phone_numbers.NumberRoute,
) -> bool:
    """Whether the campaign can't call anyone; the reason is stored with the outreach."""
    blocker = of_plan(session, campaign, outreach, parties, now, route, settings.max_call_minutes)
    if blocker is None:
        return False
    outreach.held_reason = blocker.message
    outreach.next_at = min(blocker.until, now + MAX_BLOCK_TIME) if blocker.until else now + BLOCKED
    return True


def _free_slots(
    session: Session, outreach: Outreach, parties: rules.CallParties, settings: CallSettings
) -> int:
    """Return how many more calls of the campaign may be queued or active; calls that wait for a
    retry don't count."""
    unfinished = session.scalar(
        select(func.count(Call.id)).where(
            Call.organization_id == outreach.organization_id,
            states.takes_slot() | (Call.status == CallStatus.QUEUED),
            Call.campaign_id == outreach.campaign_id,
            Call.source == CallSource.CAMPAIGN,
        )
    )
    organization_limit = limits.calls_at_once(parties.organization, settings.calls_at_once)
    limit = min(organization_limit, outreach.calls_at_once or organization_limit)
    return limit - (unfinished or 0)


def _count_in_pace(outreach: Outreach, now: datetime) -> int:
    if outreach.calls_per_hour is None:
        return MAX_CHECKED
    since = max(outreach.next_at or now, now - CATCHING_UP)
    return int((now - since) * outreach.calls_per_hour / timedelta(hours=1)) + 1


class _CallCandidate(NamedTuple):
    """A contact, and the earlier decision to let it wait."""

    contact: Contact
    waiting: OutreachContact | None


class _CampaignRun:
    """The calls that a campaign places in one transaction."""

    def __init__(
        self,
        session: Session,
        caller: Caller,
        campaign: Campaign,
        outreach: Outreach,
        parties: rules.CallParties,
        settings: CallSettings,
        now: datetime,
    ):
        self._session = session
        self._caller = caller
        self._campaign = campaign
        self._outreach = outreach
        self._parties = parties
        self._settings = settings
        self._now = now

    def call(self, room: int) -> int:
        """Check contacts until ``room`` of them are called, or enough were checked."""
        scheduled = checked = 0
        for chunk in self._chunks():
            phones = {contact.phone for contact, _waiting in chunk if contact.phone}
            numbers = load_known_numbers(self._session, self._parties.organization, phones)
            for contact, waiting in chunk:
                if scheduled == room:
                    return scheduled
                checked += 1
                scheduled += self._decide(contact, waiting, numbers)
                if waiting is None:
                    self._outreach.position = contact.id
            self._session.flush()
            if checked >= MAX_CHECKED:
                return scheduled
        self._outreach.next_at = self._now + IDLE
        if not scheduled:
            self._note_all_checked()
        return scheduled

    def _note_all_checked(self) -> None:
        """Count the decisions once; wait longer if no call is left."""
        outreach = self._outreach
        if outreach.position != ALL_DECIDED:
            is_complete = self._decided() >= self._campaign.contact_count
            # Otherwise another transaction locked contacts: check from the first one again.
            outreach.position = ALL_DECIDED if is_complete else None
        if outreach.position == ALL_DECIDED and not self._any_left():
            outreach.next_at = self._now + FINISHED
            self._note_finished()

    def _any_left(self) -> bool:
        """Whether a contact waits or a call isn't over."""
        waiting = exists().where(
            *self._in_round(), OutreachContact.status == OutreachStatus.WAITING
        )
        unfinished = exists().where(
            Call.organization_id == self._outreach.organization_id,
            Call.status.in_(states.WAITING | states.ACTIVE),
            OutreachContact.call_id == Call.id,
            *self._in_round(),
        )
        return bool(self._session.scalar(select(waiting | unfinished)))

    def _note_finished(self) -> None:
        """Write to the history once that all calls since the start have ended, so that users are
        notified. Contacts added later are called without another notification."""
        outreach = self._outreach
        last = audit.last_of_target(
            self._session, self._caller, "campaign", self._campaign.id, "campaign.finished"
        )
        if last is not None and last.at >= (outreach.resumed_at or self._now):
            return
        counts = select(func.count(), func.max(OutreachContact.decided_at)).where(
            *self._in_round(), OutreachContact.status == OutreachStatus.CALLED
        )
        called, decided_at = self._session.execute(counts).one()
        if called and (last is None or decided_at > last.at):
            audit.record_change(
                self._session,
                system_caller("system", partner_id=self._campaign.partner_id),
                "campaign.finished",
                self._campaign,
                after={"contacts": called},
            )

    def _decided(self) -> int:
        query = select(func.count()).select_from(OutreachContact)
        return self._session.scalar(query.where(*self._in_round())) or 0

    def _in_round(self) -> tuple[ColumnElement[bool], ...]:
        return (
            OutreachContact.campaign_id == self._outreach.campaign_id,
            OutreachContact.round == self._outreach.round,
        )

    def _chunks(self) -> Iterator[list[_CallCandidate]]:
        """Yield waiting contacts that are due, then contacts without a decision."""
        of_round = self._in_round()
        due_query = (
            select(Contact, OutreachContact)
            .join(OutreachContact, OutreachContact.contact_id == Contact.id)
            .where(*of_round, OutreachContact.status == OutreachStatus.WAITING)
            .where(OutreachContact.due_at <= self._now)
            .order_by(OutreachContact.due_at, Contact.id)
            .limit(CHUNK)
            .with_for_update(read=True, key_share=True, skip_locked=True, of=Contact)
        )
        while chunk := [
            _CallCandidate(contact, row) for contact, row in self._session.execute(due_query)
        ]:
            yield chunk
        decided = select(OutreachContact.contact_id).where(
            *of_round, OutreachContact.contact_id == Contact.id
        )
        new = (
            select(Contact)
            .where(Contact.campaign_id == self._outreach.campaign_id, ~decided.exists())
            .order_by(Contact.id)
            .limit(CHUNK)
            .with_for_update(read=True, key_share=True, skip_locked=True, of=Contact)
        )
        while True:
            position = self._outreach.position
            query = new if position is None else new.where(Contact.id > position)
            candidates = [_CallCandidate(contact, None) for contact in self._session.scalars(query)]
            if not candidates:
                return
            yield candidates

    def _decide(
        self, contact: Contact, waiting: OutreachContact | None, numbers: KnownNumbers
    ) -> bool:
        """Decide about one contact; return whether it is called."""
        row = waiting or OutreachContact(
            contact_id=contact.id,
            campaign_id=self._outreach.campaign_id,
            round=self._outreach.round,
        )
        row.decided_at, row.due_at, row.reason = self._now, None, None
        decision = decide(
            self._session, contact, self._outreach, self._parties, self._now, numbers=numbers
        )
        if decision is None:
            decision = self._schedule(contact, row)
        if isinstance(decision, LeftOutContact):
            row.status, row.reason = OutreachStatus.LEFT_OUT, decision.code
        elif isinstance(decision, WaitingContact):
            row.status, row.reason = OutreachStatus.WAITING, decision.code
            row.due_at = decision.until
        self._session.add(row)
        return decision is None

    def _schedule(self, contact: Contact, row: OutreachContact) -> LeftOutContact | None:
        try:
            with self._session.begin_nested():
                accepted = calls.schedule(
                    self._session,
                    self._caller,
                    request_for(contact, self._outreach),
                    self._settings,
                    source=CallSource.CAMPAIGN,
                    live=True,
                    campaign_id=self._campaign.id,
                    contact_id=contact.id,
                )
        except DomainError as refusal:
            return LeftOutContact(refusal.code)
        row.status, row.call_id = OutreachStatus.CALLED, accepted.call_id
        return None
