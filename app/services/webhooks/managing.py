"""The webhooks of organizations and portals: created, paused, given a new secret, removed."""

import ipaddress
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import PauseReason, WebhookEvent
from app.errors import (
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    ValidationFailed,
    check_version,
    content_version,
    raise_problems,
)
from app.gateways.job_queue import enqueue_held_webhooks
from app.gateways.public_addresses import is_public
from app.languages import gettext
from app.models import Webhook, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.credentials import rules
from app.services.credentials.encryption import seal
from app.services.paging import MAX_COUNTED, Page, both_ways, count_up_to, keyset_page, sort_named
from app.services.tenancy import (
    fetch,
    get_organization,
    lock_owner,
    of_tenant,
    refuse_archived,
)
from app.services.webhooks import addresses
from app.services.webhooks.signing import PURPOSE, new_secret
from app.validation.urls import is_web_url

MAX_WEBHOOKS = 20
"""Maximum webhooks of one organization, and for one whole portal."""

SORTS = both_ways(
    created=Webhook.created_at,
    health=Webhook.failing_since,
    address=Webhook.url,
)
"""The sort orders of `search`."""


@dataclass(frozen=True, slots=True)
class WebhookWithSecret:
    """A webhook with a secret that can't be shown again."""

    webhook: Webhook
    secret: str


def add(
    session: Session,
    caller: Caller,
    settings: Settings,
    *,
    organization_id: UUID | None,
    url: str,
    events: Collection[str],
) -> WebhookWithSecret:
    """Create a webhook for an organization of the caller's partner, or for its whole portal
    (None).

    Raises `Forbidden`, `NotFound` (``organization_not_found``), `Conflict` (``archived``) and
    `ValidationFailed` (``invalid_url``, ``unknown_event``, ``event_required``,
    ``too_many_webhooks``, ``operator_without_partner``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    if organization_id is None:
        partner_id = _whole_portal(caller)
    else:
        organization = get_organization(session, caller, organization_id)
        refuse_archived(organization)
        partner_id = organization.partner_id
    check(settings, url, events)
    event_names, secret = _in_order(events), new_secret()
    lock_owner(session, partner_id, organization_id)
    _refuse_too_many(session, partner_id, organization_id)
    webhook = Webhook(
        id=new_id(),
        partner_id=partner_id,
        organization_id=organization_id,
        url=url,
        events=event_names,
        secret=seal(secret, PURPOSE, settings.secret_keys),
        created_by=caller.label[:200],
        responsible_id=caller.user_id,
    )
    session.add(webhook)
    session.flush()
    audit.record_change(
        session, caller, "webhook.created", webhook, after={"url": url, "events": event_names}
    )
    addresses.request_check(session, webhook)
    return WebhookWithSecret(webhook, secret)


def _whole_portal(caller: Caller) -> UUID:
    """Return the partner for whose whole portal the caller may create a webhook. Raises
    `Forbidden` for callers of one organization or of groups, and `ValidationFailed`."""
    if caller.organization_id is not None or caller.is_limited:
        raise Forbidden(gettext("Only for administrators of the whole portal."), "not_whole_portal")
    return partners.own_partner_id(caller)


def _refuse_too_many(session: Session, partner_id: UUID, organization_id: UUID | None) -> None:
    is_same_organization = Webhook.organization_id.is_not_distinct_from(organization_id)
    count_query = select(func.count()).where(Webhook.partner_id == partner_id, is_same_organization)
    if (session.scalar(count_query) or 0) < MAX_WEBHOOKS:
        return
    message = (
        gettext("A portal has at most %(most)s webhooks for the whole portal.", most=MAX_WEBHOOKS)
        if organization_id is None
        else gettext("An organization has at most %(most)s webhooks.", most=MAX_WEBHOOKS)
    )
    raise ValidationFailed.on("url", "too_many_webhooks", message)


def seen_version(webhook: Webhook) -> int:
    """Return a number that changes with the fields of `update`, so that forms can state their
    origin."""
    return content_version(orjson.dumps([webhook.url, webhook.events]))


def update(
    session: Session,
    caller: Caller,
    settings: Settings,
    webhook_id: UUID,
    *,
    url: str,
    events: Collection[str],
    expected_version: int | None = None,
) -> Webhook:
    """Change the URL and the events; waiting deliveries go to the new URL, and failures of the old
    one no longer count.

    Raises `NotFound`, `Conflict` (``changed_meanwhile``) and `ValidationFailed` (``invalid_url``,
    ``unknown_event``, ``event_required``).
    """
    webhook = get(session, caller, webhook_id, for_change=True)
    check(settings, url, events)
    event_names = _in_order(events)
    after = {"url": url, "events": event_names}
    before = {"url": webhook.url, "events": webhook.events}
    if after != before:
        check_version(expected_version, seen_version(webhook), "webhook")
        is_moved = url != webhook.url
        webhook.url, webhook.events = url, event_names
        if is_moved:
            webhook.failing_since = None
        session.flush()
        audit.record_change(session, caller, "webhook.updated", webhook, before=before, after=after)
        if is_moved:
            addresses.request_check(session, webhook)
    return webhook


def listing(
    session: Session, caller: Caller, *, organization_id: UUID | None = None
) -> Sequence[Webhook]:
    """Return the webhooks of the caller's partner (of one organization of it), newest first."""
    query = _manageable_webhooks(caller)
    if organization_id is not None:
        query = query.where(Webhook.organization_id == organization_id)
    order = Webhook.created_at.desc(), Webhook.id.desc()
    return session.scalars(query.order_by(*order)).all()


@dataclass(frozen=True, slots=True)
class WebhookFilter:
    """The filters of a list of webhooks: those of one organization or for the whole portal, only
    paused ones or only the others, and those with ``query`` in their URL."""

    organization_id: UUID | None = None
    of_portal: bool = False
    paused: bool | None = None
    query: str | None = None


def search(
    session: Session,
    caller: Caller,
    filters: WebhookFilter | None = None,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Webhook]:
    """Return a page of webhooks. Raises `Forbidden` and `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filtered_rows(caller, filters or WebhookFilter())
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(
    session: Session, caller: Caller, filters: WebhookFilter, *, most: int = MAX_COUNTED
) -> int:
    """Return how many match, as `paging.count_up_to`. Raises `Forbidden`."""
    rows = _filtered_rows(caller, filters)
    return count_up_to(session, rows.with_only_columns(Webhook.id), most)


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[Webhook]:
    """Return those of the webhooks that the caller may manage, by URL. Raises `Forbidden`."""
    rows = _manageable_webhooks(caller).where(Webhook.id.in_(ids))
    return session.scalars(rows.order_by(Webhook.url, Webhook.id)).all()


def organizations_with(session: Session, caller: Caller, limit: int) -> set[UUID]:
    """Return the organizations that have webhooks, at most this many. Raises `Forbidden`."""
    owners = _manageable_webhooks(caller).with_only_columns(Webhook.organization_id)
    organization_ids = owners.where(Webhook.organization_id.is_not(None)).distinct()
    in_order = organization_ids.order_by(Webhook.organization_id).limit(limit)
    return {
        organization_id
        for organization_id in session.scalars(in_order)
        if organization_id is not None
    }


def _filtered_rows(caller: Caller, filters: WebhookFilter) -> Select[Webhook]:
    rows = _manageable_webhooks(caller)
    if filters.of_portal:
        rows = rows.where(Webhook.organization_id.is_(None))
    if filters.organization_id is not None:
        rows = rows.where(Webhook.organization_id == filters.organization_id)
    if filters.paused is not None:
        is_paused = Webhook.paused_at.is_not(None)
        rows = rows.where(is_paused if filters.paused else ~is_paused)
    if filters.query:
        rows = rows.where(Webhook.url.icontains(filters.query, autoescape=True))
    return rows


def get(session: Session, caller: Caller, webhook_id: UUID, *, for_change: bool = False) -> Webhook:
    """Return a webhook. Raises `Forbidden` and `NotFound` (``webhook_not_found``)."""
    query = _manageable_webhooks(caller).where(Webhook.id == webhook_id)
    missing = NotFound(gettext("There is no such webhook."), "webhook_not_found")
    return fetch(session, query, missing, for_change=for_change)


def rotate(
    session: Session,
    caller: Caller,
    settings: Settings,
    webhook_id: UUID,
    *,
    overlap: timedelta = timedelta(),
) -> WebhookWithSecret:
    """Create a new secret; for ``overlap``, messages carry the signature of the old one as well.

    Raises `NotFound`, `ValidationFailed` (``overlap_out_of_range``: 0 to 7 days) and `Conflict`
    (``still_rotating``) while an overlap lasts.
    """
    webhook = get(session, caller, webhook_id, for_change=True)
    now = utcnow()
    rules.check_overlap(overlap, gettext("The old secret can keep working for 0 to 7 days."))
    if overlap and webhook.previous_until is not None and webhook.previous_until > now:
        message = gettext("The old secret still works. Rotate without an overlap, or later.")
        raise Conflict(message, "still_rotating")
    secret = new_secret()
    webhook.previous_secret = webhook.secret if overlap else None
    webhook.previous_until = now + overlap if overlap else None
    webhook.secret = seal(secret, PURPOSE, settings.secret_keys)
    session.flush()
    audit.record_change(
        session,
        caller,
        "webhook.rotated",
        webhook,
        after={"previousUntil": webhook.previous_until},
    )
    return WebhookWithSecret(webhook, secret)


def pause(session: Session, caller: Caller, webhook_id: UUID) -> Webhook:
    """Hold its events from now on. Repeating it isn't an error. Raises `NotFound`."""
    webhook = get(session, caller, webhook_id, for_change=True)
    if webhook.paused_at is None:
        webhook.paused_at, webhook.pause_reason = utcnow(), PauseReason.USER
        session.flush()
        audit.record_change(
            session, caller, "webhook.paused", webhook, after={"reason": PauseReason.USER}
        )
    return webhook


def resume(session: Session, caller: Caller, webhook_id: UUID) -> Webhook:
    """Continue with the kept events. Repeating it isn't an error. Raises `NotFound`."""
    webhook = get(session, caller, webhook_id, for_change=True)
    if webhook.paused_at is not None:
        webhook.paused_at = webhook.pause_reason = webhook.failing_since = None
        enqueue_held_webhooks(session, webhook.id, new_id())
        session.flush()
        audit.record_change(session, caller, "webhook.resumed", webhook)
    return webhook


def remove(session: Session, caller: Caller, webhook_id: UUID) -> Webhook:
    """Remove it with its waiting and past deliveries. Raises `NotFound`."""
    webhook = get(session, caller, webhook_id, for_change=True)
    audit.record_change(session, caller, "webhook.removed", webhook, before={"url": webhook.url})
    session.delete(webhook)
    session.flush()
    return webhook


def _manageable_webhooks(caller: Caller) -> Select[Webhook]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(Webhook)
    return of_tenant(query, caller, Webhook.partner_id, Webhook.organization_id)


def check(settings: Settings, url: str, events: Collection[str]) -> None:
    """Raise `ValidationFailed` with all problems of a webhook's URL and events."""
    raise_problems([*_problems_of_url(url, settings), *_problems_of_events(events)])


def _problems_of_events(events: Collection[str]) -> Iterator[Problem]:
    unknown = sorted(set(map(str, events)) - {event.value for event in WebhookEvent})
    if unknown:
        message = gettext("There is no event %(event)s.", event=unknown[0])
        yield Problem("events", "unknown_event", message)
    elif not events:
        yield Problem("events", "event_required", gettext("Choose at least one event."))


def _in_order(events: Collection[str]) -> list[str]:
    requested = set(map(str, events))
    return [event.value for event in WebhookEvent if event.value in requested]


def _problems_of_url(url: str, settings: Settings) -> Iterator[Problem]:
    """Return the problems of a URL. The worker resolves a name, after saving and at each
    connection; an IP address and localhost are checked now."""
    parts = urlsplit(url)
    is_plain = is_web_url(url) and url.isascii() and "#" not in url
    if not is_plain or (parts.scheme.lower() != "https" and settings.env == "production"):
        yield Problem("url", "invalid_url", gettext("Enter an address like https://host/path."))
        return
    if settings.webhook_allow_private:
        return
    host = parts.hostname or ""
    try:
        is_allowed = is_public(ipaddress.ip_address(host))
    except ValueError:
        is_allowed = host != "localhost" and not host.endswith(".localhost")
    if not is_allowed:
        message = gettext(
            "%(host)s can’t be reached from the internet. Enter a public address.", host=host
        )
        yield Problem("url", "invalid_url", message)
