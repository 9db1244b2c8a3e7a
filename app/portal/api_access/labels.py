"""Labels of keys and clients: their status, their end and their requests."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from zoneinfo import ZoneInfo

from app.enums import Area, OrganizationStatus
from app.languages import gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK
from app.models import ApiKey, ApiRequest, OAuthClient, ScimToken, utcnow
from app.portal.web.formats import day, last_day, medium_datetime, number

SOON = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class CredentialBadge:
    """A badge: its word and tone (see components/badge.html), and the reason below it in lists."""

    label: str
    tone: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CredentialEnd:
    """The end of a credential, in words; ``soon`` if it is near."""

    label: str
    soon: bool


def key_status(key: ApiKey, organization_status: OrganizationStatus, zone: str) -> CredentialBadge:
    """Return the status of a key by that of its organization."""
    if key.revoked_at is not None:
        return CredentialBadge(pgettext("API key", "Revoked"), "danger")
    if not key.is_over and (reason := _refusal(organization_status)):
        return CredentialBadge(pgettext("API key", "Refused"), "danger", reason)
    if key.replaced_by is not None and key.is_over:
        return CredentialBadge(pgettext("API key", "Rotated"), "neutral")
    if key.replaced_by is not None:
        return CredentialBadge(
            gettext("Works until %(day)s", day=last_day(key.expires_at, zone)), "warning"
        )
    return status_by_end(key.expires_at) or CredentialBadge(
        pgettext("API key", "Active"), "success"
    )


def replaced_message(replaced: ApiKey, zone: str) -> str:
    """Return the beginning of a key that was replaced, and until when it works if it still does."""
    if replaced.is_over:
        return replaced.public_id
    return gettext(
        "%(key)s, works until %(moment)s",
        key=replaced.public_id,
        moment=medium_datetime(replaced.expires_at, zone),
    )


def client_status(
    client: OAuthClient, organization_status: OrganizationStatus | None
) -> CredentialBadge:
    """Return the status of a client by that of its organization, if it has one."""
    if client.revoked_at is not None:
        return CredentialBadge(pgettext("API client", "Revoked"), "danger")
    if not client.is_over and (reason := _refusal(organization_status)):
        return CredentialBadge(pgettext("API client", "Refused"), "danger", reason)
    if client.suspended_at is not None and not client.is_over:
        return CredentialBadge(pgettext("API client", "Suspended"), "warning")
    return status_by_end(client.expires_at) or CredentialBadge(
        pgettext("API client", "Active"), "success"
    )


def _refusal(status: OrganizationStatus | None) -> str:
    """Return why the credentials of an organization are refused, if they are."""
    match status:
        case OrganizationStatus.SUSPENDED:
            return gettext("Organization suspended")
        case OrganizationStatus.ARCHIVED:
            return gettext("Organization archived")
        case _:
            return ""


def status_by_end(end: datetime | None) -> CredentialBadge | None:
    """Return the status of a credential that has ended or ends soon, otherwise None."""
    remaining = end - utcnow() if end is not None else SOON
    if remaining <= timedelta():
        return CredentialBadge(pgettext("credential", "Expired"), "neutral")
    if remaining >= SOON:
        return None
    label = (
        ngettext("Expires in %(num)s day", "Expires in %(num)s days", remaining.days)
        if remaining.days
        else gettext("Expires within a day")
    )
    return CredentialBadge(label, "warning")


def end_of(
    credential: ApiKey | OAuthClient | ScimToken, zone: str, served_until: datetime | None = None
) -> CredentialEnd:
    """Return the end that is set or has passed; at the latest the end of its owner."""
    if credential.revoked_at is not None:
        return CredentialEnd(day(credential.revoked_at, zone), soon=False)
    ends = [each for each in (credential.expires_at, served_until) if each is not None]
    if not ends:
        return CredentialEnd(gettext("Never"), soon=False)
    end = min(ends)
    remaining = end - utcnow()
    if timedelta() < remaining < SOON:
        label = (
            ngettext("in %(num)s day", "in %(num)s days", remaining.days)
            if remaining.days
            else gettext("within a day")
        )
        return CredentialEnd(label, soon=True)
    return CredentialEnd(last_day(end, zone), soon=False)


def last_use(credential: ApiKey | OAuthClient, moment: str) -> str:
    """Return a sentence for its confirmation page; ``moment`` is the last use in words."""
    if credential.last_used_at is None:
        return gettext("It has never been used.")
    return gettext(
        "It was last used on %(moment)s: whatever uses it stops working immediately.", moment=moment
    )


def kind_of_client(client: OAuthClient) -> str:
    if client.area is Area.LEGACY_CALLS:
        return gettext("Legacy API")
    return gettext("Administration")


def requests_shown(rows: Iterable[ApiRequest]) -> list[dict[str, Any]]:
    return [
        {
            "at": row.at,
            "method": row.method,
            "route": row.route,
            "status": row.status,
            "phrase": _status_phrase(row.status),
            "tone": "success" if row.status < 400 else "danger" if row.status >= 500 else "warning",
            "code": row.code,
            "code_url": f"/api/docs#operation/{row.operation}",
            "duration": f"{number(max(1, round(row.duration_ms)))}{NO_BREAK}ms",
            "request_id": row.request_id,
        }
        for row in rows
    ]


def _status_phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def ago(moment: datetime | None, zone: str) -> str:
    """Return a time as Today, 10:39 or 3 Mar 2026; Never."""
    if moment is None:
        return gettext("Never")
    today = day(utcnow(), zone)
    return day(moment, zone) if day(moment, zone) != today else _time_today(moment, zone)


def _time_today(moment: datetime, zone: str) -> str:
    from_zone = moment.astimezone(ZoneInfo(zone))
    return gettext("Today, %(time)s", time=f"{from_zone:%H:%M}")
