"""Two requests of a directory at the same moment, with real commits."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from flask import Flask

from app.database import Database
from app.factory import create_app
from tests.api.scim.conftest import GROUP, USER, make_token
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import make_tenant


@pytest.fixture
def busy_app(fresh_database: Database, tmp_path: Path) -> Flask:
    return create_app(settings_for(url_of(fresh_database), tmp_path), fresh_database)


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/Users", {"schemas": [USER], "userName": "ada@northwind.example"}),
        ("/Groups", {"schemas": [GROUP], "displayName": "Sales"}),
    ],
)
def test_of_two_equal_requests_at_once_one_succeeds(
    busy_app: Flask, fresh_database: Database, path: str, sent: dict[str, object]
) -> None:
    with fresh_database.transaction() as session:
        secret = make_token(session, make_tenant(session))
    headers = {"Authorization": f"Bearer {secret}"}
    together = Barrier(2)

    def send(_number: int) -> tuple[int, str | None]:
        client = busy_app.test_client()
        together.wait(10)
        answer = client.post(f"/scim/v2{path}", headers=headers, json=sent)
        return answer.status_code, answer.get_json().get("scimType")

    with ThreadPoolExecutor(2) as threads:
        answers = sorted(threads.map(send, range(2)), key=lambda answer: answer[0])
    assert answers == [(201, None), (409, "uniqueness")]
