"""Takes over the work of worker processes that died, and work that this process has lost."""

import logging
from collections import defaultdict
from time import monotonic

from dbos import DBOS
from sqlalchemy import func, select

from app.database import Database
from app.gateways import dbos_adapter
from app.gateways.job_queue import JOBS_QUEUE, QUEUES
from app.jobs.engine import wake_for
from app.services import workers

REAPER_LOCK = 7_215_003
"""An advisory lock on PostgreSQL: two reapers could requeue the same work twice."""

Work = list[tuple[str, str]]
"""Work as (id, queue)."""

log = logging.getLogger(__name__)


class LostWorkReaper:
    """Requeues work that no process does any more.

    That of dead workers: on SQLite there is one worker, so all others are dead; on PostgreSQL an
    executor is dead if its heartbeat is missing, or too old according to ``pulse``. And its own
    lost work: a claim whose answer was lost in an outage, or an end that the database lost in a
    crash, would stay pending for as long as the process lives.
    """

    def __init__(self, database: Database, executor_id: str, pulse: workers.HeartbeatSeries):
        self._database = database
        self._executor_id = executor_id
        self._pulse = pulse
        self._not_running: dict[str, float] = {}

    def reap(self) -> int:
        """Return how much work was requeued."""
        pending = _pending_by_executor()
        lost = self._find_lost_work(pending.pop(self._executor_id, []))
        count = _requeue(self._database, lost)
        if count:
            log.warning("took back %d pieces of work that this worker had lost", count)
        return count + self._take_over(pending)

    def _find_lost_work(self, assigned: Work) -> Work:
        """Return work of this process that hasn't run in it for longer than starting takes."""
        now, running = monotonic(), dbos_adapter.running()
        since = {
            each: self._not_running.get(each, now) for each, _ in assigned if each not in running
        }
        patience = self._pulse.dead_after.total_seconds()
        lost = [each for each in assigned if now - since.get(each[0], now) > patience]
        self._not_running = {
            each: gone_since for each, gone_since in since.items() if now - gone_since <= patience
        }
        return lost

    def _take_over(self, suspects: dict[str, Work]) -> int:
        if not suspects or self._database.is_sqlite:
            return _take_over(self._database, suspects)
        with self._database.transaction() as session:
            if not session.scalar(select(func.pg_try_advisory_xact_lock(REAPER_LOCK))):
                return 0
            suspects = _pending_by_executor()
            suspects.pop(self._executor_id, None)
            dead = workers.dead(session, suspects.keys(), self._pulse)
            workers.declare_dead(session, dead)
            return _take_over(self._database, {each: suspects[each] for each in dead})


def _pending_by_executor() -> dict[str, Work]:
    """Pending work by the executor that has it."""
    pending: dict[str, Work] = defaultdict(list)
    for work in DBOS.list_workflows(status="PENDING", load_input=False, load_output=False):
        if work.executor_id is not None:
            queue = work.queue_name if work.queue_name in QUEUES else JOBS_QUEUE
            pending[work.executor_id].append((work.workflow_id, queue))
    return pending


def _take_over(database: Database, dead: dict[str, Work]) -> int:
    count = _requeue(database, [each for work in dead.values() for each in work])
    if count:
        log.warning("took over %d pieces of work from %d dead workers", count, len(dead))
    return count


def _requeue(database: Database, work: Work) -> int:
    by_queue: dict[str, list[str]] = defaultdict(list)
    for workflow_id, queue in work:
        by_queue[queue].append(workflow_id)
    for queue, ids in by_queue.items():
        DBOS.resume_workflows(ids, queue_name=queue)
    wake_for(database, by_queue)
    return len(work)
