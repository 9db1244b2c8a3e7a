"""Several workers that look after one campaign at the same moment."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import func, select

from app.config.calls import CallSettings
from app.database import Database
from app.models import Call, OutreachContact, utcnow
from app.services.outreach import dispatcher
from tests.fixtures.outreach import start_campaign
from tests.fixtures.worker import create_calling_organization


def test_eight_workers_call_each_contact_once_and_stay_within_the_limit(
    fresh_database: Database,
) -> None:
    calling_organization = create_calling_organization(fresh_database, max_calls_at_once=12)
    campaign_id = start_campaign(fresh_database, calling_organization, 40)

    def work(_worker: int) -> int:
        with fresh_database.transaction() as session:
            return dispatcher.dispatch(
                session, campaign_id, CallSettings(calls_at_once=20), utcnow()
            )

    with ThreadPoolExecutor(8) as workers:
        fed = sum(workers.map(work, range(24)))
    with fresh_database.transaction(read_only=True) as session:
        placed = session.execute(
            select(func.count(), func.count(func.distinct(Call.phone_number))).select_from(Call)
        ).one()
        decided = session.scalar(select(func.count()).select_from(OutreachContact))
    assert (fed, tuple(placed), decided) == (12, (12, 12), 12)
