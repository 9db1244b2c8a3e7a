"""The demo as it is made: its calls, one of each outcome, and the history of its customers."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.commands.demo import _sentences
from app.commands.demo_story import PARTNERS, PLANS
from app.commands.demo_world import DemoWorld
from app.enums import Role, UserStatus
from app.models import (
    AuditEntry,
    Call,
    CallTranscript,
    Organization,
    PlanVersion,
    User,
    utcnow,
)
from app.policy.caller import system_caller
from supervisor.announce import _sign_in_lines


def test_only_the_call_that_a_person_answers_has_a_conversation(session: Session) -> None:
    making = DemoWorld(session, system_caller("tests"), "http://127.0.0.1", utcnow())
    world = making.build(PARTNERS[:1], history_days=0)
    session.flush()
    output = {
        number: (summary, turns and [turn["speaker"] for turn in turns])
        for number, summary, turns in session.execute(
            select(Call.phone_number, CallTranscript.summary, CallTranscript.turns).outerjoin(
                CallTranscript, CallTranscript.call_id == Call.id
            )
        )
    }
    assert len(output) == 5
    counted = select(func.count(Call.id)).group_by(Call.organization_id)
    assert sorted(session.scalars(counted)) == [1, 4]  # of 5 at once: the next call need not wait
    summary, speakers = output.pop("+12025550101")
    assert summary.startswith("Moved the appointment")
    assert speakers == ["assistant", "person", "assistant", "person", "assistant"]
    assert set(output.values()) == {(None, None)}
    has_history_of_its_limits(session)
    has_an_owner(session, world)
    has_plans_in_all_languages(session)


def has_history_of_its_limits(session: Session) -> None:
    for organization in session.scalars(select(Organization)):
        after = select(AuditEntry.after).where(
            AuditEntry.target_id == str(organization.id), AuditEntry.action.like("organization.%")
        )
        newest = session.scalars(after.order_by(AuditEntry.id.desc())).all()
        limits = [facts["userLimit"] for facts in newest if "userLimit" in (facts or {})]
        assert limits[0] == organization.user_limit


def has_an_owner(session: Session, world: dict[str, Any]) -> None:
    (partner,) = world["partners"]
    members = [organization["users"] for organization in partner["organizations"]]
    assert [len(users) for users in members] == [2, 1, 1]
    owners = session.scalars(select(User).where(User.role == Role.OWNER)).all()
    assert [(str(each.id), each.status) for each in owners] == [
        (members[0][1]["id"], UserStatus.ACTIVE)
    ]
    assert {each["userType"] for each in members[0]} == {"standard"}
    assert f"  owner: {owners[0].email} / {members[0][1]['password']}" in _sentences(world)
    assert [line.split()[0] for line in _sign_in_lines(world)][-2:] == ["owner", "standard"]


def has_plans_in_all_languages(session: Session) -> None:
    texts = session.scalars(select(PlanVersion.texts).where(PlanVersion.texts.is_not(None))).all()
    published = texts[-1]
    assert published
    assert {(tier, *sorted(of_tier)) for tier, of_tier in published.items()} == {
        (tier.value, "de", "es", "fr") for tier in PLANS
    }
