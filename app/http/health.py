"""Is the process alive, and is the installation ready? Asked by supervisors and proxies."""

from collections.abc import Callable
from datetime import timedelta

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.database.migration import current, head
from app.extensions import transaction
from app.models import WorkerHeartbeat, utcnow

HEARTBEAT_LIMIT = timedelta(seconds=15)

OK = "ok"

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> ResponseReturnValue:
    """The process answers."""
    return jsonify(status=OK)


@blueprint.get("/readyz")
def readyz() -> ResponseReturnValue:
    """200 where work can be done, else 503; ``checks`` says in a sentence what is in the way."""
    checks = dict.fromkeys(CHECKS, "not checked")
    try:
        with transaction(read_only=True) as session:
            for name, check in CHECKS.items():
                checks[name] = check(session)
                if checks[name] != OK:
                    break
    except SQLAlchemyError:
        checks["database"] = "the database does not answer"
    ready = set(checks.values()) == {OK}
    body = jsonify(status="ready" if ready else "unavailable", checks=checks)
    body.headers["Cache-Control"] = "no-store"
    return body, 200 if ready else 503


def _database(session: Session) -> str:
    session.execute(select(1))
    return OK


def _migrations(session: Session) -> str:
    found, wanted = current(session.connection()), head()
    if found == wanted:
        return OK
    return f"the database is at migration {found or 'none'}, this version needs {wanted}"


def _worker(session: Session) -> str:
    alive = WorkerHeartbeat.stopped_at.is_(None)
    latest = session.scalar(select(func.max(WorkerHeartbeat.beat_at)).where(alive))
    if latest is None:
        return "no worker is running"
    if utcnow() - latest <= HEARTBEAT_LIMIT:
        return OK
    return f"no worker has been heard of since {latest.isoformat(timespec='seconds')}"


CHECKS: dict[str, Callable[[Session], str]] = {
    "database": _database,
    "migrations": _migrations,
    "worker": _worker,
}
"""In the order they are asked: each needs the ones before it."""
