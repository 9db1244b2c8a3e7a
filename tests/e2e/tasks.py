"""What the worker does every some minutes, done now: it takes what it finds as the worker does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.jobs.context import WorkerContext
from tests.fixtures.settings import settings_for
from tests.fixtures.stack import Stack
from tests.fixtures.worker_context import worker_context


@contextmanager
def beside(stack: Stack) -> Iterator[WorkerContext]:
    """The connections of another worker of the stack, in this process."""
    with worker_context(settings_for(stack.database_url, stack.instance)) as opened:
        yield opened


def run(stack: Stack, task: Callable[[], None]) -> None:
    """Runs a task of `app.jobs.housekeeping` for the stack."""
    with beside(stack):
        task()
