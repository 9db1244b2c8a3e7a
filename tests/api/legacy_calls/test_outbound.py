from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import CallSource, CallStatus, OrganizationStatus, Role, Tier
from app.models import Assistant, Call, DoNotCallEntry, OAuthClient
from app.services import oauth_clients
from tests.api.legacy_calls.conftest import SUPPORT, TO, LegacyScript
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.trial import add_verified
from tests.fixtures.worker import CallingOrganization


def refusal(answer: TestResponse) -> tuple[int, str, list[tuple[str, str]]]:
    """Status, code, and field with code of every problem, of a complete error body."""
    body = answer.get_json()
    assert set(body) == {"statusCode", "message", "details"}
    assert set(body["details"]) >= {"code", "errors", "requestId"}
    assert body["statusCode"] == answer.status_code
    problems = [(error["field"], error["code"]) for error in body["details"]["errors"]]
    return answer.status_code, body["details"]["code"], problems


def only_call(session: Session) -> Call:
    return session.scalars(select(Call)).one()


def test_notes_become_a_call_with_written_messages(
    session: Session,
    tenant: Tenant,
    legacy_script: LegacyScript,
    assistant: Assistant,
    new_client: oauth_clients.NewClient,
) -> None:
    answer = legacy_script.ask(formInfo=[{"key": "city", "value": "Boston"}])
    call = only_call(session)
    assert (answer.status_code, answer.get_json()) == (
        200,
        {
            "success": True,
            "message": "The call is queued and will be placed shortly.",
            "callId": str(call.id),
        },
    )
    assert (
        call.source, call.live, call.status, call.assistant_id, call.organization_id,
        call.credential_id, call.phone_number, call.contact, call.call_metadata,
        call.intro_message, call.voicemail_message, call.call_instructions,
    ) == (
        CallSource.LEGACY, True, CallStatus.QUEUED, assistant.id, tenant.plus.id,
        new_client.client.id, TO, {"phoneNumber": TO, "firstName": "Ada", "lastName": "Lovelace"},
        {"city": "Boston"}, None, None, "She asked for a quote.",
    )  # fmt: skip


def test_explicit_messages_are_kept_word_for_word(
    session: Session, legacy_script: LegacyScript
) -> None:
    answer = legacy_script.ask(
        introNotes=..., introMessage=" Hello {{name}}! ", introVoicemail="Call us back."
    )
    assert answer.status_code == 200
    call = only_call(session)
    assert (call.intro_message, call.voicemail_message, call.call_instructions) == (
        " Hello {{name}}! ",
        "Call us back.",
        None,
    )


@pytest.mark.parametrize(
    ("form_info", "metadata"),
    [
        (..., {}),
        ([], {}),
        ([{"key": "city", "value": "Boston"}], {"city": "Boston"}),
        ([{"name": "city", "value": "Boston"}], {"city": "Boston"}),
        ([{"city": "Boston"}], {"city": "Boston"}),
        (
            [{"key": "a", "value": 1}, {"name": "b", "value": True}, {"c": 2.5}],
            {"a": 1, "b": True, "c": 2.5},
        ),
        ([{"key": "a", "value": 1}, {"a": 2}], {"a": 2}),
    ],
)
def test_form_info_becomes_metadata_in_each_of_its_shapes(
    session: Session, legacy_script: LegacyScript, form_info: Any, metadata: dict[str, Any]
) -> None:
    assert legacy_script.ask(formInfo=form_info).status_code == 200
    assert only_call(session).call_metadata == metadata


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"introNotes": ...}, [("introNotes", "messaging_required")]),
        ({"introNotes": " "}, [("introNotes", "messaging_required")]),
        ({"introMessage": "Hi", "introNotes": ...}, [("introVoicemail", "messaging_incomplete")]),
        ({"introVoicemail": "Hi", "introNotes": ...}, [("introMessage", "messaging_incomplete")]),
        (
            {"introMessage": "Hi", "introVoicemail": "Hi"},
            [("introNotes", "messaging_conflict")],
        ),
        ({"introMessage": "Hi"}, [("introNotes", "messaging_conflict")]),
        ({"name": ...}, [("name", "required")]),
        ({"toPhoneNumber": ...}, [("toPhoneNumber", "required")]),
        ({"fromPhoneNumber": ...}, [("fromPhoneNumber", "required")]),
        ({"toPhoneNumber": "2025550123"}, [("toPhoneNumber", "invalid_phone")]),
        ({"toPhoneNumber": "+15550143"}, [("toPhoneNumber", "invalid_phone")]),
        ({"toPhoneNumber": "+1202555012３"}, [("toPhoneNumber", "invalid_phone")]),
        ({"fromPhoneNumber": "+12025550100\n"}, [("fromPhoneNumber", "invalid_phone")]),
        ({"toPhoneNumber": "+19005550123"}, [("toPhoneNumber", "number_not_allowed")]),
        ({"toPhoneNumber": "+4915112345678"}, [("toPhoneNumber", "number_not_allowed")]),
        ({"name": 7}, [("name", "wrong_type")]),
        ({"introNotes": None}, [("introNotes", "not_nullable")]),
        ({"formInfo": {"city": "Boston"}}, [("formInfo", "wrong_type")]),
        ({"formInfo": ["city"]}, [("formInfo.0", "wrong_type")]),
        ({"formInfo": [{}]}, [("formInfo.0", "wrong_shape")]),
        ({"formInfo": [{"a": 1, "b": 2}]}, [("formInfo.0", "wrong_shape")]),
        ({"formInfo": [{"key": "a", "value": []}]}, [("formInfo.0", "wrong_type")]),
    ],
)
def test_a_wrong_request_is_refused_naming_the_field(
    session: Session,
    legacy_script: LegacyScript,
    changes: dict[str, Any],
    problems: list[tuple[str, str]],
) -> None:
    assert refusal(legacy_script.ask(**changes)) == (400, problems[0][1], problems)
    assert session.scalars(select(Call)).all() == []


def test_every_problem_is_named_in_one_answer(legacy_script: LegacyScript) -> None:
    answer = legacy_script.ask(name=..., toPhoneNumber="1", introNotes=7)
    assert refusal(answer) == (
        400,
        "validation_failed",
        [("name", "required"), ("toPhoneNumber", "invalid_phone"), ("introNotes", "wrong_type")],
    )


def test_unknown_fields_are_ignored(session: Session, legacy_script: LegacyScript) -> None:
    answer = legacy_script.ask(campaign="spring", intronotes=7)
    call = only_call(session)
    assert (answer.status_code, answer.get_json()["callId"]) == (200, str(call.id))
    assert (call.call_instructions, call.call_metadata) == ("She asked for a quote.", {})


def test_a_number_of_no_assistant_of_the_organization_gets_404(
    session: Session, legacy_script: LegacyScript
) -> None:
    stranger = make_tenant(session, "Southwind")
    theirs = session.scalars(
        select(Assistant).where(Assistant.organization_id == stranger.plus.id)
    ).one()
    theirs.phone_number = "+12025550177"
    session.commit()
    answers = [
        legacy_script.ask(fromPhoneNumber=number) for number in ("+12025550177", "+12025550178")
    ]
    assert [refusal(answer) for answer in answers] == [(404, "agent_not_found", [])] * 2
    assert answers[0].get_json()["message"] == answers[1].get_json()["message"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"active": False}, "agent_inactive"),
        ({"phone_enabled": False}, "agent_phone_not_ready"),
        ({"phone_configured": False}, "agent_phone_not_ready"),
    ],
)
def test_an_assistant_that_can_not_call_gets_409(
    session: Session,
    assistant: Assistant,
    legacy_script: LegacyScript,
    change: dict[str, bool],
    code: str,
) -> None:
    for name, value in change.items():
        setattr(assistant, name, value)
    session.commit()
    assert refusal(legacy_script.ask()) == (409, code, [])


def test_the_do_not_call_list_counts(
    session: Session, tenant: Tenant, legacy_script: LegacyScript
) -> None:
    entry = DoNotCallEntry(
        organization_id=tenant.plus.id, partner_id=tenant.partner.id, phone=TO, added_by="Paul"
    )
    session.add(entry)
    session.commit()
    assert refusal(legacy_script.ask()) == (409, "do_not_contact", [])


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "token_missing"),
        ({"Authorization": "Basic YTpi"}, "token_missing"),
        ({"Authorization": "Bearer"}, "token_missing"),
        ({"Authorization": "Bearer nonsense"}, "invalid_token"),
        ({"Authorization": "Bearer a.b.c"}, "invalid_token"),
        ({"x-api-key": "ppk_live_x"}, "token_missing"),
    ],
)
def test_without_a_valid_token_the_answer_is_403_and_never_401(
    legacy_script: LegacyScript, headers: dict[str, str], code: str
) -> None:
    answer = LegacyScript(legacy_script.client, headers).ask()
    assert refusal(answer) == (403, code, [])
    assert "WWW-Authenticate" not in answer.headers


def test_a_token_of_area_a_is_refused(
    session: Session, tenant: Tenant, legacy_script: LegacyScript, client: FlaskClient
) -> None:
    made = oauth_clients.create(
        session, tenant.caller(Role.PARTNER_ADMIN), name="Sync", role=Role.PARTNER_ADMIN
    )
    session.commit()
    form = {
        "grant_type": "client_credentials",
        "client_id": made.client.client_id,
        "client_secret": made.secret,
    }
    token = client.post("/oauth2/token", data=form).get_json()["access_token"]
    answer = LegacyScript(legacy_script.client, {"Authorization": f"Bearer {token}"}).ask()
    assert refusal(answer) == (403, "invalid_token", [])


def test_its_own_token_opens_nothing_in_area_a(legacy_script: LegacyScript) -> None:
    assert (
        legacy_script.client.get("/api/partners", headers=legacy_script.headers).status_code == 401
    )


@pytest.mark.parametrize("tier", [Tier.FREE, Tier.BASIC, Tier.BASIC_TRIAL, None])
def test_a_plan_other_than_plus_gets_403(
    session: Session, tenant: Tenant, legacy_script: LegacyScript, tier: Tier | None
) -> None:
    tenant.plus.payment_tier = tier
    session.commit()
    assert refusal(legacy_script.ask()) == (403, "plan_required", [])


def test_a_suspended_organization_gets_403(
    session: Session, tenant: Tenant, legacy_script: LegacyScript
) -> None:
    tenant.plus.status = OrganizationStatus.SUSPENDED
    session.commit()
    assert refusal(legacy_script.ask()) == (403, "organization_suspended", [])


def test_trial_mode_allows_only_verified_numbers(
    session: Session, tenant: Tenant, legacy_script: LegacyScript, assistant: Assistant
) -> None:
    tenant.plus.trial_ended_at = None
    session.commit()
    assert refusal(legacy_script.ask()) == (403, "trial_mode", [])
    calling_organization = CallingOrganization(
        tenant.partner.id, tenant.plus.id, assistant.id, SUPPORT
    )
    add_verified(session, calling_organization, TO)
    session.commit()
    assert legacy_script.ask().status_code == 200
    assert only_call(session).phone_number == TO


def test_a_suspended_organization_gets_403_for_any_body_and_after_the_retirement(
    session: Session, clock: SetClock, tenant: Tenant, legacy_script: LegacyScript
) -> None:
    tenant.plus.status = OrganizationStatus.SUSPENDED
    session.commit()
    answers = [refusal(legacy_script.ask(toPhoneNumber="nonsense"))]
    clock.pass_by(days=400)
    answers.append(refusal(legacy_script.ask()))
    assert answers == [(403, "organization_suspended", [])] * 2


def test_a_suspended_client_gets_403(
    session: Session, legacy_script: LegacyScript, new_client: oauth_clients.NewClient
) -> None:
    oauth_clients.suspend(session, SUPPORT, new_client.client.id)
    session.commit()
    assert refusal(legacy_script.ask()) == (403, "invalid_token", [])


def test_use_is_noted(
    session: Session,
    clock: SetClock,
    legacy_script: LegacyScript,
    new_client: oauth_clients.NewClient,
) -> None:
    new_client.client.last_used_at = None
    session.commit()
    assert legacy_script.ask().status_code == 200
    noted = session.scalars(
        select(OAuthClient.last_used_at).where(OAuthClient.id == new_client.client.id)
    ).one()
    assert noted == clock.now
