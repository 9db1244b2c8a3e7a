"""Webhooks of organizations and for the whole portal, and their deliveries."""

from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import DeliveryStatus
from app.errors import Conflict
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Organization, Webhook, WebhookDelivery, utcnow
from app.portal.api_access.credential_pages import ALREADY_SHOWN, rotate_page
from app.portal.api_access.forms import RotateForm
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import medium_datetime
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.list_pages import list_page
from app.portal.web.messages import changing, redirect_with
from app.portal.web.organization_choice import new_page
from app.portal.web.user_timezone import zone
from app.portal.webhooks import blueprint
from app.portal.webhooks.forms import (
    EVENT_GROUPS,
    EVENT_HINTS,
    PORTAL,
    EditWebhookForm,
    SendAgainForm,
    WebhookForm,
)
from app.portal.webhooks.labels import (
    RETRYING,
    STATUS_FILTER,
    address_news,
    delivery_facts,
    events_label,
    every_event,
    formatted_body,
    health_message,
    host_of,
    is_being_checked,
    next_attempt_label,
    pause_message,
    removal_confirmation,
    response_message,
    response_time,
    retry_message,
    webhook_status,
)
from app.portal.webhooks.listing import WEBHOOKS, filtered_organization, offered_owners
from app.services import organizations, users, webhooks
from app.services.webhooks import addresses, attempts, deliveries


@blueprint.get("/api-access/webhooks")
def list_webhooks() -> str:
    with transaction(read_only=True) as session:
        organization = filtered_organization(session)
        return render_template(
            "portal/webhooks/list.html",
            list=list_page(session, WEBHOOKS),
            organization=organization,
            owners=offered_owners(session, organization),
            events_label=events_label,
            webhook_status=webhook_status,
        )


@blueprint.get("/api-access/webhooks/new")
def new_webhook() -> Page:
    back_link = (gettext("Webhooks"), url_for("portal.webhooks.list_webhooks"))
    scope = {"scope": PORTAL} if request.args.get("scope") == PORTAL else None
    return new_page(WebhookForm(data=scope), _form_page, gettext("Add webhook"), back_link)


@blueprint.post("/api-access/webhooks/new")
def create_webhook() -> Page:
    """Show the webhook's page, with the secret this once: no URL holds it."""
    form = WebhookForm()
    organization = form.owner_or_page(_form_page)
    owner_id = organization.id if organization else None
    with saving(form, lambda: _form_page(organization, form), validate=False) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        created = webhooks.add(
            session, caller(), settings(), organization_id=owner_id, **form.to_fields()
        )
        submission.finish(url_for("portal.webhooks.show_webhook", webhook_id=created.webhook.id))
    return webhook_page(created.webhook.id, created.secret, gettext("The webhook was created"))


@blueprint.get("/api-access/webhooks/<uuid:webhook_id>")
def show_webhook(webhook_id: UUID) -> str:
    return webhook_page(webhook_id)


@blueprint.get("/api-access/webhooks/<uuid:webhook_id>/edit")
def edit_webhook(webhook_id: UUID) -> str:
    return stored_page(webhook_id, _edit_page, _stored)


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/edit")
def save_webhook(webhook_id: UUID) -> Page:
    form = EditWebhookForm()
    with saving_edit(form, "webhook", webhook_id, _edit_page, _stored, validate=False) as session:
        saved = webhooks.update(
            session,
            caller(),
            settings(),
            webhook_id,
            **form.to_fields(),
            expected_version=form.version.data,
        )
    message = gettext("The webhook to %(host)s was saved.", host=host_of(saved))
    return redirect_with(message, url_for("portal.webhooks.show_webhook", webhook_id=webhook_id))


@blueprint.get("/api-access/webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>")
def show_delivery(webhook_id: UUID, delivery_id: UUID) -> str:
    with transaction(read_only=True) as session:
        webhook = webhooks.get(session, caller(), webhook_id)
        delivery = deliveries.get(session, caller(), webhook_id, delivery_id)
        return render_template(
            "portal/webhooks/delivery.html",
            webhook=webhook,
            host=host_of(webhook),
            **delivery_facts(webhook, delivery),
            **_delivery_context(session, webhook, delivery),
        )


def _delivery_context(
    session: Session, webhook: Webhook, delivery: WebhookDelivery
) -> dict[str, Any]:
    """Return the message and its owner, its attempts, and whether there will be more."""
    owners = deliveries.organizations_of(session, caller(), webhook, [delivery])
    return {
        "owner": owners.get(delivery.id),
        "message": formatted_body(delivery),
        "attempts": attempts.attempts_of(delivery),
        "response_message": response_message,
        "took": response_time,
        **_attempt_times(delivery),
        "can_be_sent_again": deliveries.can_be_sent_again(delivery),
        "is_retrying": deliveries.is_retrying(delivery),
    }


def _attempt_times(delivery: WebhookDelivery) -> dict[str, str]:
    """Return when the delivery was last attempted, and when it is next, with the attempt's
    number."""
    last_attempt, next_attempt = (
        medium_datetime(moment, zone(), with_seconds=True)
        for moment in (delivery.last_attempt_at, delivery.next_attempt_at)
    )
    attempt_label = next_attempt_label(delivery)
    return {
        "last_attempt": last_attempt if delivery.last_attempt_at else gettext("None yet"),
        "next_attempt_label": f"{next_attempt} ({attempt_label})" if attempt_label else "",
    }


@blueprint.get("/api-access/webhooks/<uuid:webhook_id>/rotate")
def confirm_rotate_webhook_secret(webhook_id: UUID) -> str:
    return _rotate_page(webhook_id, RotateForm())


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/rotate")
def rotate_webhook_secret(webhook_id: UUID) -> Page:
    form = RotateForm()
    page = partial(_rotate_page, webhook_id, form)
    with saving(form, page, validate=False, shows=(Conflict,)) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        rotated = webhooks.rotate(session, caller(), settings(), webhook_id, overlap=form.length)
        submission.finish(url_for("portal.webhooks.show_webhook", webhook_id=webhook_id))
    return webhook_page(webhook_id, rotated.secret, gettext("The webhook has a new secret"))


def _chosen_status() -> dict[str, Any]:
    """Return the arguments of `deliveries.listing` for the status of the URL."""
    if request.args.get("state") == RETRYING:
        return {"status": DeliveryStatus.WAITING, "is_retried": True}
    status = lists.choice_filter("state", DeliveryStatus)
    return {"status": status, "is_retried": False if status is DeliveryStatus.WAITING else None}


def webhook_page(
    webhook_id: UUID,
    secret: str | None = None,
    success_title: str = "",
    send_again_form: SendAgainForm | None = None,
) -> str:
    position, status = lists.current_position(), _chosen_status()
    with transaction(read_only=True) as session:
        webhook = webhooks.get(session, caller(), webhook_id)
        owner_id = webhook.organization_id
        organization = organizations.get(session, caller(), owner_id) if owner_id else None
        log = deliveries.listing(session, webhook, **status, **position.query_args)
        owners = deliveries.organizations_of(session, caller(), webhook, log.items)
        counts = deliveries.counts(session, webhook)
        address = addresses.untried_address(session, webhook)
        names = users.names_by_email(session, caller(), [webhook.created_by])
    until = webhook.previous_until
    rows = [delivery_facts(webhook, row) | {"whose": owners.get(row.id)} for row in log.items]
    return render_template(
        "portal/webhooks/webhook.html",
        webhook=webhook,
        host=host_of(webhook),
        organization=organization,
        secret=secret,
        done=success_title,
        status=webhook_status(
            webhook, is_host_missing=address is not None and address.is_host_missing
        ),
        address_news=address_news(webhook, address),
        why_paused=pause_message(webhook, counts[DeliveryStatus.HELD], log.items),
        health=health_message(webhook, counts[DeliveryStatus.DELIVERED]),
        why_retrying=retry_message(webhook, log.items),
        events=every_event(webhook),
        rows=rows,
        is_under_way=is_being_checked(address) or any(row["is_under_way"] for row in rows),
        counts=counts,
        failed=counts[DeliveryStatus.FAILED],
        send_again_form=send_again_form or SendAgainForm.from_object(),
        statuses=STATUS_FILTER,
        old_until=until if until and until > utcnow() else None,
        **position.pager(log.next_cursor, "state"),
        removing=removal_confirmation(webhook, counts),
        names=names,
        days_in=zone(),
    )


def _stored(session: Session, webhook_id: UUID) -> EditWebhookForm:
    return EditWebhookForm.showing(webhooks.get(session, caller(), webhook_id))


def _form_page(organization: Organization | None, form: WebhookForm) -> str:
    return render_template(
        "portal/webhooks/new.html",
        organization=organization,
        form=form,
        event_groups=EVENT_GROUPS,
        event_hints=EVENT_HINTS,
    )


def _edit_page(webhook_id: UUID, form: EditWebhookForm) -> str:
    with transaction(read_only=True) as session:
        webhook = webhooks.get(session, caller(), webhook_id)
    return render_template(
        "portal/webhooks/edit.html",
        webhook=webhook,
        host=host_of(webhook),
        form=form,
        event_groups=EVENT_GROUPS,
        event_hints=EVENT_HINTS,
    )


def _rotate_page(webhook_id: UUID, form: RotateForm) -> str:
    with transaction(read_only=True) as session:
        webhook = webhooks.get(session, caller(), webhook_id)
    return rotate_page(
        form,
        gettext("Rotate the secret"),
        gettext(
            "Until the old secret ends, messages have both signatures. Give your scripts time to "
            "switch if needed."
        ),
        gettext("Rotate secret"),
        [
            (gettext("API access"), url_for("portal.api_access.list_keys")),
            (gettext("Webhooks"), url_for("portal.webhooks.list_webhooks")),
            (host_of(webhook), url_for("portal.webhooks.show_webhook", webhook_id=webhook.id)),
        ],
    )


TEST_QUEUED = lazy_gettext("Test event queued. The log shows the result.")


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/test")
def send_test_delivery(webhook_id: UUID) -> Response:
    with changing(_webhook_url(webhook_id), Conflict) as session:
        submission = FormSubmission(session, notice=str(TEST_QUEUED))
        deliveries.send_test(session, caller(), webhook_id)
        url = submission.finish(_webhook_url(webhook_id))
    return redirect_with(str(TEST_QUEUED), url)


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/pause")
def pause_webhook(webhook_id: UUID) -> Response:
    with transaction() as session:
        webhook = webhooks.pause(session, caller(), webhook_id)
    message = gettext(
        "The webhook to %(host)s is paused. Its events are kept.", host=host_of(webhook)
    )
    return redirect_with(message, _webhook_url(webhook_id))


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/resume")
def resume_webhook(webhook_id: UUID) -> Response:
    with transaction() as session:
        webhook = webhooks.resume(session, caller(), webhook_id)
    message = gettext(
        "The webhook to %(host)s is resumed. Kept events are sent first.", host=host_of(webhook)
    )
    return redirect_with(message, _webhook_url(webhook_id))


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/deliveries/<uuid:delivery_id>/replay")
def send_delivery_again(webhook_id: UUID, delivery_id: UUID) -> Response:
    url = url_for("portal.webhooks.show_delivery", webhook_id=webhook_id, delivery_id=delivery_id)
    with changing(url, Conflict) as session:
        deliveries.send_again(session, caller(), webhook_id, delivery_id)
    return redirect_with(gettext("It will be sent again with its original ID."), url)


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/replay-failed")
def send_failed_again(webhook_id: UUID) -> Response:
    form = SendAgainForm()
    with saving(form, lambda: webhook_page(webhook_id, send_again_form=form)) as session:
        count = deliveries.send_failed_again(session, caller(), webhook_id, form.moment)
    return _to_webhook(webhook_id, count, gettext("Nothing has failed since then."))


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/retry")
def send_retrying_now(webhook_id: UUID) -> Response:
    with transaction() as session:
        count = deliveries.send_retrying_now(session, caller(), webhook_id)
    return _to_webhook(webhook_id, count, gettext("No delivery is waiting for a retry."))


@blueprint.get("/api-access/webhooks/<uuid:webhook_id>/remove")
def confirm_remove_webhook(webhook_id: UUID) -> str:
    with transaction(read_only=True) as session:
        webhook = webhooks.get(session, caller(), webhook_id)
        counts = deliveries.counts(session, webhook)
    return removal_confirmation(webhook, counts).page()


@blueprint.post("/api-access/webhooks/<uuid:webhook_id>/remove")
def remove_webhook(webhook_id: UUID) -> Response:
    with transaction() as session:
        host = host_of(webhooks.remove(session, caller(), webhook_id))
    message = gettext("The webhook to %(host)s was removed.", host=host)
    return redirect_with(message, url_for("portal.webhooks.list_webhooks"))


def _webhook_url(webhook_id: UUID) -> str:
    return url_for("portal.webhooks.show_webhook", webhook_id=webhook_id)


def _to_webhook(webhook_id: UUID, count: int, empty_message: str) -> Response:
    """Redirect to the webhook with the count of deliveries; ``empty_message`` says why there are
    none."""
    if not count:
        return redirect_with(empty_message, _webhook_url(webhook_id), "info")
    message = ngettext(
        "%(num)s delivery will be sent again.", "%(num)s deliveries will be sent again.", count
    )
    return redirect_with(message, _webhook_url(webhook_id))
