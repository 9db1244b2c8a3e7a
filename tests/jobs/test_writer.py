"""A call with instructions through a worker whose messages a language model writes."""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy import select

from app.database import Database
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.gateways.writers.template import TemplateWriter
from app.models import CallAttempt
from app.services.calls import claims
from tests.fixtures.databases import runs_on
from tests.fixtures.language_model import LanguageModel, completion
from tests.fixtures.worker import Worker, create_calling_organization, outcome

HUMAN = SIMULATED_NUMBERS["human"]
NOTES = "Ask whether she wants the roof quote of last week. She sounded annoyed about the price."
WRITTEN = {"purpose": "It is about the roof we priced for you.", "missed": "About your roof."}


backend = runs_on(["sqlite"])


def spoken(database: Database, call_id: UUID) -> str | None:
    with database.transaction(read_only=True) as session:
        query = select(CallAttempt.spoken).where(CallAttempt.call_id == call_id)
        return session.scalars(query).one()


def built_in(database: Database, call_id: UUID) -> str:
    with database.transaction(read_only=True) as session:
        return TemplateWriter().compose(claims.writing_brief(session, call_id)).intro


def test_messages_come_from_the_model_or_from_templates_if_it_hangs(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with LanguageModel(answer=completion(WRITTEN)).open() as model:
        make_worker(
            PORTAL_WRITER="openai",
            PORTAL_WRITER_URL=model.url,
            PORTAL_WRITER_MODEL="small-1",
            PORTAL_WRITER_SECONDS="5",
        ).start()
        written = calling_organization.dial(fresh_database, HUMAN, call_instructions=NOTES)
        assert outcome(fresh_database, written) == ("completed", "completed", "human")
        model.hangs = True
        fallen_back = calling_organization.dial(fresh_database, HUMAN, call_instructions=NOTES)
        assert outcome(fresh_database, fallen_back) == ("completed", "completed", "human")
        asked = [each["model"] for each in model.asked]
    assert asked == ["small-1", "small-1"]
    assert spoken(fresh_database, written) == (
        "Hello, this is Ada, the AI Receptionist of Harbour Dental. It is about the roof we priced "
        "for you. You can reach us at 1, 2 0 2, 5 5 5, 0 1 9 9. Goodbye."
    )
    assert spoken(fresh_database, fallen_back) == built_in(fresh_database, fallen_back)
