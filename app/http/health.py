"""Whether the process is alive and the installation is ready, for supervisors and proxies."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from flask import Blueprint, current_app, jsonify
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.database.migration import check_schema
from app.disk_space import shortage
from app.extensions import settings, transaction
from app.models import WorkerHeartbeat
from app.services import workers

HEARTBEAT_LIMIT = timedelta(seconds=15)

OK = "ok"

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> ResponseReturnValue:
    """Answer 200 while the process runs."""
    return jsonify(status=OK)


@blueprint.get("/readyz")
def readyz() -> ResponseReturnValue:
    """Answer 200 if the installation can work, else 503; ``checks`` says in a sentence what is
    missing."""
    return _readiness(CHECKS, disk=shortage(settings()) or OK)


@blueprint.get("/readyz/web")
def readyz_web() -> ResponseReturnValue:
    """As `readyz`, for this web process only: pages are served without a worker, too, and while a
    disk is almost full, so that users can delete data."""
    return _readiness({name: CHECKS[name] for name in ("database", "migrations")})


def _readiness(
    required: Mapping[str, Callable[[Session], str]], **results: str
) -> ResponseReturnValue:
    checks = {**results, **dict.fromkeys(required, "not checked")}
    if current_app.extensions["stopping"].is_set():
        return _health_response(checks | {"stopping": "this process is stopping"})
    try:
        with transaction(read_only=True) as session:
            for name, check in required.items():
                checks[name] = check(session)
                if checks[name] != OK:
                    break
    except SQLAlchemyError:
        checks["database"] = "the database does not answer"
    return _health_response(checks)


def _health_response(checks: dict[str, str]) -> ResponseReturnValue:
    ready = set(checks.values()) == {OK}
    body = jsonify(status="ready" if ready else "unavailable", checks=checks)
    body.headers["Cache-Control"] = "no-store"
    return body, 200 if ready else 503


def _check_database(session: Session) -> str:
    session.execute(select(1))
    return OK


def _check_migrations(session: Session) -> str:
    return check_schema(session.connection()).problem or OK


def _check_worker(session: Session) -> str:
    alive = WorkerHeartbeat.stopped_at.is_(None)
    latest = session.scalar(select(func.max(WorkerHeartbeat.beat_at)).where(alive))
    if latest is None:
        return "no worker is running"
    if workers.database_time(session) - latest <= HEARTBEAT_LIMIT:
        return OK
    return f"no worker has been heard of since {latest.isoformat(timespec='seconds')}"


CHECKS: dict[str, Callable[[Session], str]] = {
    "database": _check_database,
    "migrations": _check_migrations,
    "worker": _check_worker,
}
"""In the order in which they run: each needs the ones before it."""
