"""The calls of the demo: one of each outcome."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.commands.demo_story import PARTNERS
from app.commands.demo_world import World
from app.models import Call, CallTranscript, utcnow
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
