"""An overloaded portal refuses previews first, then exports, and continues to serve pages."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from uuid import uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.http import brown_out
from app.http.brown_out import EXPORTS, LIMITED, PREVIEWS, PROVIDERS, WAITED
from supervisor import web_worker
from tests.run.test_web_server import HEAD, answer_to, serve

PREVIEW, EXPORT, PAGE = "/branding/preview/portal", "/usage.csv", "/sign-in"


def test_each_named_endpoint_exists(app: Flask) -> None:
    assert [name for name in LIMITED if name not in app.view_functions] == []
    assert len(LIMITED) == len(EXPORTS) + len(PREVIEWS) + len(PROVIDERS)


@pytest.mark.parametrize(
    ("waited", "refused"),
    [("1.5", []), ("3", [PREVIEW]), ("5", [PREVIEW, EXPORT]), ("30", [PREVIEW, EXPORT])],
)
def test_previews_are_refused_before_exports_and_pages_are_always_served(
    client: FlaskClient, waited: str, refused: list[str]
) -> None:
    answers = {path: client.get(path, headers={WAITED: waited}) for path in (PREVIEW, EXPORT, PAGE)}
    assert [path for path, answer in answers.items() if answer.status_code == 503] == refused
    for path in refused:
        assert answers[path].headers["Retry-After"] == "15"
        title = "The download can’t start now" if path == EXPORT else "The portal is busy"
        assert f"<h1>{title}</h1>" in answers[path].text


def status(client: FlaskClient, path: str) -> int:
    """That of an answer which is read to its end."""
    with client.get(path) as answer:
        return answer.status_code


def test_exports_never_take_all_threads(make_app: Callable[..., Flask]) -> None:
    client = make_app(exports_at_once=1).test_client()
    with client.get(EXPORT) as first:
        assert (status(client, EXPORT), status(client, PAGE)) == (503, 200)
    assert status(client, EXPORT) == first.status_code != 503


def test_an_export_waits_for_its_turn_but_only_half_as_many_as_are_answered(
    make_app: Callable[..., Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(exports_at_once=2)
    client = app.test_client()
    with ThreadPoolExecutor() as others:
        with client.get(EXPORT) as first, client.get(EXPORT):
            third = others.submit(status, app.test_client(), EXPORT)
            sleep(0.2)
            assert not third.done()
            assert (status(client, EXPORT), status(client, PAGE)) == (503, 200)
        assert third.result() == first.status_code != 503
    monkeypatch.setattr(brown_out, "TURN_SECONDS", 0.1)
    with client.get(EXPORT), client.get(EXPORT):
        assert [status(client, EXPORT), status(client, EXPORT)] == [503, 503]


def test_the_studio_asks_for_all_its_previews_at_once(make_app: Callable[..., Flask]) -> None:
    client = make_app(exports_at_once=1).test_client()
    with client.get(PREVIEW) as first:
        assert status(client, PREVIEW) == first.status_code != 503


def test_identity_providers_never_take_all_threads(make_app: Callable[..., Flask]) -> None:
    client = make_app(exports_at_once=1).test_client()
    provider = f"/p/larkfield/sso/{uuid4()}/start"
    with client.get(provider) as first:
        assert (status(client, provider), status(client, EXPORT)) == (503, 303)
        assert client.post(f"/sso/{uuid4()}/logout").status_code == 503
    assert status(client, provider) == first.status_code != 503
    assert client.post(f"/sso/{uuid4()}/logout").status_code == 404


def test_the_web_server_measures_the_wait_of_a_request_and_ignores_the_clients_value() -> None:
    running, port = serve()
    try:
        sent = f"{WAITED}: 30\r\nContent-Length: 6\r\n\r\nwaited".encode()
        waited = answer_to(port, HEAD + sent)[2]
        assert float(waited) < 5
        assert WAITED.upper() == web_worker.WAITED
    finally:
        running.terminate()
        running.wait(timeout=60)
