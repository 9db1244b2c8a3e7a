"""Actions on a webhook: test, pause, resume, send again, remove."""

from uuid import UUID

from flask import url_for
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.portal.web.blueprint import portal
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving
from app.portal.web.messages import changing, redirect_with
from app.portal.webhooks.forms import ReplayForm
from app.portal.webhooks.labels import host_of, removal_confirmation
from app.portal.webhooks.views import webhook_page
from app.services.webhooks import deliveries, endpoints

TEST_QUEUED = lazy_gettext("Test event queued. The log shows the result.")


@portal.post("/api-access/webhooks/<uuid:webhook_id>/test")
def api_webhook_test(webhook_id: UUID) -> Response:
    with changing(_address(webhook_id), Conflict) as session:
        submission = FormSubmission(session, notice=str(TEST_QUEUED))
        deliveries.send_test(session, caller(), webhook_id)
        url = submission.led_to(_address(webhook_id))
    return redirect_with(str(TEST_QUEUED), url)


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
    url = url_for("portal.api_webhook_delivery", webhook_id=webhook_id, delivery_id=delivery_id)
    with changing(url, Conflict) as session:
        deliveries.replay(session, caller(), webhook_id, delivery_id)
    return redirect_with(gettext("It will be sent again with its original ID."), url)


@portal.post("/api-access/webhooks/<uuid:webhook_id>/replay-failed")
def api_webhook_replay_failed(webhook_id: UUID) -> Response:
    form = ReplayForm()
    with saving(form, lambda: webhook_page(webhook_id, replay_form=form)) as session:
        count = deliveries.replay_failed(session, caller(), webhook_id, form.moment)
    return _queued_again(webhook_id, count, gettext("Nothing has failed since then."))


@portal.post("/api-access/webhooks/<uuid:webhook_id>/retry")
def api_webhook_retry(webhook_id: UUID) -> Response:
    with transaction() as session:
        count = deliveries.retry_now(session, caller(), webhook_id)
    return _queued_again(webhook_id, count, gettext("No delivery is waiting for a retry."))


@portal.get("/api-access/webhooks/<uuid:webhook_id>/remove")
def api_webhook_remove_confirm(webhook_id: UUID) -> str:
    with transaction(read_only=True) as session:
        endpoint = endpoints.get(session, caller(), webhook_id)
        counts = deliveries.counts(session, endpoint)
    return removal_confirmation(endpoint, counts).page()


@portal.post("/api-access/webhooks/<uuid:webhook_id>/remove")
def api_webhook_remove(webhook_id: UUID) -> Response:
    with transaction() as session:
        host = host_of(endpoints.remove(session, caller(), webhook_id))
    words = gettext("The webhook to %(host)s was removed.", host=host)
    return redirect_with(words, url_for("portal.api_webhooks"))


def _address(webhook_id: UUID) -> str:
    return url_for("portal.api_webhook", webhook_id=webhook_id)


def _queued_again(webhook_id: UUID, count: int, none: str) -> Response:
    """Redirect to the webhook with the count of deliveries; ``none`` says why there are none."""
    if not count:
        return redirect_with(none, _address(webhook_id), "info")
    words = ngettext(
        "%(num)s delivery will be sent again.", "%(num)s deliveries will be sent again.", count
    )
    return redirect_with(words, _address(webhook_id))
