"""The CPU time that logs and metrics add to requests: ``python -m benchmarks.reporting_cost``.

The same requests, in turns, to the application as it is and to one without log, metrics and
traces: a page of a signed-in administrator and the smallest list of the JSON API. The log is
written as JSON to a file, the metrics to the files that web processes share, as in production.
Traces are off. Goal: at most 1.03 times.
"""

import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from app.telemetry import shared_folder

shared_folder.create()  # before the metrics are imported

from flask import Flask
from flask.testing import FlaskClient

from app import factory
from app.database import Database, make_engine
from app.enums import Role
from app.log_lines import ACCESS, json_formatter
from app.models import User
from app.policy.caller import system_caller
from app.services.auth import sessions
from app.services.credentials import api_keys
from app.telemetry.metrics import CountLines
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import Databases
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import make_tenant

ROUNDS, REQUESTS = 30, 20
GOAL = 1.03


class Asked(NamedTuple):
    name: str
    path: str
    headers: dict[str, str]


def seconds(client: FlaskClient, request: Asked) -> float:
    """Return the CPU time of some requests."""
    began = time.process_time()
    for _ in range(REQUESTS):
        assert client.get(request.path, headers=request.headers).status_code == 200
    return time.process_time() - began


def without_reports(make: Callable[[], Flask]) -> Flask:
    with patch.object(factory, "log_requests"):
        return make()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        handler = logging.FileHandler(folder / "log")
        handler.setFormatter(json_formatter())
        handler.addFilter(CountLines())
        logging.getLogger(ACCESS).addHandler(handler)
        logging.getLogger(ACCESS).setLevel(logging.INFO)
        logging.getLogger(ACCESS).propagate = False
        databases = Databases(folder, folder)
        url = databases.create("sqlite")
        settings = settings_for(url, folder, rate_per_second=10**9, page_rate_per_second=10**9)
        bare = Database(make_engine(url))
        clients = [
            without_reports(lambda: factory.create_app(settings, bare)).test_client(),
            factory.create_app(settings, Database(make_engine(url))).test_client(),
        ]
        with bare.transaction() as session:
            tenant = make_tenant(session)
            key = api_keys.create(
                session,
                system_caller("benchmark"),
                organization_id=tenant.organization.id,
                name="k",
            )
            user = session.get_one(User, tenant.staff[Role.PARTNER_ADMIN].id)
            token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
            for client in clients:
                give_session(client, token)
        for request in (
            Asked("page", "/organizations", {}),
            Asked("JSON", "/api/v1/agents", {"x-api-key": key.secret}),
        ):
            for client in clients:
                seconds(client, request)
            pairs = [[seconds(client, request) for client in clients] for _ in range(ROUNDS)]
            bare_ms, own_ms = (
                statistics.median(pair[i] for pair in pairs) / REQUESTS * 1000 for i in (0, 1)
            )
            ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
            print(
                f"{request.name}: {bare_ms:.2f} ms without, {own_ms:.2f} ms with, "
                f"ratio {ratio:.3f} (goal {GOAL})"
            )
        databases.close()


if __name__ == "__main__":
    main()
