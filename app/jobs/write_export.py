"""Writing the export of a list, as a durable workflow.

The lists are declared by the portal, which a worker doesn't load: a separate process writes each
export, and so takes neither memory nor time from calls. It ends with its worker; the next worker
starts again, and only the newest attempt keeps its file.
"""

import logging
import subprocess
import sys
import time
from uuid import UUID

from dbos import DBOS

from app.config import ROOT
from app.enums import ExportProblem
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services import exports

PROGRAM = (sys.executable, "-m", "flask", "--app", "wsgi", "exports", "write", "--with-parent")
MAX_SECONDS = 15 * 60.0
"""Maximum seconds of one try: several times as long as the largest list takes."""
TRIES = 3
PAUSE_SECONDS = 5.0

log = logging.getLogger(__name__)


@DBOS.workflow(name="write_export")
@observe_job
def write_export(export_id: str) -> None:
    try:
        run_writer(export_id)
    except Exception:
        log.exception("an export could not be written")
        give_up_export(export_id)


@DBOS.step(name="run_export_writer")
def run_writer(export_id: str) -> None:
    """Run the process that writes the file until it succeeds; one that takes too long is killed.
    Raises `RuntimeError` after some failures."""
    for attempt in range(1, TRIES + 1):
        # Its standard input ends with this process, even if that is killed.
        with subprocess.Popen(  # noqa: S603 - our own program
            [*PROGRAM, export_id], cwd=ROOT, stdin=subprocess.PIPE
        ) as process:
            try:
                status = process.wait(MAX_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
        if status == 0:
            return
        log.warning("the writer of an export ended with status %d (try %d)", status, attempt)
        if attempt < TRIES:
            time.sleep(PAUSE_SECONDS * attempt)
    message = f"the writer failed {TRIES} times"
    raise RuntimeError(message)


@DBOS.step(name="give_up_export")
@retry_on_database_outage
def give_up_export(export_id: str) -> None:
    with context().database.transaction() as session:
        exports.fail(session, UUID(export_id), ExportProblem.FAILED)
