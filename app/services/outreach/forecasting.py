"""What starting a campaign would do, in numbers."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session

from app.enums import ENDED_CONTACT_STATUSES, OutreachState
from app.models import (
    Campaign,
    Contact,
    DoNotCallEntry,
    Organization,
    OutreachContact,
    Partner,
    utcnow,
)
from app.services import verified_numbers
from app.services.calls import rules
from app.services.outreach.eligibility import NO_HOUR, NO_PHONE, exclusion, known_of, opening_of
from app.services.outreach.plans import stored_plan

REFUSED = "do_not_contact"
_LISTED = "listed"
LOOKED_AT = 2_000
"""Up to this many contacts are checked one by one; above it only in the database."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """``left_out`` counts by the codes of `eligibility`; ``called`` are the others. ``listed`` are
    those of ``do_not_contact`` whose number is on the do-not-call list. If ``is_exact`` is False,
    numbers that may not be called are found only when their turn comes."""

    called: int
    left_out: dict[str, int]
    before: int
    is_exact: bool
    listed: int = 0


def forecast(session: Session, campaign: Campaign, *, again: bool = False) -> Forecast:
    """Count the contacts that a start would call and leave out, in a fixed number of queries.

    ``before`` counts those that the round has called already. The campaign has a plan.
    """
    outreach = stored_plan(session, campaign)
    if outreach is None:
        return Forecast(0, {}, 0, is_exact=True)
    called = select(OutreachContact.contact_id).where(
        OutreachContact.campaign_id == campaign.id,
        OutreachContact.round == outreach.round,
        OutreachContact.state == OutreachState.CALLED,
    )
    before = 0
    if not again:
        before = session.scalar(select(func.count()).select_from(called.subquery())) or 0
    if campaign.contact_count > LOOKED_AT:
        return _by_the_database(session, campaign, None if again else called, before)
    of_them = Contact.campaign_id == campaign.id
    if not again:
        of_them &= Contact.id.not_in(called)
    parties = rules.parties_of(session, outreach.assistant_id, "")
    reasons: Counter[str | None] = Counter()
    now = utcnow()
    checked = session.scalars(select(Contact).where(of_them)).all()
    phones = {contact.phone for contact in checked if contact.phone}
    known = known_of(session, parties.organization, phones)
    listed = 0
    for contact in checked:
        code = exclusion(contact, parties, known)
        if code is None and opening_of(contact.phone or "", outreach, parties, now)[1] is None:
            code = NO_HOUR
        reasons[code] += 1
        if code == REFUSED and contact.phone in known.listed:
            listed += 1
    total = reasons.pop(None, 0)
    left_out = {str(code): count for code, count in reasons.items()}
    return Forecast(total, left_out, before, is_exact=True, listed=listed)


def _by_the_database(
    session: Session, campaign: Campaign, called: Select[UUID] | None, before: int
) -> Forecast:
    counts = _reasons(session, campaign, Contact.campaign_id == campaign.id)
    if called is not None:
        # Counted apart: without fresh statistics PostgreSQL looks for each contact in all of them.
        counts -= _reasons(session, campaign, Contact.id.in_(called))
    total, listed = counts.pop(None, 0), counts.pop(_LISTED, 0)
    counts[REFUSED] += listed
    left_out = {str(code): count for code, count in counts.items() if count}
    return Forecast(total, left_out, before, is_exact=False, listed=listed)


def _reasons(
    session: Session, campaign: Campaign, which: ColumnElement[bool]
) -> Counter[str | None]:
    in_trial = Organization.trial_ended_at.is_(None) | Partner.trial_ended_at.is_(None)
    ended = func.lower(func.trim(Contact.status)).in_(sorted(ENDED_CONTACT_STATUSES))
    reason = case(
        (Contact.phone.is_(None), NO_PHONE),
        (ended, "contact_ended"),
        (in_trial & ~verified_numbers.called(Contact.phone), "trial_mode"),
        (DoNotCallEntry.phone.is_not(None), _LISTED),
        (Contact.consent == rules.REFUSED, REFUSED),
        (Organization.consent_required & Contact.consent.is_(None), "consent_missing"),
    )
    query = (
        select(reason, func.count())
        .select_from(Contact)
        .join(Organization, Organization.id == Contact.organization_id)
        .join(Partner, Partner.id == Organization.partner_id)
        .outerjoin(
            DoNotCallEntry,
            (DoNotCallEntry.organization_id == campaign.organization_id)
            & (DoNotCallEntry.phone == Contact.phone),
        )
        .where(which)
        .group_by(reason)
    )
    counted: Counter[str | None] = Counter()
    for code, count in session.execute(query):
        counted[code] = count
    return counted
