"""Which events are written, in the transaction of the change that they report."""

import contextlib
import json
from importlib import import_module
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import CallSource, ContactAction, DeliveryStatus, WebhookEvent
from app.models import Campaign, WebhookDelivery
from app.services import calls, contacts, webhooks
from app.services.imports import undo
from app.services.imports.pipeline import undo_rows
from tests.fixtures.tenants import OPERATOR
from tests.fixtures.uploads import Importer, number
from tests.fixtures.worker import CallingOrganization, make_calling_organization

ANN, BOB = number(1), number(2)


def want(
    importer: Importer, settings: Settings, *events: WebhookEvent, paused: bool = False
) -> None:
    with importer.database.transaction() as session:
        new_webhook = webhooks.add(
            session,
            importer.caller,
            settings,
            organization_id=importer.organization_id,
            url="https://crm.example/hooks",
            events=[event.value for event in events],
        )
        if paused:
            webhooks.pause(session, importer.caller, new_webhook.webhook.id)


def written_events(database: Database) -> list[tuple[str, dict[str, Any]]]:
    """Type and data of what was written, in its order."""
    with database.transaction(read_only=True) as session:
        bodies = session.scalars(select(WebhookDelivery.payload).order_by(WebhookDelivery.id)).all()
    return [(body["type"], body["data"]) for body in map(json.loads, bodies)]


def kinds(database: Database) -> list[str]:
    return [kind for kind, _ in written_events(database)]


def ids_of(database: Database) -> list[int]:
    return [len(data["contactIds"]) for _, data in written_events(database)]


def test_events_of_changed_contacts_hold_their_ids(importer: Importer, settings: Settings) -> None:
    created, updated = WebhookEvent.CONTACT_CREATED, WebhookEvent.CONTACT_UPDATED
    want(importer, settings, created, updated, WebhookEvent.CONTACT_DELETED)
    importer.send({"phone": ANN}, {"phone": BOB})
    importer.send({"phone": ANN, "firstName": "Ann"}, {"phone": BOB})  # nothing new about Bob
    [(first, both), (second, one)] = written_events(importer.database)
    assert (first, second, len(both["contactIds"])) == (created, updated, 2)
    assert one == {
        "organizationId": str(importer.organization_id),
        "campaignId": str(importer.campaign_id),
        "contactIds": [both["contactIds"][0]],
    }


def test_many_contacts_make_several_events(
    importer: Importer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("app.services.contacts.apply"), "IDS_IN_AN_EVENT", 2)
    want(importer, settings, WebhookEvent.CONTACT_CREATED)
    importer.send(*({"phone": number(index)} for index in range(5)))
    assert ids_of(importer.database) == [2, 2, 1]


def test_nothing_is_written_for_an_event_without_subscribers(
    importer: Importer, settings: Settings
) -> None:
    want(importer, settings, WebhookEvent.CONTACT_DELETED)
    importer.send({"phone": ANN})
    assert written_events(importer.database) == []


def test_every_subscribed_webhook_gets_the_same_event(
    importer: Importer, settings: Settings
) -> None:
    want(importer, settings, WebhookEvent.CONTACT_CREATED)
    want(importer, settings, WebhookEvent.CONTACT_CREATED, paused=True)
    importer.send({"phone": ANN})
    with importer.database.transaction(read_only=True) as session:
        first, second = session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id))
        assert (first.event_id, first.payload) == (second.event_id, second.payload)
        assert (first.status, second.status) == (DeliveryStatus.WAITING, DeliveryStatus.HELD)


def test_a_rolled_back_change_emits_no_event(importer: Importer, settings: Settings) -> None:
    want(importer, settings, WebhookEvent.CONTACT_CREATED)
    with contextlib.suppress(RuntimeError), importer.database.transaction() as session:
        campaign = session.get_one(Campaign, importer.campaign_id)
        contacts.apply(session, campaign, [{"phone": ANN}], ContactAction.UPSERT)
        raise RuntimeError
    assert written_events(importer.database) == []


def test_an_upload_emits_events_when_it_ends_and_when_it_is_undone(
    importer: Importer, settings: Settings
) -> None:
    want(importer, settings, WebhookEvent.IMPORT_FINISHED, WebhookEvent.IMPORT_UNDONE)
    upload = importer.apply(importer.checked(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\n").id)
    with importer.database.transaction() as session:
        order = undo.start(session, importer.caller, upload.id, 7).undo_number
    undo_rows(importer.database, upload.id, order)
    [(finished, done), (undone, back)] = written_events(importer.database)
    assert (finished, undone) == ("import.finished", "import.undone")
    facts = {
        "importId": str(upload.id),
        "organizationId": str(importer.organization_id),
        "campaignId": str(importer.campaign_id),
        "fileName": "people.csv",
        "action": "upsert",
        "rows": 2,
        "rowsApplied": 2,
        "created": 2,
        "updated": 0,
        "deleted": 0,
        "ignored": 0,
        "failed": 0,
    }
    assert {**facts, "state": "done", "finishedAt": done["finishedAt"]} == done
    counts = {"removed": 2, "restored": 0, "broughtBack": 0, "contactsLeft": 0}
    assert {**facts, "undone": counts, "undoneAt": back["undoneAt"]} == back


def test_the_event_of_a_cancelled_call_equals_the_json_of_the_call(
    session: Session, settings: Settings, database: Database
) -> None:
    calling_organization: CallingOrganization = make_calling_organization(session)
    webhooks.add(
        session,
        OPERATOR,
        settings,
        organization_id=calling_organization.organization_id,
        url="https://crm.example/hooks",
        events=["call.canceled"],
    )
    session.commit()
    call_id = calling_organization.dial(database, "+12025550120", source=CallSource.API)
    with database.transaction() as writing:
        calls.cancel(writing, calling_organization.key, call_id, ())
    [(kind, data)] = written_events(database)
    assert kind == "call.canceled"
    with database.transaction(read_only=True) as reading:
        call = calls.get(reading, calling_organization.key, call_id)
        read = calls.describe(call, []).model_dump(mode="json", by_alias=True)
    organization = {"organizationId": str(calling_organization.organization_id), "live": True}
    assert data == {**organization, **read}
