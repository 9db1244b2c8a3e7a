"""A call from the request to the webhook: one trace, one search of the log, and the metrics of
the worker."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from app.config import Settings
from app.database import Database
from app.factory import create_app
from app.log_lines import json_formatter
from app.policy.caller import system_caller
from app.services import webhooks
from app.services.credentials import api_keys
from app.telemetry import tracing
from tests.fixtures.collector import Collector, Span, collector
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.ports import free_port
from tests.fixtures.receiver import Receiver
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.worker import GREETINGS, Worker, create_calling_organization, wait_until
from tests.matrix import rotating

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
OPERATOR = system_caller("tests")


backend = runs_on(rotating("database of a reported call", BACKENDS))


@pytest.fixture
def otlp_collector() -> Iterator[Collector]:
    with collector() as opened:
        yield opened


@pytest.fixture
def web_log() -> Iterator[io.StringIO]:
    out = io.StringIO()
    handler, log = logging.StreamHandler(out), logging.getLogger("app.access")
    handler.setFormatter(json_formatter())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield out
    log.removeHandler(handler)
    log.setLevel(logging.NOTSET)


def scraped(port: int) -> dict[str, float]:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def lines_with(text: str, reference: str) -> list[dict[str, Any]]:
    """One search."""
    return [json.loads(line) for line in text.splitlines() if reference in line]


def test_a_call_is_one_trace_and_found_by_one_search(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    otlp_collector: Collector,
    web_log: io.StringIO,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    calling_organization, port = create_calling_organization(fresh_database), free_port()
    worker = make_worker(
        PORTAL_SECRET_KEY=SECRET_KEY,
        PORTAL_WEBHOOK_ALLOW_PRIVATE="1",
        PORTAL_OTLP_URL=otlp_collector.otlp_url,
        PORTAL_LOG_FORMAT="json",
        PORTAL_METRICS_WORKER_PORT=str(port),
    )
    allowed = Settings(env="test", secret_key=SECRET_KEY, webhook_allow_private=True)
    app = create_app(settings_for(url_of(fresh_database), tmp_path), fresh_database)
    with Receiver().open() as receiver:
        with fresh_database.transaction() as session:
            webhooks.add(
                session,
                OPERATOR,
                allowed,
                organization_id=calling_organization.organization_id,
                url=receiver.url,
                events=("call.completed",),
            )
            key = api_keys.create(
                session, OPERATOR, organization_id=calling_organization.organization_id, name="CRM"
            )
        tracing.start(otlp_collector.otlp_url, 1, "web")
        answer = app.test_client().post(
            "/api/v1/outbound/call",
            json={
                "agentId": str(calling_organization.assistant_id),
                "contact": {"phoneNumber": "+12025550101"},
                "introMessage": GREETINGS["intro_message"],
                "voicemailMessage": GREETINGS["voicemail_message"],
            },
            headers={"x-api-key": key.secret, "traceparent": f"00-{TRACE}-{SPAN}-01"},
        )
        tracing.stop()
        assert answer.status_code == 200, answer.text
        call_id = answer.get_json()["callId"]
        worker.start()
        wait_until(lambda: len(receiver.received) == 1)
        wait_until(lambda: 'portal_jobs_total{job="send_webhook",outcome="ok"}' in scraped(port))
        metrics = scraped(port)
        assert worker.stop() == 0
    log = web_log.getvalue() + capfd.readouterr().err

    found = lines_with(log, call_id)
    assert {each["logger"] for each in found} >= {"app.access", "app.jobs"}
    [request] = [each for each in found if each["logger"] == "app.access"]
    assert request["request_id"] == answer.headers["X-Request-Id"]
    [placed] = [each for each in found if each.get("job") == "place_call"]
    assert placed["organization_id"] == str(calling_organization.organization_id)
    assert placed["partner_id"] == str(calling_organization.partner_id)
    [delivered] = lines_with(log, receiver.received[0].id)
    assert delivered["job"] == "send_webhook"
    assert {each["trace_id"] for each in (request, placed, delivered)} == {TRACE}
    assert "+12025550101" not in log

    assert receiver.received[0].headers["traceparent"].split("-")[1] == TRACE
    assert chain(otlp_collector.spans(), "webhook") == [
        "portal-worker webhook",
        "portal-worker send_webhook",
        "portal-worker place_call",
        "portal-web POST /api/v1/outbound/call",
        SPAN,
    ]
    assert chain(otlp_collector.spans(), "carrier place")[:2] == [
        "portal-worker carrier place",
        "portal-worker place_call",
    ]
    assert "+12025550101" not in repr(otlp_collector.received)

    placements = 'carrier="simulator",outcome="answered",request="place"'
    assert metrics[f"portal_carrier_requests_total{{{placements}}}"] == 1
    assert metrics['portal_webhook_requests_total{outcome="accepted"}'] == 1
    assert metrics['portal_jobs_total{job="place_call",outcome="ok"}'] == 1
    assert metrics['portal_queue_waiting{queue="calls"}'] == 0
    assert metrics['portal_worker_heartbeats_total{outcome="ok"}'] > 0


def chain(spans: list[Span], name: str) -> list[str]:
    """The span of this name, and those that caused it; at the end who called us."""
    known = {span.span_id: span for span in spans}
    [current] = [span for span in spans if span.name == name]
    names = []
    while True:
        assert current.trace_id == TRACE
        names.append(f"{current.service} {current.name}")
        if current.parent_id not in known:
            return [*names, current.parent_id]
        current = known[current.parent_id]
