"""The demo as it is made: its calls, one of each outcome, and the history of its customers."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.commands.demo_story import PARTNERS
from app.commands.demo_world import World
from app.models import AuditEntry, Call, CallTranscript, Organization, utcnow
from app.policy.caller import system_caller


def test_the_call_that_a_person_answers_has_its_conversation_alone(session: Session) -> None:
    making = World(session, system_caller("tests"), "http://127.0.0.1", utcnow())
    making.build(PARTNERS[:1], history_days=0)
    session.flush()
    told = {
        number: (summary, turns and [turn["speaker"] for turn in turns])
        for number, summary, turns in session.execute(
            select(Call.phone_number, CallTranscript.summary, CallTranscript.turns).outerjoin(
                CallTranscript, CallTranscript.call_id == Call.id
            )
        )
    }
    assert len(told) == 5
    counted = select(func.count(Call.id)).group_by(Call.organization_id)
    assert sorted(session.scalars(counted)) == [1, 4]  # of 5 at once: the next call need not wait
    summary, speakers = told.pop("+12025550101")
    assert summary.startswith("Moved the appointment")
    assert speakers == ["assistant", "person", "assistant", "person", "assistant"]
    assert set(told.values()) == {(None, None)}
    has_history_of_its_limits(session)


def has_history_of_its_limits(session: Session) -> None:
    for organization in session.scalars(select(Organization)):
        after = select(AuditEntry.after).where(
            AuditEntry.target_id == str(organization.id), AuditEntry.action.like("organization.%")
        )
        newest = session.scalars(after.order_by(AuditEntry.id.desc())).all()
        limits = [facts["userLimit"] for facts in newest if "userLimit" in (facts or {})]
        assert limits[0] == organization.user_limit
