"""The worker's periodic tasks, run now."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.jobs.context import WorkerContext
from tests.fixtures.settings import settings_for
from tests.fixtures.stack import Stack
from tests.fixtures.worker_context import worker_context


@contextmanager
def beside(stack: Stack) -> Iterator[WorkerContext]:
    """Open the connections of another worker of the stack, in this process."""
    with worker_context(settings_for(stack.database_url, stack.instance)) as opened:
        yield opened


def run(stack: Stack, task: Callable[[], None]) -> None:
    """Run a task of `app.jobs.housekeeping` for the stack."""
    with beside(stack):
        task()
