"""The calls of the demo: one of each outcome."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.commands.demo_story import PARTNERS
from app.commands.demo_world import World
from app.models import Call, CallTranscript, utcnow
from app.policy.caller import system_caller


def test_the_call_that_a_person_answers_has_its_conversation_alone(session: Session) -> None:
    making = World(session, system_caller("tests"), "http://127.0.0.1", utcnow())
    making.build(PARTNERS[:1], history_days=2)
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
    summary, speakers = told.pop("+12025550101")
    assert summary.startswith("Moved the appointment")
    assert speakers == ["assistant", "person", "assistant", "person", "assistant"]
    assert set(told.values()) == {(None, None)}
