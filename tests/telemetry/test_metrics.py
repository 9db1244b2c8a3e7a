"""Every metric that an alert or the dashboard uses exists; the web processes report together."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml  # type: ignore[import-untyped]  # without types
from prometheus_client import CollectorRegistry
from sqlalchemy.orm import Session

from app.config import ROOT
from app.database import Database, make_engine
from app.errors import RateLimited
from app.http.rate_limit import TokenBuckets
from app.jobs.queue_metrics import QueueMetrics
from app.services import workers
from app.telemetry.metrics import REGISTRY, watch_pool
from tests.fixtures.databases import Databases
from tests.fixtures.waiting import wait_for
from tests.fixtures.worker import make_calling_organization

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboard.json"
NAME = re.compile(r"\bportal_\w+")
DURATION = re.compile(r"\d+[smh]")


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    return list(group["rules"])


def panels() -> list[dict[str, Any]]:
    return [p for p in json.loads(DASHBOARD.read_text())["panels"] if p["type"] != "row"]


def expressions() -> list[str]:
    shown = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [*(rule["expr"] for rule in rules()), *shown]


def existing() -> dict[str, set[str]]:
    """The names of all samples, each with its labels."""
    found: dict[str, set[str]] = {}
    for metric in REGISTRY._names_to_collectors.values():
        labels = set(getattr(metric, "_labelnames", ()))
        for name, collector in REGISTRY._names_to_collectors.items():
            if collector is metric:
                found[name] = labels | ({"le"} if name.endswith("_bucket") else set())
    for family in QueueMetrics(Database(make_engine("sqlite:///never-opened.db")), 15).describe():
        found[family.name] = {"queue"}
    return found


def test_every_metric_of_an_alert_or_panel_exists_with_its_labels() -> None:
    known, faults = existing(), []
    for expression in expressions():
        for name, _, matchers in re.findall(r"\b(portal_\w+)(\{([^}]*)\})?", expression):
            labels = set(re.findall(r"(\w+)[=!]", matchers))
            if name not in known or not labels <= known[name]:
                faults.append((name, labels))
    assert faults == []


def test_every_metric_has_a_panel() -> None:
    shown = [target["expr"] for panel in panels() for target in panel["targets"]]
    stems = {stem(name) for expression in shown for name in NAME.findall(expression)}
    assert {name for name in existing() if stem(name) not in stems} == set()


def stem(name: str) -> str:
    return re.sub(r"_(bucket|sum|count|created|total)$", "", name)


def test_an_alert_says_what_is_wrong_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule.keys() - {"for"} == {"alert", "expr", "labels", "annotations"}, rule["alert"]
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"].keys() == {"summary", "action"}
        assert DURATION.fullmatch(rule.get("for", "1m"))
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_a_panel_has_its_own_place() -> None:
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in panels()]
    assert len(set(places)) == len(places)
    assert all(p["gridPos"]["x"] + p["gridPos"]["w"] <= 24 for p in panels())
    assert all(p["title"] and p["fieldConfig"]["defaults"]["unit"] for p in panels())


def test_connections_in_use_are_counted(databases: Databases) -> None:
    engine = make_engine(databases.create("sqlite"), pool_size=3, max_overflow=1)
    watch_pool("probe", engine)
    watch_pool("probe", engine)

    def value(name: str) -> float | None:
        return REGISTRY.get_sample_value(f"portal_database_connections_{name}", {"pool": "probe"})

    assert (value("in_use"), value("limit")) == (0, 4)
    with engine.connect(), engine.connect():
        assert value("in_use") == 2
    assert value("in_use") == 0
    engine.dispose()


def test_the_queue_reports_what_waits(session: Session, database: Database) -> None:
    calling_organization = make_calling_organization(session)
    calling_organization.accept(session)
    session.commit()
    registry = CollectorRegistry()
    workers.announce(session, "one", ["calls"])
    session.commit()
    registry.register(QueueMetrics(database, 15))
    assert registry.get_sample_value("portal_queue_waiting", {"queue": "calls"}) == 1
    assert registry.get_sample_value("portal_queue_running", {"queue": "calls"}) == 0
    serving = [
        registry.get_sample_value("portal_queue_workers", {"queue": name})
        for name in ("calls", "mail")
    ]
    assert serving == [1, 0]
    oldest = registry.get_sample_value("portal_queue_oldest_seconds", {"queue": "calls"})
    assert oldest is not None
    assert 0 <= oldest < 60


def test_delayed_requests_are_counted() -> None:
    def value() -> float:
        return REGISTRY.get_sample_value("portal_throttled_total", {"throttle": "requests"}) or 0

    before, buckets = value(), TokenBuckets(1, 1)
    buckets.take("one")
    with pytest.raises(RateLimited):
        buckets.take("one")
    assert value() == before + 1


@pytest.fixture
def web(databases: Databases, tmp_path: Path) -> Iterator[tuple[int, int, subprocess.Popen[bytes]]]:
    """The ports of the portal and of its metrics, with two web processes."""
    listener, metrics = socket.create_server(("127.0.0.1", 0)), socket.create_server(("", 0))
    port, metrics_port = listener.getsockname()[1], metrics.getsockname()[1]
    metrics.close()
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "--workers", "2"]
    running = subprocess.Popen(
        [*command, "--bind", f"fd://{listener.fileno()}", "wsgi:app"],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": databases.create("sqlite"),
            "PORTAL_INSTANCE_DIR": str(tmp_path),
            "PORTAL_METRICS_PORT": str(metrics_port),
        },
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    listener.close()
    yield port, metrics_port, running
    running.terminate()
    running.wait(timeout=60)


def requests_counted(port: int) -> float:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    name = 'portal_http_requests_total{face="health",method="GET",status="200"}'
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if name in line)


def get(url: str) -> int:
    for _patience in range(100):
        try:
            with urlopen(url, timeout=90) as answer:
                return int(answer.status)
        except (URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError(url)


def test_web_processes_report_the_counts_of_each_other_even_after_a_kill(
    web: tuple[int, int, subprocess.Popen[bytes]],
) -> None:
    port, metrics_port, running = web
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    wait_for(lambda: len(children.read_text().split()) == 2)
    for _ in range(20):
        assert get(f"http://127.0.0.1:{port}/healthz") == 200
    assert {requests_counted(metrics_port) for _ in range(5)} == {20}
    os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
    for _ in range(10):
        assert get(f"http://127.0.0.1:{port}/healthz") == 200
    assert requests_counted(metrics_port) == 30
    assert get(f"http://127.0.0.1:{metrics_port}/metrics") == 200


def test_the_portal_has_no_metrics_page(
    web: tuple[int, int, subprocess.Popen[bytes]],
) -> None:
    port, _, _ = web
    assert get(f"http://127.0.0.1:{port}/healthz") == 200
    with pytest.raises(URLError, match="404"):
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60)
