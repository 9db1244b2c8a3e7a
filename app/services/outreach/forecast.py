"""What starting a campaign would do, in numbers, before it is done."""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from app.enums import OutreachState
from app.models import Campaign, Contact, DoNotCallEntry, OutreachContact, utcnow
from app.services.calls import rules
from app.services.outreach.looking import NO_HOUR, NO_PHONE, lasting_hindrance, opening_of
from app.services.outreach.plans import stored_plan

LOOKED_AT = 2_000
"""So many contacts are looked at one by one; of more, only what the database can tell."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """``left_out`` counts by the codes of `looking`; ``called`` is the rest. Where ``is_exact`` is
    False, numbers that may not be called are found when their turn comes."""

    called: int
    left_out: dict[str, int]
    before: int
    is_exact: bool


def forecast(session: Session, campaign: Campaign, *, again: bool = False) -> Forecast:
    """Counts whom a start would call and whom not: a fixed number of queries.

    ``before`` are those whom the round has called already. The campaign has a plan.
    """
    outreach = stored_plan(session, campaign)
    if outreach is None:
        return Forecast(0, {}, 0, is_exact=True)
    called = (
        select(OutreachContact.contact_id)
        .where(
            OutreachContact.contact_id == Contact.id,
            OutreachContact.campaign_id == campaign.id,
            OutreachContact.round == outreach.round,
            OutreachContact.state == OutreachState.CALLED,
        )
        .exists()
    )
    left: list[ColumnElement[bool]] = [Contact.campaign_id == campaign.id]
    before = 0
    if not again:
        before = (
            session.scalar(
                select(func.count())
                .select_from(OutreachContact)
                .where(
                    OutreachContact.campaign_id == campaign.id,
                    OutreachContact.round == outreach.round,
                    OutreachContact.state == OutreachState.CALLED,
                )
            )
            or 0
        )
        left.append(~called)
    if campaign.contact_count > LOOKED_AT:
        return _by_the_database(session, campaign, left, before)
    parties = rules.parties_of(session, outreach.agent_id, "")
    query = select(Contact, DoNotCallEntry.phone.is_not(None)).outerjoin(
        DoNotCallEntry,
        (DoNotCallEntry.organization_id == campaign.organization_id)
        & (DoNotCallEntry.phone == Contact.phone),
    )
    reasons: Counter[str | None] = Counter()
    now = utcnow()
    for contact, is_listed in session.execute(query.where(*left)):
        code = lasting_hindrance(contact, parties, is_listed=is_listed)
        if code is None and opening_of(contact.phone or "", outreach, parties, now)[1] is None:
            code = NO_HOUR
        reasons[code] += 1
    total = reasons.pop(None, 0)
    return Forecast(total, {str(code): n for code, n in reasons.items()}, before, is_exact=True)


def _by_the_database(
    session: Session, campaign: Campaign, left: list[ColumnElement[bool]], before: int
) -> Forecast:
    ended = func.lower(func.trim(Contact.status)).in_(sorted(rules.ENDED_CONTACT_STATUSES))
    reason = case(
        (Contact.phone.is_(None), NO_PHONE),
        (ended, "contact_ended"),
        (DoNotCallEntry.phone.is_not(None), "do_not_contact"),
    )
    query = (
        select(reason, func.count())
        .select_from(Contact)
        .outerjoin(
            DoNotCallEntry,
            (DoNotCallEntry.organization_id == campaign.organization_id)
            & (DoNotCallEntry.phone == Contact.phone),
        )
        .where(*left)
        .group_by(reason)
    )
    counts: dict[str | None, int] = dict(session.execute(query).tuples().all())
    total = counts.pop(None, 0)
    return Forecast(
        total, {str(code): count for code, count in counts.items()}, before, is_exact=False
    )
