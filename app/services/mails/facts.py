"""The data of a mail's texts, the form of the texts, and sentences that several mails share."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.enums import Role
from app.languages import gettext
from app.languages.dates import NO_BREAK, format_local_date, zone_abbreviation
from app.models import Mail
from app.services.branding.brand import Brand


@dataclass(frozen=True, slots=True)
class MailTable:
    """Rows of figures; the first cell of the head and of each row names the others."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_words: bool = False
    """Whether all cells are words instead."""


@dataclass(frozen=True, slots=True)
class MailChart:
    """Bars under the names of their columns. Each has a label, its length in percent of the
    longest, and its figures."""

    headings: tuple[str, ...]
    bars: tuple[tuple[str, int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class MailTexts:
    """A mail's texts; ``act`` is the button (label, URL), ``reason`` why it was sent.

    ``is_act_personal`` if its URL is secret: it is also spelt out, to copy where a button can't be
    opened. ``quoted`` is text that another user wrote, shown as a quotation. ``chart`` and
    ``tables`` follow the paragraphs.
    """

    subject: str
    paragraphs: tuple[str, ...]
    heading: str = ""
    """By default the subject."""
    act: tuple[str, str] | None = None
    is_act_personal: bool = False
    quoted: str = ""
    after: tuple[str, ...] = ()
    reason: str = ""
    links: tuple[tuple[str, str], ...] = ()
    """Links (label, URL) below ``reason``."""
    tables: tuple[MailTable, ...] = ()
    chart: MailChart | None = None


@dataclass(frozen=True, slots=True)
class MailContext:
    """The data of the texts. ``link`` is the one-time URL of kinds that have one, ``site`` the
    partner's part of the portal without a trailing slash. ``role`` is the user's; ``inviter`` is
    who invited them, if that is a user of the partner."""

    mail: Mail
    brand: Brand
    email: str
    zone: str
    site: str
    recover_url: str
    organization: str | None = None
    role: Role | None = None
    inviter: str | None = None
    link: str = ""
    link_ends: datetime | None = None

    @property
    def details(self) -> Mapping[str, Any]:
        return self.mail.details

    @property
    def at(self) -> str:
        return format_time(self.mail.created_at, self.zone)

    @property
    def until(self) -> str:
        return format_time(self.link_ends, self.zone) if self.link_ends else ""


def format_time(value: datetime, zone: str) -> str:
    """Return a time as 21 November 2026, 10:47 GMT."""
    local = value.astimezone(ZoneInfo(zone))
    return (
        f"{format_local_date(local, 'yMMMMd')}, {local:%H:%M}{NO_BREAK}{zone_abbreviation(local)}"
    )


def not_you(support: str | None) -> str:
    if support:
        return gettext(
            "If that was not you, set a new password immediately and write to %(support)s.",
            support=support,
        )
    return gettext("If that was not you, set a new password immediately.")


def emails_link(context: MailContext) -> tuple[str, str]:
    """Return the link to the user's choice of emails."""
    return gettext("Choose your emails"), f"{context.site}/account#emails"


def as_administrator(context: MailContext) -> str:
    return gettext(
        "Sent to %(email)s because you administer %(product)s.",
        email=context.email,
        product=context.brand.spoken_name,
    )


def sender(context: MailContext) -> str:
    """Return the partner, with its support address if it has one."""
    brand = context.brand
    if not brand.support_email:
        return brand.partner_name
    return gettext(
        "%(partner)s at %(support)s", partner=brand.partner_name, support=brand.support_email
    )
