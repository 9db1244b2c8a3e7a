"""Shadow mode: what Area C would have answered to the requests of a client of the Legacy API."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.models import Assistant, Call, DoNotCallEntry, LegacyDay, LegacyExchange, utcnow
from app.services.credentials import api_keys
from app.services.legacy import migration as legacy_migration
from app.services.legacy.migration import DAYS_KEPT, EXCHANGES_KEPT, NO_ASSISTANT
from tests.api.legacy_calls.conftest import TO, LegacyScript
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant

QUEUED = "The call is queued and will be placed shortly."
MESSAGES = {"introNotes": ..., "introMessage": "Hello, it’s Robin's.", "introVoicemail": "Bye."}


def exchange(session: Session) -> LegacyExchange:
    session.expire_all()
    return session.scalars(select(LegacyExchange)).one()


def exchange_results(session: Session) -> list[tuple[int, Any]]:
    """Status with code (None of an acceptance): as it was answered, as Area C would have."""
    kept = exchange(session)
    pairs = [(kept.status, kept.answer), (kept.shadow_status, kept.shadow_answer)]
    return [(status, body.get("details", {}).get("code")) for status, body in pairs]


def counted(session: Session) -> list[tuple[int, int, int]]:
    session.expire_all()
    rows = session.scalars(select(LegacyDay))
    return [(row.accepted, row.refused, row.differing) for row in rows]


def calls(session: Session) -> list[Call]:
    return list(session.scalars(select(Call).order_by(Call.id)))


def test_an_accepted_request_is_kept_in_the_words_of_area_c_with_both_answers(
    session: Session, legacy_script: LegacyScript, assistant: Assistant
) -> None:
    answer = legacy_script.ask(formInfo=[{"key": "city", "value": "Boston"}])
    kept = exchange(session)
    assert (kept.request, kept.status, kept.answer, kept.shadow_status, kept.shadow_answer) == (
        {
            "agentId": str(assistant.id),
            "contact": {"phoneNumber": TO, "firstName": "Ada", "lastName": "Lovelace"},
            "metadata": {"city": "Boston"},
            "callInstructions": "She asked for a quote.",
        },
        200,
        answer.get_json(),
        200,
        {
            "success": True,
            "message": QUEUED,
            "callId": "the id of the call",
            "status": "queued",
        },
    )
    assert (len(calls(session)), counted(session)) == (1, [(1, 0, 0)])


def test_both_answers_say_that_a_call_waits_for_the_calls_at_once(
    session: Session, tenant: Tenant, legacy_script: LegacyScript
) -> None:
    tenant.plus.max_calls_at_once = 1
    session.flush()
    for _ in range(2):
        answer = legacy_script.ask()
    message = exchange(session).shadow_answer["message"]
    assert message == answer.get_json()["message"]
    assert message.startswith("The call is queued and waits.")


@pytest.mark.parametrize(
    "changes",
    [
        {"formInfo": [{"city": "Łódź"}, {"key": "age", "value": 7}]},
        {"formInfo": ..., **MESSAGES},
        {"name": "  Ada   King of Lovelace ", **MESSAGES},
        {"name": "Ada"},
    ],
)
def test_the_kept_body_asks_area_c_for_the_same_call(
    session: Session,
    tenant: Tenant,
    legacy_script: LegacyScript,
    client: FlaskClient,
    changes: dict[str, Any],
) -> None:
    key = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.plus.id,
        name="New",
        live=True,
    )
    session.commit()
    assert legacy_script.ask(**changes).status_code == 200
    body = exchange(session).request
    answer = client.post("/api/v1/outbound/call", headers={"x-api-key": key.secret}, json=body)
    assert answer.status_code == 200, answer.get_json()
    old, new = (
        (
            call.assistant_id, call.organization_id, call.live, call.status, call.phone_number,
            call.contact, call.call_metadata, call.intro_message, call.voicemail_message,
            call.call_instructions,
        )
        for call in calls(session)
    )  # fmt: skip
    assert new == old


@pytest.mark.usefixtures("clock")
def test_both_areas_refuse_with_their_own_messages(
    session: Session, tenant: Tenant, legacy_script: LegacyScript
) -> None:
    entry = DoNotCallEntry(
        organization_id=tenant.plus.id, partner_id=tenant.partner.id, phone=TO, added_by="Paul"
    )
    session.add(entry)
    session.commit()
    legacy_script.ask()
    assert exchange_results(session) == [(409, "do_not_contact"), (409, "do_not_contact")]
    assert exchange(session).shadow_answer["success"] is False
    legacy_script.ask(toPhoneNumber="+19005550123")
    assert exchange_results(session) == [(400, "number_not_allowed"), (400, "number_not_allowed")]
    kept = exchange(session)
    fields = [
        [error["field"] for error in body["details"]["errors"]]
        for body in (kept.answer, kept.shadow_answer)
    ]
    assert fields == [["toPhoneNumber"], ["contact.phoneNumber"]]
    assert (calls(session), counted(session)) == ([], [(0, 2, 0)])


def test_a_number_of_no_assistant_gets_a_placeholder_in_the_request(
    session: Session, legacy_script: LegacyScript
) -> None:
    legacy_script.ask(fromPhoneNumber="+12025550199")
    assert exchange_results(session) == [(404, "agent_not_found"), (404, "agent_not_found")]
    assert exchange(session).request["agentId"] == NO_ASSISTANT


def test_requests_that_only_area_c_refuses_are_counted(
    session: Session, legacy_script: LegacyScript
) -> None:
    assert legacy_script.ask(name="A" * 101).status_code == 200
    assert exchange_results(session) == [(200, None), (400, "too_long")]
    assert (len(calls(session)), counted(session)) == (1, [(1, 0, 1)])


def test_after_the_end_area_c_still_says_what_it_would_answer(
    session: Session, retired_legacy_script: LegacyScript
) -> None:
    assert retired_legacy_script.ask().status_code == 410
    assert exchange_results(session) == [(410, "retired"), (200, None)]
    assert (calls(session), counted(session)) == ([], [(0, 1, 1)])


def test_requests_without_the_plus_plan_are_compared_too(
    session: Session, tenant: Tenant, legacy_script: LegacyScript
) -> None:
    tenant.plus.payment_tier = Tier.FREE
    session.commit()
    legacy_script.ask()
    assert exchange_results(session) == [(403, "plan_required"), (200, None)]


def test_an_unreadable_request_is_counted_and_does_not_replace_the_last_one(
    session: Session,
    clock: SetClock,
    legacy_script: LegacyScript,
    retired_legacy_script: LegacyScript,
) -> None:
    legacy_script.ask()
    before = exchange(session).at
    clock.pass_by(minutes=1)
    legacy_script.ask(name=...)
    legacy_script.client.post("/phone/outbound", headers=legacy_script.headers, data=b"{")
    retired_legacy_script.client.post(
        "/phone/outbound", headers=retired_legacy_script.headers, data=b"{"
    )
    assert (exchange(session).at, counted(session)) == (before, [(1, 3, 0)])


def test_without_a_valid_token_nothing_is_counted(
    session: Session, legacy_script: LegacyScript
) -> None:
    LegacyScript(legacy_script.client, {"Authorization": "Bearer nonsense"}).ask()
    assert counted(session) == []


def test_a_noted_request_has_the_code_of_its_own_answer(
    session: Session, legacy_script: LegacyScript
) -> None:
    """Asking Area C leaves no trace in what is noted of the request."""
    legacy_script.ask(name="A" * 101)
    log = legacy_script.client.application.extensions["request_log"]
    assert [noted["code"] for noted in log._waiting] == [None]


def test_old_requests_are_deleted(session: Session, legacy_script: LegacyScript) -> None:
    legacy_script.ask()
    legacy_migration.purge(session)
    assert (len(counted(session)), exchange(session).status) == (1, 200)
    kept, day = exchange(session), session.scalars(select(LegacyDay)).one()
    kept.at = utcnow() - EXCHANGES_KEPT
    day.day = (utcnow() - 2 * DAYS_KEPT).date()
    session.commit()
    legacy_migration.purge(session)
    assert (counted(session), session.scalars(select(LegacyExchange)).all()) == ([], [])
