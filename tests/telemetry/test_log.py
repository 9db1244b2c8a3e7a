"""The log: one JSON line for each request and job, found by every reference, without personal
data."""

import io
import json
import logging
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.errors import Conflict
from app.http.access_log import PortalApp
from app.jobs.observed import observe_job
from app.jobs.worker import WORKFLOWS
from app.log_lines import LineFormatter, json_formatter
from app.models import Organization
from app.services.credentials import api_keys
from app.telemetry.context import current, set_context, working_on
from tests.fixtures.databases import BACKENDS
from tests.fixtures.worker import make_calling_organization
from tests.matrix import is_full, rotating
from tests.services.personal_data.stored_contact import CANARIES, make_stored_contact

LINES = 5000 if is_full() else 1000
NAMES = ("Zoraida Quimbletwist", "Fenwick Oakhollow", "Marisol Vandersnick")
MAILS = ("zoraida.q@quimble.example", "fenwick+home@oak-hollow.example")
NUMBERS = ("+12025550187", "+442079460958", "+4930901820", "(202) 555-0187")
SECRETS = (
    "ppk_live_8f3kQ0zLr2Wm_secretpart",
    "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ6In0.c2lnbmF0dXJlc2ln",
    "whsec_bm90LWEtcmVhbC1zZWNyZXQ",
    "correct-horse-battery-71",
)
PLANTED = (*NAMES, *MAILS, *NUMBERS, *SECRETS)


class LogOutput(io.StringIO):
    """What a handler of the log has written."""

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def log_output() -> Iterator[LogOutput]:
    """The log of everything, as production writes it."""
    out = LogOutput()
    handler, root = logging.StreamHandler(out), logging.getLogger()
    handler.setFormatter(json_formatter())
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield out
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def failing_app(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The application as in production; the page `/sign-in` fails with planted values."""

    def fail() -> None:
        message = f"{MAILS[0]} at {NUMBERS[0]} with {SECRETS[0]}"
        raise RuntimeError(message)

    monkeypatch.setitem(app.view_functions, "portal.auth.sign_in", fail)
    monkeypatch.setattr(app, "testing", False)
    return app


def without_time(line: dict[str, Any]) -> dict[str, Any]:
    line["event"] = re.sub(r"[\d.]+ ms", "… ms", line["event"])
    return {name: value for name, value in line.items() if name not in ("timestamp", "ms")}


def test_a_request_is_one_line_with_its_reference(
    client: FlaskClient, log_output: LogOutput
) -> None:
    answer = client.get("/api/partners?name=Zoraida")
    assert [without_time(line) for line in log_output.lines()] == [
        {
            "event": "GET /api/partners 401 in … ms",
            "method": "GET",
            "route": "/api/partners",
            "status": 401,
            "code": answer.get_json()["details"]["code"],
            "request_id": answer.get_json()["details"]["requestId"],
            "level": "info",
            "logger": "app.access",
        }
    ]


def test_ids_of_the_path_are_in_the_line(client: FlaskClient, log_output: LogOutput) -> None:
    call = "0190b2a4-6f5e-7c31-9d7a-2b8f0c1d3e4f"
    client.get(f"/api/v1/outbound/calls/{call}")
    [line] = log_output.lines()
    assert line["targets"] == {"call_id": call}


def test_a_failed_request_is_one_line_with_the_reference_of_the_page(
    failing_app: Flask, log_output: LogOutput
) -> None:
    answer = failing_app.test_client().get("/sign-in?email=zoraida.q@quimble.example")
    assert answer.status_code == 500
    [reference] = re.findall(r"<code>(req_[\w-]+)</code>", answer.text)
    [line] = log_output.lines()
    assert (line["request_id"], line["level"], line["status"]) == (reference, "error", 500)
    assert line["exception"].startswith("Traceback (most recent call last):\n")
    assert line["exception"].endswith("RuntimeError: [email] at [number] with [secret]")


def test_lines_for_people_carry_the_ids_too(failing_app: Flask) -> None:
    out = io.StringIO()
    handler, log = logging.StreamHandler(out), logging.getLogger("app.access")
    handler.setFormatter(LineFormatter("%(levelname)s %(message)s"))
    log.addHandler(handler)
    answer = failing_app.test_client().get("/sign-in")
    log.removeHandler(handler)
    reference = answer.headers["X-Request-Id"]
    first, *more = out.getvalue().splitlines()
    assert re.fullmatch(rf"ERROR GET /sign-in 500 in [\d.]+ ms request_id={reference}", first)
    assert {line[:2] for line in more} == {"  "}


def test_health_checks_are_logged_only_if_they_fail(
    client: FlaskClient, log_output: LogOutput
) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    assert [line["route"] for line in log_output.lines()] == ["/readyz"]


def test_every_line_of_a_job_has_its_ids(log_output: LogOutput) -> None:
    def place_call(call_id: str, attempt_id: str, turn: int) -> None:
        set_context(partner_id=UUID(int=3))
        logging.getLogger("app.jobs.place_call").warning("the carrier gave no answer")

    observe_job(place_call)("c-1", "a-1", 7)
    ids = {
        "job": "place_call",
        "call_id": "c-1",
        "attempt_id": "a-1",
        "partner_id": str(UUID(int=3)),
    }
    assert [without_time(line) for line in log_output.lines()] == [
        {
            "event": "the carrier gave no answer",
            **ids,
            "level": "warning",
            "logger": "app.jobs.place_call",
        },
        {"event": "place_call: ok after … ms", **ids, "level": "info", "logger": "app.jobs"},
    ]
    assert current() == {}


def test_a_failed_job_logs_its_failure_and_fails(log_output: LogOutput) -> None:
    def send_mail(mail_id: str) -> None:
        raise Conflict("no", "no")

    with pytest.raises(Conflict):
        observe_job(send_mail)("m-1")
    [line] = log_output.lines()
    assert line["event"].startswith("send_mail: failed after ")


def test_each_workflow_is_observed_and_continues_the_trace_of_its_request() -> None:
    def accepts_trace(workflow: Callable[..., Any]) -> bool:
        functions = [workflow]
        while inner := getattr(functions[-1], "__wrapped__", None):
            functions.append(inner)
        return any("trace_parent" in each.__code__.co_varnames for each in functions)

    assert [each.__name__ for each in WORKFLOWS if not accepts_trace(each)] == []


def test_ids_noted_outside_a_job_are_on_no_line() -> None:
    set_context(call_id="c-1")
    assert current() == {}
    with working_on(call_id="c-2"):
        set_context(attempt_id="a-2")
        assert current() == {"call_id": "c-2", "attempt_id": "a-2"}
    assert current() == {}


def test_a_constraint_of_the_database_shows_no_value(
    session: Session, log_output: LogOutput
) -> None:
    calling_organization = make_calling_organization(session)
    known = session.get_one(Organization, calling_organization.organization_id)
    again = {"id": known.id, "partner_id": known.partner_id, "name": NAMES[0]}
    try:
        with session.begin_nested():
            session.execute(insert(Organization).values(again))
    except IntegrityError:
        logging.getLogger("app").exception("not stored")
    [logged] = log_output.lines()
    assert "IntegrityError" in logged["exception"]
    assert [each for each in (NAMES[0], str(known.id)) if each in logged["exception"]] == []


@pytest.mark.alternating
@pytest.mark.crawl
@pytest.mark.parametrize("backend", rotating("database of the log", BACKENDS), indirect=True)
def test_lines_of_any_request_hold_nothing_personal(
    failing_app: Flask, log_output: LogOutput
) -> None:
    """Addresses, headers, forms and bodies full of names, numbers and secrets, of pages that
    exist, fail or don't exist."""
    client, chance = failing_app.test_client(), random.Random(4711)
    routes = (
        "/sign-in",
        "/nowhere/{}",
        "/p/{}/sign-in",
        "/search",
        "/p/x/password/{}",
        "/api/users/{}",
    )
    for _ in range(LINES):
        one, other = chance.choice(PLANTED), chance.choice(PLANTED)
        client.open(
            chance.choice(routes).format(one.replace(" ", "%20").replace("+", "%2B")),
            method=chance.choice(("GET", "POST", "PUT")),
            query_string={"q": other, other: one},
            headers={
                "Authorization": f"Bearer {chance.choice(SECRETS)}",
                "X-Api-Key": chance.choice(SECRETS),
                "User-Agent": other,
                "Traceparent": one,
            },
            data={"email": one, "password": SECRETS[3]},
        )
    text = log_output.getvalue()
    assert len(log_output.lines()) >= LINES
    assert {line["level"] for line in log_output.lines()} >= {"info", "error"}
    assert [planted for planted in PLANTED if planted in text] == []


def test_the_application_logs_its_errors_with_their_requests(app: Flask) -> None:
    assert isinstance(app, PortalApp)


def test_no_personal_data_of_a_run_of_the_product_is_in_the_log(
    app: Flask,
    session: Session,
    settings: Settings,
    database: Database,
    tmp_path: Path,
    log_output: LogOutput,
) -> None:
    """Contacts, uploads, calls, mails, webhooks and an erasure, as the services and the worker's
    steps do them; requests to each face with words in every place."""
    stored_contact = make_stored_contact(session, database, settings, tmp_path)
    key = api_keys.create(
        session,
        stored_contact.admin,
        organization_id=stored_contact.importer.organization_id,
        name="CRM",
    )
    session.commit()
    client = app.test_client()
    header = {"x-api-key": key.secret}
    sent = {"contacts": [{"phone": NUMBERS[0], "firstName": NAMES[0], "email": MAILS[0]}]}
    path = f"/api/v1/campaigns/{stored_contact.importer.campaign_id}/contacts"
    answers = [
        client.post(path, json=sent, headers=header),
        client.get(f"{path}?phone={NUMBERS[0][1:]}&email={MAILS[0]}", headers=header),
        client.post(path, data=f"{{{NAMES[0]}", headers=header),
        client.get(path, headers={"x-api-key": SECRETS[0]}),
        client.post("/api/oauth/token", data={"client_id": MAILS[0], "client_secret": SECRETS[3]}),
        client.post("/sign-in", data={"email": MAILS[0], "password": SECRETS[3]}),
        client.get(f"/{MAILS[1]}?name={NAMES[1]}", headers={"User-Agent": NAMES[2]}),
    ]
    stored_contact.erase()
    assert [answer.status_code // 100 for answer in answers] == [2, 2, 4, 4, 4, 4, 4]
    text = log_output.getvalue()
    assert len(log_output.lines()) >= len(answers)
    assert [word for word in (*PLANTED, *CANARIES, key.secret) if word in text] == []
