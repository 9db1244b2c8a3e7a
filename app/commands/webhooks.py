"""``flask webhook …``: send the events of organizations and portals to other systems.

A secret is printed once, by the command that creates it.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.credentials import MomentParameter
from app.commands.transactions import as_json, changing, print_result, reading
from app.enums import WebhookEvent
from app.models import Webhook
from app.schemas.fields import write_moment
from app.services import partners, webhooks
from app.services.webhooks import deliveries

WEBHOOK = click.argument("webhook_id", metavar="WEBHOOK", type=click.UUID)


webhook_commands = AppGroup("webhook", help="Webhooks: events sent to other systems.")


EVENTS = click.option(
    "--event",
    "events",
    multiple=True,
    type=click.Choice([event.value for event in WebhookEvent]),
    help="May be repeated; all events without it.",
)


@webhook_commands.command("add")
@click.argument("organization_id", metavar="ORG", type=click.UUID)
@click.argument("url")
@EVENTS
@as_json
def add(organization_id: UUID, url: str, events: tuple[str, ...], as_json: bool) -> None:
    """Create a webhook and print its secret, which can't be shown again."""
    _add_webhook(organization_id, None, url, events, as_json=as_json)


@webhook_commands.command("add-portal")
@click.argument("partner_id", metavar="PARTNER", type=click.UUID)
@click.argument("url")
@EVENTS
@as_json
def add_portal(partner_id: UUID, url: str, events: tuple[str, ...], as_json: bool) -> None:
    """As add, for all organizations of a partner and its alerts about all of them together."""
    _add_webhook(None, partner_id, url, events, as_json=as_json)


def _add_webhook(
    organization_id: UUID | None,
    partner_id: UUID | None,
    url: str,
    events: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    event_names = events or tuple(event.value for event in WebhookEvent)
    with changing(partner_id) as (session, caller):
        if partner_id is not None:
            partners.get_own(session, caller)
        created = webhooks.add(
            session,
            caller,
            extensions.settings(),
            organization_id=organization_id,
            url=url,
            events=event_names,
        )
        described = _describe_webhook(created.webhook)
    _print_secret(described, created.secret, as_json)


@webhook_commands.command("list")
@click.argument("organization_id", metavar="[ORG]", type=click.UUID, required=False)
@as_json
def list_webhooks(organization_id: UUID | None, as_json: bool) -> None:
    """List every webhook, or those of one organization."""
    with reading() as (session, caller):
        rows = webhooks.listing(session, caller, organization_id=organization_id)
        described = [_describe_webhook(webhook) for webhook in rows]
    lines = [
        f"{each['id']}  {each['state']:<7}  {each['url']}  {' '.join(each['events'])}"
        for each in described
    ]
    print_result(described, as_json, *(lines or ["No webhook yet."]))


@webhook_commands.command("remove")
@WEBHOOK
def remove(webhook_id: UUID) -> None:
    """Remove a webhook with its waiting deliveries."""
    with changing() as (session, caller):
        url = webhooks.remove(session, caller, webhook_id).url
    click.echo(f"The webhook to {url} is removed.")


@webhook_commands.command("test")
@WEBHOOK
@as_json
def test(webhook_id: UUID, as_json: bool) -> None:
    """Send it an event without content."""
    with changing() as (session, caller):
        delivery = deliveries.send_test(session, caller, webhook_id)
        described = {"deliveryId": str(delivery.id), "messageId": delivery.message_id}
    print_result(described, as_json, f"A test event is on its way: {described['messageId']}")


@webhook_commands.command("rotate")
@WEBHOOK
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, 168),
    default=0,
    help="Time during which both secrets sign.",
)
@as_json
def rotate(webhook_id: UUID, overlap_hours: int, as_json: bool) -> None:
    """Create a new secret and print it; it can't be shown again."""
    with changing() as (session, caller):
        rotated = webhooks.rotate(
            session,
            caller,
            extensions.settings(),
            webhook_id,
            overlap=timedelta(hours=overlap_hours),
        )
        described = _describe_webhook(rotated.webhook)
    _print_secret(described, rotated.secret, as_json)


@webhook_commands.command("pause")
@WEBHOOK
def pause(webhook_id: UUID) -> None:
    """Keep its events until it is resumed."""
    with changing() as (session, caller):
        url = webhooks.pause(session, caller, webhook_id).url
    click.echo(f"The webhook to {url} is paused; its events are kept.")


@webhook_commands.command("resume")
@WEBHOOK
def resume(webhook_id: UUID) -> None:
    """Continue, with the kept events first."""
    with changing() as (session, caller):
        url = webhooks.resume(session, caller, webhook_id).url
    click.echo(f"The webhook to {url} is resumed.")


@webhook_commands.command("replay")
@WEBHOOK
@click.option("--delivery", "delivery_id", type=click.UUID, help="This delivery, in any status.")
@click.option("--failed-since", type=MomentParameter(), help="Failed deliveries since this time.")
def replay(webhook_id: UUID, delivery_id: UUID | None, failed_since: datetime | None) -> None:
    """Send one delivery again, or all failed ones."""
    with changing() as (session, caller):
        if delivery_id is not None:
            deliveries.send_again(session, caller, webhook_id, delivery_id)
            count = 1
        else:
            count = deliveries.send_failed_again(session, caller, webhook_id, failed_since)
    click.echo(f"{count} {'delivery is' if count == 1 else 'deliveries are'} sent again.")


def _describe_webhook(webhook: Webhook) -> dict[str, Any]:
    until, organization_id = webhook.previous_until, webhook.organization_id
    return {
        "id": str(webhook.id),
        "organizationId": str(organization_id) if organization_id else None,
        "url": webhook.url,
        "events": webhook.events,
        "state": "paused" if webhook.paused_at is not None else "active",
        "pauseReason": webhook.pause_reason.value if webhook.pause_reason else None,
        "previousSecretUntil": write_moment(until) if until else None,
    }


def _print_secret(described: dict[str, Any], secret: str, as_json: bool) -> None:
    lines = (
        f"id: {described['id']}",
        f"secret: {secret}",
        "Keep the secret now: it can't be shown again.",
    )
    print_result({**described, "secret": secret}, as_json, *lines)
