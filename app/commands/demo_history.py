"""Some months of conversations for report, usage and charts."""

import random
from datetime import UTC, datetime, time, timedelta

from sqlalchemy.orm import Session

from app.enums import AnsweredBy
from app.models import Assistant, Organization, utcnow
from app.services import conversations

SATURDAY = 5


def add_conversations(
    session: Session,
    organization: Organization,
    assistant: Assistant,
    pace: int,
    days: int,
    rng: random.Random,
) -> None:
    """Add about ``pace`` conversations a working day, fewer at weekends, growing over
    the months."""
    today = utcnow().date()
    for age in range(days, 0, -1):
        day = today - timedelta(days=age)
        share = 0.25 if day.weekday() >= SATURDAY else 1
        expected = pace * share * (0.6 + 0.4 * (days - age) / days)
        for _ in range(round(rng.gauss(expected, expected / 4))):
            opening = datetime.combine(day, time(14), UTC)
            started = opening + timedelta(seconds=rng.randrange(8 * 3600))
            is_human = rng.random() < 0.62
            seconds = rng.randrange(40, 400) if is_human else rng.randrange(15, 40)
            conversations.record(
                session,
                partner_id=organization.partner_id,
                organization_id=organization.id,
                assistant_id=assistant.id,
                call_id=None,
                answered_by=AnsweredBy.HUMAN if is_human else AnsweredBy.VOICEMAIL,
                started_at=started,
                ended_at=started + timedelta(seconds=seconds),
            )
