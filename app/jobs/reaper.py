"""Takes over the work of worker processes that died."""

import logging
from collections import defaultdict

from dbos import DBOS
from sqlalchemy import func, select

from app.database import Database
from app.gateways.job_queue import JOBS_QUEUE, QUEUES
from app.jobs.engine import wake_for
from app.services import workers

REAPER_LOCK = 7_215_003
"""An advisory lock on PostgreSQL: two reapers could hand out the same work twice."""

log = logging.getLogger(__name__)


def reap(database: Database, executor_id: str, pulse: workers.Pulse) -> int:
    """Puts the pending work of dead executors back in its queue; returns how many pieces.

    On SQLite there is one worker, so all others are dead. On PostgreSQL an executor is dead
    when its heartbeat is gone, or old by the judgment of ``pulse``.
    """
    if database.is_sqlite:
        return _take_over(database, _orphans({executor_id}))
    if not _orphans({executor_id}):
        return 0
    with database.transaction() as session:
        if not session.scalar(select(func.pg_try_advisory_xact_lock(REAPER_LOCK))):
            return 0
        suspects = _orphans({executor_id})
        dead = workers.dead(session, suspects.keys(), pulse)
        workers.declare_dead(session, dead)
        return _take_over(database, {each: suspects[each] for each in dead})


def _orphans(living: set[str]) -> dict[str, list[tuple[str, str]]]:
    """Pending work as (id, queue) by the executor that has it, but for the living ones."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for work in DBOS.list_workflows(status="PENDING", load_input=False, load_output=False):
        if work.executor_id is not None and work.executor_id not in living:
            queue = work.queue_name if work.queue_name in QUEUES else JOBS_QUEUE
            found[work.executor_id].append((work.workflow_id, queue))
    return found


def _take_over(database: Database, dead: dict[str, list[tuple[str, str]]]) -> int:
    by_queue: dict[str, list[str]] = defaultdict(list)
    for pieces in dead.values():
        for workflow_id, queue in pieces:
            by_queue[queue].append(workflow_id)
    for queue, ids in by_queue.items():
        DBOS.resume_workflows(ids, queue_name=queue)
    wake_for(database, by_queue)
    count = sum(len(ids) for ids in by_queue.values())
    if count:
        log.warning("took over %d pieces of work from %d dead workers", count, len(dead))
    return count
