"""Single outbound calls through the public face."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database
from app.enums import AnsweredBy, CallStatus, EndedReason
from app.models import Assistant, Call, Organization
from tests.api.public.conftest import NUMBER, Script
from tests.fixtures.statements import few_parameters
from tests.fixtures.worker import CallingOrganization, make_calling_organization


def without_request_id(answer: TestResponse) -> dict[str, Any]:
    body: dict[str, Any] = answer.get_json()
    assert body["details"].pop("requestId")
    return body


def problems(answer: TestResponse) -> list[tuple[str, str]]:
    return [(e["field"], e["code"]) for e in answer.get_json()["details"]["errors"]]


def test_an_accepted_call_is_answered_and_can_be_read(
    script: Script, calling_organization: CallingOrganization
) -> None:
    accepted = script.call(metadata={"order": 7, "vip": True}, somethingElse=[1])
    call_id = accepted.get_json()["callId"]
    read = script.get(f"/outbound/calls/{call_id}")
    body = read.get_json()
    assert accepted.status_code == 200
    assert accepted.get_json() == {
        "success": True,
        "message": "The call is queued and will be placed shortly.",
        "callId": call_id,
        "status": "queued",
    }
    assert body.pop("createdAt").endswith("Z")
    assert body == {
        "callId": call_id,
        "agentId": str(calling_organization.assistant_id),
        "phoneNumber": NUMBER,
        "contact": {
            "phoneNumber": NUMBER,
            "firstName": "Ada",
            "lastName": None,
            "email": None,
        },
        "metadata": {"order": 7, "vip": True},
        "status": "queued",
        "answeredBy": None,
        "endedReason": None,
        "statusDetail": None,
        "scheduledFor": None,
        "nextAttemptAt": None,
        "startedAt": None,
        "answeredAt": None,
        "endedAt": None,
        "attempts": [],
    }


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"agentId": ...}, [("agentId", "required")]),
        ({"agentId": 7}, [("agentId", "wrong_type")]),
        ({"contact": ...}, [("contact", "required")]),
        ({"contact": {}}, [("contact.phoneNumber", "required")]),
        ({"contact": {"phoneNumber": 1}}, [("contact.phoneNumber", "wrong_type")]),
        ({"contact": {"phoneNumber": "12025550101"}}, [("contact.phoneNumber", "invalid_phone")]),
        ({"contact": {"phoneNumber": "+1２025550101"}}, [("contact.phoneNumber", "invalid_phone")]),
        (
            {"contact": {"phoneNumber": NUMBER + "\n"}},
            [("contact.phoneNumber", "invalid_phone")],
        ),
        ({"metadata": {"a": {}}}, [("metadata.a", "wrong_type")]),
        ({"introMessage": ...}, [("introMessage", "messaging_incomplete")]),
        ({"voicemailMessage": " "}, [("voicemailMessage", "messaging_incomplete")]),
        ({"callInstructions": "Be kind."}, [("callInstructions", "messaging_conflict")]),
        (
            {"introMessage": "", "voicemailMessage": ...},
            [("callInstructions", "messaging_required")],
        ),
        (
            {"contact": {"phoneNumber": "+19005550101"}},
            [("contact.phoneNumber", "number_not_allowed")],
        ),
        (
            {"agentId": ..., "contact": {}, "introMessage": 1},
            [
                ("agentId", "required"),
                ("contact.phoneNumber", "required"),
                ("introMessage", "wrong_type"),
            ],
        ),
    ],
)
def test_problems_are_answered_field_by_field_and_nothing_is_written(
    script: Script, session: Session, changes: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    answer = script.call(**changes)
    body = answer.get_json()
    assert (answer.status_code, body["statusCode"], body["success"]) == (400, 400, False)
    assert problems(answer) == found
    assert session.scalar(select(func.count()).select_from(Call)) == 0


def test_messages_may_be_left_to_instructions_or_to_the_assistant(
    script: Script, session: Session, calling_organization: CallingOrganization
) -> None:
    none: dict[str, Any] = {"introMessage": ..., "voicemailMessage": ...}
    instructed = script.call(**none, callInstructions="Be kind.")
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    assistant.default_intro, assistant.default_voicemail = "Hello.", "Bye."
    session.commit()
    left = script.call(**none)
    accepted = [
        session.get_one(Call, UUID(each.get_json()["callId"])) for each in (instructed, left)
    ]
    assert [
        (call.intro_message, call.voicemail_message, call.call_instructions) for call in accepted
    ] == [(None, None, "Be kind."), ("Hello.", "Bye.", None)]


def test_a_refusal_because_of_the_current_state_has_its_own_status(
    script: Script, session: Session, calling_organization: CallingOrganization
) -> None:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    assistant.phone_enabled = False
    session.commit()
    answers = [script.call()]
    assistant.active = False
    session.commit()
    answers.append(script.call())
    answers.append(script.call(agentId="0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"))
    assert [(a.status_code, a.get_json()["details"]["code"]) for a in answers] == [
        (409, "agent_phone_not_ready"),
        (409, "agent_inactive"),
        (404, "agent_not_found"),
    ]


def test_objects_of_another_organization_are_answered_like_missing_ones(
    script: Script, session: Session, make_script: Callable[..., Script]
) -> None:
    other = make_calling_organization(session)
    session.commit()
    theirs = make_script(other).call().get_json()["callId"]
    absent = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"
    asked = [
        (script.call(agentId=str(other.assistant_id)), script.call(agentId=absent)),
        (script.get(f"/outbound/calls/{theirs}"), script.get(f"/outbound/calls/{absent}")),
        (script.cancel(theirs), script.cancel(absent)),
    ]
    for strange, missing in asked:
        assert strange.status_code == missing.status_code == 404
        assert without_request_id(strange) == without_request_id(missing)
    assert script.get("/outbound/calls").get_json() == []


@pytest.mark.parametrize("secret", ["", "nonsense", "ppk_live_0000000000000000_bad"])
def test_a_key_is_needed(script: Script, secret: str) -> None:
    script.secret = secret
    answer = script.call()
    assert (answer.status_code, answer.get_json()["details"]["code"]) == (401, "invalid_api_key")
    assert answer.get_json()["success"] is False


def test_a_scope_is_needed(
    make_script: Callable[..., Script], calling_organization: CallingOrganization
) -> None:
    reader = make_script(calling_organization, scopes=["calls:read"])
    caller = make_script(calling_organization, scopes=["calls:create"])
    call_id = caller.call().get_json()["callId"]
    refused = [
        reader.call(),
        reader.cancel(call_id),
        caller.get("/outbound/calls"),
        caller.get(f"/outbound/calls/{call_id}"),
    ]
    assert [(a.status_code, a.get_json()["details"]["code"]) for a in refused] == [
        (403, "insufficient_scope")
    ] * 4
    assert reader.get(f"/outbound/calls/{call_id}").status_code == 200


def test_test_keys_and_live_keys_do_not_see_each_others_calls(
    make_script: Callable[..., Script], calling_organization: CallingOrganization, session: Session
) -> None:
    live, test = make_script(calling_organization), make_script(calling_organization, live=False)
    lived, tested = live.call().get_json()["callId"], test.call().get_json()["callId"]
    assert [call["callId"] for call in live.get("/outbound/calls").get_json()] == [lived]
    assert [call["callId"] for call in test.get("/outbound/calls").get_json()] == [tested]
    assert session.get_one(Call, UUID(tested)).live is False


def test_the_list_is_newest_first_and_its_links_lead_through_it(script: Script) -> None:
    made = [script.call().get_json()["callId"] for _ in range(5)]
    found, path = [], "/outbound/calls?perPage=2"
    while path:
        answer = script.get(path)
        found += answer.get_json()
        link = answer.headers.get("Link", "")
        path = link.partition("/api/v1")[2].partition(">")[0]
        assert not link or link.endswith('rel="next"')
    assert [call["callId"] for call in found] == made[::-1]
    assert found[0] == script.get(f"/outbound/calls/{made[-1]}").get_json()


def test_filters_combine_and_stay_in_the_links_of_the_list(
    script: Script, session: Session
) -> None:
    made = [script.call().get_json()["callId"] for _ in range(4)]
    for call_id in made[:3]:
        call = session.get_one(Call, UUID(call_id))
        call.status, call.ended_reason = CallStatus.COMPLETED, EndedReason.VOICEMAIL
        call.answered_by = AnsweredBy.VOICEMAIL
    session.flush()
    call.phone_number = "+12125550177"
    session.flush()

    def found(query: str) -> list[int]:
        listed = script.get(f"/outbound/calls?{query}").get_json()
        return [made.index(call["callId"]) for call in listed]

    assert found("status=completed") == found("answeredBy=voicemail") == [2, 1, 0]
    assert found("endedReason=voicemail&phoneNumber=%2B12125550177") == [2]
    assert found("status=queued") == [3]
    assert found("status=queued&answeredBy=voicemail") == []
    link = script.get("/outbound/calls?status=completed&perPage=2").headers["Link"]
    assert found(link.partition("?")[2].partition(">")[0]) == [0]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("status=over", ("status", "not_allowed")),
        ("answeredBy=dog", ("answeredBy", "not_allowed")),
        ("endedReason=none", ("endedReason", "not_allowed")),
        ("phoneNumber=12125550177", ("phoneNumber", "invalid_phone")),
    ],
)
def test_a_filter_that_matches_no_possible_call_is_refused(
    script: Script, query: str, problem: tuple[str, str]
) -> None:
    answer = script.get(f"/outbound/calls?{query}")
    assert (answer.status_code, problems(answer)) == (400, [problem])


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("perPage=0", ("perPage", "out_of_range")),
        ("perPage=1001", ("perPage", "out_of_range")),
        ("perPage=x", ("perPage", "out_of_range")),
        ("cursor=bad", ("cursor", "invalid_cursor")),
    ],
)
def test_an_invalid_page_is_refused(script: Script, query: str, problem: tuple[str, str]) -> None:
    answer = script.get(f"/outbound/calls?{query}")
    assert (answer.status_code, problems(answer)) == (400, [problem])


@pytest.mark.parametrize("path", ["/outbound/calls/nonsense", "/outbound/calls/7"])
def test_a_malformed_id_is_refused(script: Script, path: str) -> None:
    answer = script.get(path)
    assert (answer.status_code, problems(answer)) == (400, [("callId", "invalid_uuid")])


def test_repeating_a_request_with_its_key_places_no_second_call(
    script: Script, session: Session
) -> None:
    first, again = script.call(key="order-1"), script.call(key="order-1")
    other = script.call(key="order-1", metadata={"a": 1})
    bad = script.call(key="x" * 256)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.get_json() == first.get_json()
    assert [(a.status_code, a.get_json()["details"]["code"]) for a in (other, bad)] == [
        (409, "idempotency_conflict"),
        (400, "invalid_idempotency_key"),
    ]
    assert session.scalar(select(func.count()).select_from(Call)) == 1


def test_a_call_outside_calling_hours_says_when_it_will_be_placed(
    script: Script, session: Session, calling_organization: CallingOrganization
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.calling_hours_on = True
    organization.calling_hours_end = organization.calling_hours_start.replace(microsecond=1)
    session.commit()
    body = script.call().get_json()
    scheduled = script.get(f"/outbound/calls/{body['callId']}").get_json()["scheduledFor"]
    moment = f"{scheduled[:10]} {scheduled[11:16]} UTC"
    assert body["status"] == "scheduled"
    assert body["message"] == (
        f"The call is scheduled for {moment}, the next moment at which it is allowed. "
        "It is outside calling hours in the person's time zone."
    )


def test_a_waiting_call_is_cancelled_and_cancelling_again_is_no_error(script: Script) -> None:
    call_id = script.call().get_json()["callId"]
    first, second = script.cancel(call_id), script.cancel(call_id)
    assert (first.status_code, second.status_code) == (200, 200)
    assert (
        first.get_json() == second.get_json() == script.get(f"/outbound/calls/{call_id}").get_json()
    )
    assert (first.get_json()["status"], first.get_json()["endedReason"]) == (
        "canceled",
        "canceled",
    )


def test_a_key_lists_the_assistants_it_may_use(
    script: Script, session: Session, calling_organization: CallingOrganization
) -> None:
    make_calling_organization(session)
    session.commit()
    assert script.get("/agents").get_json() == [
        {
            "id": str(calling_organization.assistant_id),
            "name": "Ada",
            "active": True,
            "phone": "+12025550199",
            "phoneReady": True,
        }
    ]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_key_lists_more_assistants_than_a_statement_has_parameters(
    script: Script, session: Session, calling_organization: CallingOrganization, database: Database
) -> None:
    ids = {
        "partner_id": calling_organization.partner_id,
        "organization_id": calling_organization.organization_id,
    }
    many = [{**ids, "name": "A", "phone_number": f"+1202{i:07}"} for i in range(1300)]
    session.execute(insert(Assistant), many)
    session.commit()
    with few_parameters(database.engine, 2500):
        assert len(script.get("/agents").get_json()) == 1301
