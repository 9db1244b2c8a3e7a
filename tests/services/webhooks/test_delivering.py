"""The next step of a delivery after each answer."""

import hmac
import json
from base64 import b64decode, b64encode
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import DeliveryStatus, PauseReason
from app.errors import Conflict
from app.gateways.webhook_client import WebhookAnswer
from app.models import Mail, MailKind, Webhook, WebhookDelivery, utcnow
from app.policy.caller import Caller
from app.services import webhooks
from app.services.credentials.encryption import SealBroken
from app.services.credentials.reencryption import StoredSecret, reencrypt_batch
from app.services.mails import texts
from app.services.webhooks import WebhookWithSecret, deliveries, delivering
from app.services.webhooks.attempts import MAX_STORED, attempts_of, with_attempt
from app.services.webhooks.delivering import GAPS_SECONDS, WebhookRequest
from app.services.webhooks.signing import PURPOSE
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant

TAKEN, BUSY, GONE = WebhookAnswer(204, ""), WebhookAnswer(503, "busy"), WebhookAnswer(410, "gone")
WAITING, HELD = DeliveryStatus.WAITING, DeliveryStatus.HELD
DELIVERED, FAILED = DeliveryStatus.DELIVERED, DeliveryStatus.FAILED


def event_to_try(
    session: Session, admin: Caller, new_webhook: WebhookWithSecret
) -> WebhookDelivery:
    return deliveries.send_test(session, admin, new_webhook.webhook.id)


def attempt(
    session: Session, settings: Settings, delivery: WebhookDelivery, answer: WebhookAnswer
) -> WebhookRequest | None:
    """What the worker does around the receiver's answer."""
    attempt_number = delivery.attempt_number
    message = delivering.begin(session, delivery.id, attempt_number, settings)
    if message is not None:
        delivering.record_answer(session, delivery.id, attempt_number, answer, settings)
    return message


def signed_with(message: WebhookRequest) -> list[str]:
    return message.headers["webhook-signature"].split()


def expected(secret: str, message: WebhookRequest) -> str:
    """By the words of the specification, not by the code that signs."""
    answer_text = (
        message.headers["webhook-id"],
        message.headers["webhook-timestamp"],
        message.body,
    )
    mac = hmac.new(b64decode(secret[6:]), ".".join(answer_text).encode(), "sha256")
    return "v1," + b64encode(mac.digest()).decode()


def test_an_accepted_message_is_done(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    message = attempt(session, settings, delivery, TAKEN)
    assert message is not None
    assert (message.url, signed_with(message)) == (
        "https://crm.example/hooks",
        [expected(new_webhook.secret, message)],
    )
    assert json.loads(message.body)["type"] == "webhook.test"
    assert (delivery.status, delivery.attempts, delivery.last_status) == (DELIVERED, 1, 204)
    assert attempt(session, settings, delivery, TAKEN) is None


def test_each_attempt_is_kept_with_its_answer_up_to_two_series(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    for status in (500, 503, None):
        attempt(session, settings, delivery, WebhookAnswer(status, f"answer {status}", seconds=0.2))
    kept = attempts_of(delivery)
    assert [(each.number, each.status, each.answer) for each in kept] == [
        (3, None, "answer None"),
        (2, 503, "answer 503"),
        (1, 500, "answer 500"),
    ]
    assert {each.seconds for each in kept} == {0.2}
    assert kept[0].at == delivery.last_attempt_at
    for _ in range(MAX_STORED):
        delivery.attempts += 1
        delivery.attempt_log = with_attempt(delivery.attempt_log, utcnow(), BUSY)
    kept = attempts_of(delivery)
    assert [kept[0].number, kept[-1].number] == [3 + MAX_STORED, 4]


def test_of_a_delivery_of_an_earlier_version_the_last_attempt_is_shown(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    assert attempts_of(delivery) == []
    attempt(session, settings, delivery, BUSY)
    delivery.attempt_log, delivery.attempts = None, 4
    (last,) = attempts_of(delivery)
    assert (last.number, last.status, last.answer, last.seconds) == (4, 503, "busy", None)


def test_attempts_follow_in_growing_gaps_with_the_same_id_until_the_last(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery, ids, gaps = event_to_try(session, admin, new_webhook), set(), []
    for _ in GAPS_SECONDS:
        message = attempt(session, settings, delivery, BUSY)
        assert message is not None
        assert (delivery.status, delivery.last_answer) == (WAITING, "busy")
        assert delivery.next_attempt_at is not None
        assert delivery.last_attempt_at is not None
        gaps.append((delivery.next_attempt_at - delivery.last_attempt_at).total_seconds())
        ids.add(message.headers["webhook-id"])
    assert all(own <= gap <= own * 1.1 + 1 for own, gap in zip(GAPS_SECONDS, gaps, strict=True))
    attempt(session, settings, delivery, BUSY)
    assert (delivery.status, delivery.attempts, delivery.next_attempt_at) == (FAILED, 11, None)
    assert ids == {delivery.message_id}


@pytest.mark.parametrize(("wish", "least", "most"), [(90, 90, 90), (1, 5, 6), (1e9, 86400, 86400)])
def test_retry_after_is_respected_up_to_a_day(
    session: Session,
    clock: SetClock,
    settings: Settings,
    admin: Caller,
    new_webhook: WebhookWithSecret,
    wish: float,
    least: float,
    most: float,
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    attempt(session, settings, delivery, WebhookAnswer(429, "", wish))
    assert delivery.next_attempt_at is not None
    assert least <= (delivery.next_attempt_at - clock.now).total_seconds() <= most


def test_an_outdated_attempt_does_nothing(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    attempt(session, settings, delivery, BUSY)
    assert delivering.begin(session, delivery.id, 1, settings) is None
    delivering.record_answer(session, delivery.id, 1, TAKEN, settings)
    assert (delivery.status, delivery.attempts, delivery.attempt_number) == (WAITING, 1, 2)


def test_a_webhook_that_is_gone_is_paused_at_once_and_the_partner_gets_a_mail(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    admin: Caller,
    new_webhook: WebhookWithSecret,
) -> None:
    tenant.partner.notification_email = "ops@northwind.example"
    delivery = event_to_try(session, admin, new_webhook)
    attempt(session, settings, delivery, GONE)
    assert (new_webhook.webhook.pause_reason, delivery.status) == (PauseReason.GONE, HELD)
    mail = session.scalars(select(Mail)).one()
    assert (mail.kind, mail.to, mail.details) == (
        "webhook_paused",
        "ops@northwind.example",
        {
            "webhookId": str(new_webhook.webhook.id),
            "host": "crm.example",
            "organization": tenant.organization.name,
            "reason": "gone",
        },
    )
    assert MailKind.WEBHOOK_PAUSED in texts.TEXTS_BY_KIND


def test_a_webhook_that_accepts_nothing_for_a_whole_day_is_paused(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    admin: Caller,
    new_webhook: WebhookWithSecret,
) -> None:
    tenant.partner.notification_email = "ops@northwind.example"
    first, second, third = (event_to_try(session, admin, new_webhook) for _ in range(3))
    attempt(session, settings, first, BUSY)
    new_webhook.webhook.failing_since = utcnow() - timedelta(hours=23, minutes=59)
    attempt(session, settings, first, BUSY)
    assert new_webhook.webhook.paused_at is None
    attempt(session, settings, second, TAKEN)
    assert new_webhook.webhook.failing_since is None
    attempt(session, settings, first, BUSY)
    new_webhook.webhook.failing_since = utcnow() - timedelta(hours=24)
    attempt(session, settings, first, BUSY)
    assert (new_webhook.webhook.pause_reason, first.status) == (PauseReason.FAILING, HELD)
    assert attempt(session, settings, third, TAKEN) is None
    assert third.status is HELD
    assert [mail.details["reason"] for mail in session.scalars(select(Mail))] == ["failing"]


def test_held_messages_are_sent_when_the_webhook_resumes(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    for _ in range(3):
        attempt(session, settings, delivery, BUSY)
    webhooks.pause(session, admin, new_webhook.webhook.id)
    attempt(session, settings, delivery, TAKEN)
    assert delivering.queue_next_held(session, new_webhook.webhook.id) is False
    assert delivery.status is HELD
    webhooks.resume(session, admin, new_webhook.webhook.id)
    assert delivering.queue_next_held(session, new_webhook.webhook.id) is False
    assert (delivery.status, delivery.retries) == (WAITING, 0)
    attempt(session, settings, delivery, TAKEN)
    assert (delivery.status, delivery.attempts) == (DELIVERED, 4)


def test_both_secrets_sign_while_the_overlap_lasts(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    new = webhooks.rotate(
        session, admin, settings, new_webhook.webhook.id, overlap=timedelta(hours=24)
    )
    message = attempt(session, settings, event_to_try(session, admin, new_webhook), TAKEN)
    assert message is not None
    assert signed_with(message) == [
        expected(new.secret, message),
        expected(new_webhook.secret, message),
    ]
    new_webhook.webhook.previous_until = utcnow()
    message = attempt(session, settings, event_to_try(session, admin, new_webhook), TAKEN)
    assert message is not None
    assert signed_with(message) == [expected(new.secret, message)]
    assert new_webhook.webhook.previous_secret is None


def test_the_applications_key_can_be_changed(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    new = {"secret_key": "another-key-another-key-another-key"}
    both = settings.model_copy(update=new | {"previous_secret_key": settings.secret_key})
    alone = settings.model_copy(update=new)
    with pytest.raises(SealBroken):
        attempt(session, alone, event_to_try(session, admin, new_webhook), TAKEN)
    message = attempt(session, both, event_to_try(session, admin, new_webhook), TAKEN)
    reencrypt_batch(session, StoredSecret(Webhook.secret, PURPOSE), both.secret_keys, ())
    later = attempt(session, alone, event_to_try(session, admin, new_webhook), TAKEN)
    assert message is not None
    assert later is not None
    assert signed_with(message) == [expected(new_webhook.secret, message)]
    assert signed_with(later) == [expected(new_webhook.secret, later)]


def test_a_finished_message_is_sent_again_under_its_id(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    with pytest.raises(Conflict):
        deliveries.send_again(session, admin, new_webhook.webhook.id, delivery.id)
    first = attempt(session, settings, delivery, TAKEN)
    deliveries.send_again(session, admin, new_webhook.webhook.id, delivery.id)
    delivering.queue_next_held(session, new_webhook.webhook.id)
    second = attempt(session, settings, delivery, TAKEN)
    assert first is not None
    assert second is not None
    ids = first.headers["webhook-id"], second.headers["webhook-id"]
    assert (ids, second.body) == ((delivery.message_id,) * 2, first.body)


def test_a_message_that_waits_for_a_retry_can_be_sent_at_once(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    delivery = event_to_try(session, admin, new_webhook)
    assert not deliveries.can_be_sent_again(delivery)
    attempt(session, settings, delivery, BUSY)
    session.refresh(delivery)
    assert (delivery.status, deliveries.is_retrying(delivery)) == (WAITING, True)
    deliveries.send_again(session, admin, new_webhook.webhook.id, delivery.id)
    assert delivery.next_attempt_at is None
    delivering.queue_next_held(session, new_webhook.webhook.id)
    message = attempt(session, settings, delivery, TAKEN)
    assert message is not None
    session.refresh(delivery)
    assert delivery.status is DELIVERED


def test_all_messages_that_failed_since_a_time_are_sent_again(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    old, new, taken = (event_to_try(session, admin, new_webhook) for _ in range(3))
    for delivery in (old, new):
        delivery.retries = len(GAPS_SECONDS)
        attempt(session, settings, delivery, BUSY)
    attempt(session, settings, taken, TAKEN)
    old.created_at = utcnow() - timedelta(days=3)
    session.flush()
    whose: UUID = new_webhook.webhook.id
    assert deliveries.counts(session, new_webhook.webhook)[FAILED] == 2
    since = utcnow() - timedelta(days=1)
    assert deliveries.send_failed_again(session, admin, whose, since) == 1
    delivering.queue_next_held(session, whose)
    session.expire_all()
    assert (old.status, new.status, taken.status) == (FAILED, WAITING, DELIVERED)
    assert deliveries.send_failed_again(session, admin, whose) == 1
