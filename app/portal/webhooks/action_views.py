"""Actions on a webhook: test, pause, resume, send again, remove."""

from datetime import UTC, date, datetime, time
from uuid import UUID

from flask import flash, redirect, url_for
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.portal.web.blueprint import portal
from app.portal.web.editing import Submission
from app.portal.web.messages import redirect_with
from app.portal.webhooks.forms import ReplayForm
from app.portal.webhooks.labels import host_of, removing
from app.portal.webhooks.views import webhook_page
from app.services.webhooks import deliveries, endpoints

TEST_QUEUED = lazy_gettext("Test event queued. The log shows the result.")


@portal.post("/api-access/webhooks/<uuid:webhook_id>/test")
def api_webhook_test(webhook_id: UUID) -> Response:
    try:
        with transaction() as session:
            submission = Submission(session, notice=str(TEST_QUEUED))
            deliveries.send_test(session, caller(), webhook_id)
            submission.led_to(_address(webhook_id))
        flash(str(TEST_QUEUED), "success")
    except Conflict as error:
        flash(error.message, "warning")
    return redirect(_address(webhook_id), 303)


@portal.post("/api-access/webhooks/<uuid:webhook_id>/pause")
def api_webhook_pause(webhook_id: UUID) -> Response:
    with transaction() as session:
        endpoint = endpoints.pause(session, caller(), webhook_id)
    words = gettext(
        "The webhook to %(host)s is paused. Its events are kept.", host=host_of(endpoint)
    )
    return redirect_with(words, _address(webhook_id))


@portal.post("/api-access/webhooks/<uuid:webhook_id>/resume")
def api_webhook_resume(webhook_id: UUID) -> Response:
    with transaction() as session:
        endpoint = endpoints.resume(session, caller(), webhook_id)
    words = gettext(
        "The webhook to %(host)s is resumed. Kept events are sent first.", host=host_of(endpoint)
    )
    return redirect_with(words, _address(webhook_id))


@portal.post("/api-access/webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>/replay")
def api_webhook_replay(webhook_id: UUID, delivery_id: UUID) -> Response:
    try:
        with transaction() as session:
            deliveries.replay(session, caller(), webhook_id, delivery_id)
        flash(gettext("It will be sent again with its original id."), "success")
    except Conflict as error:
        flash(error.message, "warning")
    shown = url_for("portal.api_webhook_delivery", webhook_id=webhook_id, delivery_id=delivery_id)
    return redirect(shown, 303)


@portal.post("/api-access/webhooks/<uuid:webhook_id>/replay-failed")
def api_webhook_replay_failed(webhook_id: UUID) -> Response | tuple[str, int]:
    form = ReplayForm()
    text = (form.since.data or "").strip()
    try:
        since = datetime.combine(date.fromisoformat(text), time(), UTC) if text else None
    except ValueError:
        message = gettext("Enter a day like 2026-02-28.")
        form.since.errors = (message,)
        return webhook_page(webhook_id, replay_form=form), 422
    with transaction() as session:
        count = deliveries.replay_failed(session, caller(), webhook_id, since)
    if count:
        flash(_queued_again(count), "success")
    else:
        flash(gettext("Nothing has failed since then."), "info")
    return redirect(_address(webhook_id), 303)


@portal.post("/api-access/webhooks/<uuid:webhook_id>/retry")
def api_webhook_retry(webhook_id: UUID) -> Response:
    with transaction() as session:
        count = deliveries.retry_now(session, caller(), webhook_id)
    if count:
        flash(_queued_again(count), "success")
    else:
        flash(gettext("No delivery is waiting for a retry."), "info")
    return redirect(_address(webhook_id), 303)


@portal.get("/api-access/webhooks/<uuid:webhook_id>/remove")
def api_webhook_remove_confirm(webhook_id: UUID) -> str:
    with transaction(read_only=True) as session:
        endpoint = endpoints.get(session, caller(), webhook_id)
        counts = deliveries.counts(session, endpoint)
    return removing(endpoint, counts).page()


@portal.post("/api-access/webhooks/<uuid:webhook_id>/remove")
def api_webhook_remove(webhook_id: UUID) -> Response:
    with transaction() as session:
        host = host_of(endpoints.remove(session, caller(), webhook_id))
    return redirect_with(
        gettext("The webhook to %(host)s was removed.", host=host), url_for("portal.api_webhooks")
    )


def _address(webhook_id: UUID) -> str:
    return url_for("portal.api_webhook", webhook_id=webhook_id)


def _queued_again(count: int) -> str:
    return ngettext(
        "%(num)s delivery will be sent again.", "%(num)s deliveries will be sent again.", count
    )
