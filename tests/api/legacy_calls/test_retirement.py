from collections.abc import Callable
from datetime import timedelta
from email.utils import parsedate_to_datetime

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.models import Call, OAuthClient, utcnow
from app.services.oauth_clients import NewClient
from tests.api.legacy_calls.conftest import RETIREMENT, LegacyScript, token_of

SUCCESSOR = '<http://localhost/api/v1/outbound/call>; rel="successor-version"'
DEPRECATED = "@1767225600"  # 2026-01-01T00:00:00Z
Extend = Callable[[timedelta], OAuthClient]


def announced(answer: TestResponse) -> tuple[str | None, str | None, str | None]:
    get = answer.headers.get
    return get("Deprecation"), get("Sunset"), get("Link")


def test_before_the_date_every_answer_announces_it(legacy_script: LegacyScript) -> None:
    answers = [
        legacy_script.ask(),
        legacy_script.ask(name=...),
        legacy_script.ask(fromPhoneNumber="+12025550199"),
        LegacyScript(legacy_script.client, {}).ask(),
        legacy_script.client.get("/phone/outbound"),
        legacy_script.client.get("/phone"),
        legacy_script.client.post("/phone/unknown", headers=legacy_script.headers),
        legacy_script.client.post("/phone/outbound", headers=legacy_script.headers, data=b"{"),
    ]
    assert [answer.status_code for answer in answers] == [
        200, 400, 404, 403, 405, 404, 404, 415,
    ]  # fmt: skip
    expected = (DEPRECATED, "Wed, 01 Jul 2099 00:00:00 GMT", SUCCESSOR)
    assert [announced(answer) for answer in answers] == [expected] * len(answers)
    assert parsedate_to_datetime(expected[1]) == RETIREMENT


def test_other_areas_announce_nothing(legacy_script: LegacyScript) -> None:
    for path in ("/api/partners", "/api/v1/agents", "/phones", "/oauth2/token", "/healthz"):
        assert announced(legacy_script.client.get(path)) == (None, None, None)


def test_after_the_date_a_valid_token_gets_410_and_the_successor(
    session: Session, retired_legacy_script: LegacyScript
) -> None:
    answer = retired_legacy_script.ask()
    body = answer.get_json()
    assert (answer.status_code, body["statusCode"], body["details"]["code"]) == (
        410,
        410,
        "retired",
    )
    assert announced(answer) == (DEPRECATED, "Wed, 01 Jul 2026 00:00:00 GMT", SUCCESSOR)
    assert session.scalars(select(Call)).all() == []


def test_after_the_date_bodies_are_not_read(retired_legacy_script: LegacyScript) -> None:
    answer = retired_legacy_script.client.post(
        "/phone/outbound", headers=retired_legacy_script.headers, data=b"{"
    )
    assert (answer.status_code, answer.get_json()["details"]["code"]) == (410, "retired")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nonsense"}])
def test_after_the_date_a_request_without_a_valid_token_gets_403(
    retired_legacy_script: LegacyScript, headers: dict[str, str]
) -> None:
    answer = LegacyScript(retired_legacy_script.client, headers).ask()
    assert answer.status_code == 403
    assert announced(answer) == (DEPRECATED, "Wed, 01 Jul 2026 00:00:00 GMT", SUCCESSOR)


def test_an_extended_client_is_served_until_its_own_date(
    session: Session, retired_legacy_script: LegacyScript, extend: Extend
) -> None:
    until = extend(timedelta(days=30)).served_until
    assert until is not None
    answers = [retired_legacy_script.ask(), retired_legacy_script.ask(name=...)]
    assert [answer.status_code for answer in answers] == [200, 400]
    for answer in answers:
        deprecation, sunset, link = announced(answer)
        assert (deprecation, link) == (DEPRECATED, SUCCESSOR)
        assert parsedate_to_datetime(sunset or "") == until


def test_an_expired_extension_gets_410_with_its_date(
    session: Session, retired_legacy_script: LegacyScript, new_client: NewClient
) -> None:
    until = utcnow().replace(microsecond=0) - timedelta(seconds=5)
    session.get_one(OAuthClient, new_client.client.id).served_until = until
    session.commit()
    answer = retired_legacy_script.ask()
    assert answer.status_code == 410
    assert parsedate_to_datetime(answer.headers["Sunset"]) == until


def test_an_extension_that_ends_before_the_retirement_changes_nothing(
    legacy_script: LegacyScript, extend: Extend
) -> None:
    extend(timedelta(days=1))
    answer = legacy_script.ask()
    assert (answer.status_code, answer.headers["Sunset"]) == (200, "Wed, 01 Jul 2099 00:00:00 GMT")


def test_the_dates_of_the_retirement_come_from_the_settings(
    make_app: Callable[..., Flask], new_client: NewClient
) -> None:
    configured = make_app(
        legacy_retirement="2098-01-02",
        legacy_deprecated="2029-01-01T12:00:00+02:00",
        public_api_url="https://calls.example",
    ).test_client()
    answer = LegacyScript(configured, token_of(configured, new_client)).ask()
    assert (answer.status_code, announced(answer)) == (
        200,
        (
            "@1861956000",
            "Thu, 02 Jan 2098 00:00:00 GMT",
            '<https://calls.example/api/v1/outbound/call>; rel="successor-version"',
        ),
    )
