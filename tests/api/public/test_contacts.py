"""POST /api/v1/campaigns/{campaignId}/contacts: the envelope, the answer, the dry run."""

import json
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.models import AuditEntry, Campaign, new_id
from app.policy import Permission
from tests.api.public.conftest import Script, make_key
from tests.fixtures.worker import CallingOrganization, make_calling_organization
from tests.services.contacts.conftest import make_campaign

PHONE, OTHER_PHONE = "+12025550101", "+12025550102"
ADA = {"phone": PHONE, "firstName": "Ada"}


@pytest.fixture
def campaign(session: Session, calling_organization: CallingOrganization) -> Campaign:
    made = make_campaign(session, calling_organization)
    session.commit()
    return made


Send = Callable[..., TestResponse]


@pytest.fixture
def send(script: Script, campaign: Campaign) -> Send:
    """Posts a body to the campaign; ``campaign_id``, ``query`` and ``secret`` may differ."""

    def post(
        body: Any, *, campaign_id: object = None, query: str = "", secret: str | None = None
    ) -> TestResponse:
        return script.client.post(
            f"/api/v1/campaigns/{campaign_id or campaign.id}/contacts{query}",
            headers={"x-api-key": secret or script.secret},
            json=body,
        )

    return post


def refusal(answer: TestResponse) -> tuple[int, str, list[tuple[str, str]]]:
    details = answer.get_json()["details"]
    return (
        answer.status_code,
        details["code"],
        [(each["field"], each["code"]) for each in details["errors"]],
    )


def test_each_contact_gets_its_answer(send: Send) -> None:
    send({"contacts": [{"phone": OTHER_PHONE}]})
    answer = send(
        {
            "contacts": [
                ADA,
                {"phone": "(202) 555-0102", "lastName": "Hopper"},
                {"email": "nobody"},
                {"email": "done@example.com", "status": "completed"},
            ]
        }
    )
    body = answer.get_json()
    ids = [success.pop("id") for success in body["success"]]
    assert answer.status_code == 200
    assert len(set(ids)) == 2
    assert body == {
        "message": "4 contacts were sent: 1 created, 1 updated, 0 deleted, 1 ignored, 1 failed.",
        "success": [
            {"phone": PHONE, "email": None, "action": "created"},
            {"phone": "(202) 555-0102", "email": None, "action": "updated"},
        ],
        "errors": [
            {
                "index": 2,
                "phone": None,
                "email": "nobody",
                "code": "invalid_email",
                "field": "email",
                "message": "Enter an email like name@example.com.",
                "retryable": False,
            }
        ],
        "ignored": [
            {"index": 3, "phone": None, "email": "done@example.com", "code": "status_ended"}
        ],
    }


def test_the_answer_is_200_even_if_all_failed(send: Send) -> None:
    answer = send({"contacts": [None, 5, {}]})
    assert answer.status_code == 200
    assert [error["code"] for error in answer.get_json()["errors"]] == [
        "invalid_type",
        "invalid_type",
        "missing_identifier",
    ]


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "required", "contacts"),
        ({"contacts": None}, "not_nullable", "contacts"),
        ({"contacts": {}}, "wrong_type", "contacts"),
        ({"contacts": "x"}, "wrong_type", "contacts"),
        ({"contacts": []}, "too_few", "contacts"),
        ({"contacts": [ADA] * 4}, "too_many_contacts", "contacts"),
        ({"contacts": [ADA], "action": "Upsert"}, "not_allowed", "action"),
        ({"contacts": [ADA], "action": ""}, "not_allowed", "action"),
        ({"contacts": [ADA], "action": None}, "not_nullable", "action"),
        ({"contacts": [ADA], "actoin": "remove"}, "unknown_field", "actoin"),
        (
            {"contacts": [ADA], "externalIdKey": "crmId"},
            "external_id_pair_incomplete",
            "externalIdValue",
        ),
        (
            {"contacts": [ADA], "externalIdValue": "1"},
            "external_id_pair_incomplete",
            "externalIdKey",
        ),
        (
            {"contacts": [ADA], "externalIdKey": "nope", "externalIdValue": "1"},
            "unknown_external_id_key",
            "externalIdKey",
        ),
        (
            {"contacts": [ADA, {}], "externalIdKey": " crmId", "externalIdValue": "1"},
            "identifying_external_id_key",
            "externalIdKey",
        ),
        (
            {"contacts": [ADA], "externalIdKey": 1, "externalIdValue": "1"},
            "wrong_type",
            "externalIdKey",
        ),
    ],
)
def test_a_wrong_envelope_refuses_the_request(
    make_app: Callable[..., Flask],
    script: Script,
    campaign: Campaign,
    body: Any,
    code: str,
    field: str,
) -> None:
    script.client = make_app(max_contacts=3).test_client()
    path = f"/api/v1/campaigns/{campaign.id}/contacts"
    headers = {"x-api-key": script.secret}
    answer = script.client.post(path, headers=headers, json=body)
    assert refusal(answer) == (400, code, [(field, code)])
    assert script.get(f"/campaigns/{campaign.id}/contacts").get_json() == []


def test_a_phone_of_thousands_of_characters_is_refused_quickly(send: Send) -> None:
    start = time.process_time()
    body = send({"contacts": [{"phone": "1" * 20_000 + "x"}]}).get_json()
    assert [error["code"] for error in body["errors"]] == ["invalid_phone"]
    assert time.process_time() - start < 1


def test_a_body_over_the_limit_gets_413(
    make_app: Callable[..., Flask], script: Script, campaign: Campaign
) -> None:
    script.client = make_app(max_contacts_bytes=1024).test_client()
    answer = script.client.post(
        f"/api/v1/campaigns/{campaign.id}/contacts",
        headers={"x-api-key": script.secret},
        json={"contacts": [{**ADA, "note": "x" * 1024}]},
    )
    assert (answer.status_code, answer.get_json()["details"]["code"]) == (413, "body_too_large")


@pytest.mark.parametrize(("longer", "status"), [(0, 200), (1, 413), (5000, 413)])
def test_a_body_in_chunks_has_the_same_limit(
    make_app: Callable[..., Flask], script: Script, campaign: Campaign, longer: int, status: int
) -> None:
    body = json.dumps({"contacts": [ADA]}).encode().ljust(1024 + longer)
    answer = (
        make_app(max_contacts_bytes=1024)
        .test_client()
        .post(
            f"/api/v1/campaigns/{campaign.id}/contacts",
            headers={"x-api-key": script.secret, "Transfer-Encoding": "chunked"},
            content_type="application/json",
            input_stream=BytesIO(body),
            environ_overrides={"wsgi.input_terminated": True},  # as gunicorn sets it
        )
    )
    assert answer.status_code == status
    assert len(script.get(f"/campaigns/{campaign.id}/contacts").get_json()) == (status == 200)


def test_the_identifier_beside_the_list_applies_to_its_contacts(
    send: Send, script: Script, campaign: Campaign
) -> None:
    root = {"externalIdKey": "crmId", "externalIdValue": " A-1 "}
    send({"contacts": [ADA], **root})
    answer = send({"contacts": [{"firstName": "Augusta"}], "action": "updateOnly", **root})
    assert [success["action"] for success in answer.get_json()["success"]] == ["updated"]
    [stored] = script.get(f"/campaigns/{campaign.id}/contacts").get_json()
    assert (stored["firstName"], stored["externalIds"]) == ("Augusta", {"crmId": "A-1"})


def test_a_dry_run_answers_the_same_and_writes_nothing(
    send: Send, script: Script, campaign: Campaign
) -> None:
    body = {"contacts": [ADA, {"phone": PHONE, "lastName": "Lovelace"}, {"phone": "x"}]}
    tried = send(body, query="?dryRun=true").get_json()
    assert script.get(f"/campaigns/{campaign.id}/contacts").get_json() == []
    done = send(body, query="?dryRun=false").get_json()
    assert {success["id"] for success in tried["success"]} == {None}
    for success in done["success"]:
        success["id"] = None
    assert tried == done


def test_a_request_leaves_one_history_entry_unless_it_changes_nothing(
    send: Send, session: Session, campaign: Campaign
) -> None:
    send({"contacts": [ADA, {"phone": "x"}]})
    send({"contacts": [ADA]}, query="?dryRun=true")
    send({"contacts": [{"phone": "x"}]})
    entries = session.scalars(
        select(AuditEntry).where(AuditEntry.target_id == str(campaign.id))
    ).all()
    assert [(entry.action, entry.after) for entry in entries] == [
        (
            "contacts.upserted",
            {"created": 1, "updated": 0, "deleted": 0, "ignored": 0, "failed": 1},
        )
    ]


def test_a_campaign_of_another_tenant_gets_the_same_404_as_a_missing_one(
    send: Send, session: Session
) -> None:
    strangers = make_campaign(session, make_calling_organization(session))
    session.commit()
    answers = [
        send({"contacts": [ADA]}, campaign_id=campaign_id).get_json()
        for campaign_id in (new_id(), strangers.id)
    ]
    for answer in answers:
        del answer["details"]["requestId"]
    assert answers[0] == answers[1]
    assert answers[0]["details"]["code"] == "campaign_not_found"
    assert refusal(send({"contacts": [ADA]}, campaign_id="x")) == (
        400,
        "invalid_uuid",
        [("campaignId", "invalid_uuid")],
    )


def test_a_key_without_the_scope_is_refused(
    send: Send, session: Session, calling_organization: CallingOrganization
) -> None:
    secret = make_key(session, calling_organization, scopes=[Permission.CONTACTS_READ])
    session.commit()
    answer = send({"contacts": [ADA]}, secret=secret)
    assert (answer.status_code, answer.get_json()["details"]["code"]) == (
        403,
        "insufficient_scope",
    )
