"""A verification call from its request to the number that can be called, over a carrier."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from app.enums import CarrierKind
from app.models import AuditEntry, Call, CallAttempt, CallEvent, VerifiedNumber, WebhookDelivery
from app.policy import Permission
from app.services import calls, verified_numbers, webhooks
from app.services.verified_numbers import CodeOutcome, CodeResult
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.tenants import OPERATOR
from tests.fixtures.trial import shows, start_trial
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import counted_conversations, create_calling_organization, outcome

MEMBER = frozenset({Permission.CALLS_READ, Permission.CALLS_CREATE})
TABLES = (AuditEntry, Call, CallAttempt, CallEvent, VerifiedNumber, WebhookDelivery)

pytestmark = pytest.mark.xdist_group("twilio")


def test_the_carrier_speaks_the_code_and_nothing_stores_it(
    twilio_worker: TwilioWorker, tmp_path: Path
) -> None:
    calling_organization, number = (
        create_calling_organization(twilio_worker.database),
        twilio_worker.number(),
    )
    caller = replace(calling_organization.key, permissions=MEMBER)
    with twilio_worker.database.transaction() as session:
        start_trial(session, calling_organization.organization_id)
        webhook = webhooks.add(
            session,
            OPERATOR,
            settings_for(url_of(twilio_worker.database), tmp_path),
            organization_id=calling_organization.organization_id,
            url="https://hooks.example.com/calls",
            events=["call.started", "call.completed"],
        ).webhook
        webhooks.pause(session, OPERATOR, webhook.id)
        verifying = calls.request_verification(
            session,
            caller,
            calling_organization.organization_id,
            number,
            carrier=CarrierKind.TWILIO,
        )
    assert outcome(twilio_worker.database, verifying.call_id) == ("completed", "completed", "human")
    [placed] = twilio_worker.carrier.calls_to(number)
    say, hang_up = ET.fromstring(placed.spoken)
    assert (say.tag, hang_up.tag) == ("Say", "Hangup")
    spoken, again = re.findall(r"(?:\d, ){5}\d", say.text or "")
    assert spoken == again
    assert counted_conversations(twilio_worker.database, calling_organization.organization_id) == []

    code = spoken.replace(", ", "")
    with twilio_worker.database.transaction(read_only=True) as session:
        rows = [repr(vars(row)) for table in TABLES for row in session.scalars(select(table))]
        of_webhook = WebhookDelivery.webhook_id == webhook.id
        sent = session.scalars(select(WebhookDelivery.type).where(of_webhook)).all()
    assert sorted(sent) == ["call.completed", "call.started"]
    assert [row for row in rows if shows(row, code)] == []

    with twilio_worker.database.transaction() as session:
        entered = verified_numbers.confirm(
            session,
            caller,
            calling_organization.organization_id,
            verifying.id,
            spoken,
            [SECRET_KEY],
        )
    assert entered == CodeResult(CodeOutcome.VERIFIED)
    assert outcome(twilio_worker.database, twilio_worker.dial(number, calling_organization)) == (
        "completed",
        "completed",
        "human",
    )


def test_a_voicemail_gets_no_code(twilio_worker: TwilioWorker) -> None:
    calling_organization, number = (
        create_calling_organization(twilio_worker.database),
        twilio_worker.number(outcome="voicemail"),
    )
    caller = replace(calling_organization.key, permissions=MEMBER)
    with twilio_worker.database.transaction() as session:
        verifying = calls.request_verification(
            session,
            caller,
            calling_organization.organization_id,
            number,
            carrier=CarrierKind.TWILIO,
        )
    assert outcome(twilio_worker.database, verifying.call_id)[1] == "voicemail"
    [placed] = twilio_worker.carrier.calls_to(number)
    with twilio_worker.database.transaction(read_only=True) as session:
        call = session.get_one(Call, verifying.call_id)
    say, _hang_up = ET.fromstring(placed.spoken)
    assert say.text == call.voicemail_message
    assert not re.search(r"\d", say.text or "")
