"""Limits on requests, files and sign-ins, and retention times."""

from datetime import timedelta
from typing import NamedTuple

from pydantic import Field

from app.config.base import CommonSettings


class StorageDefaults(NamedTuple):
    """Default limits of a partner's and an organization's storage, in bytes."""

    partner: int = 2_000_000_000
    organization: int = 500_000_000


class LimitSettings(CommonSettings):
    """A request over a limit is answered with 413 or 429."""

    rate_per_second: int = Field(100, ge=1)
    """Requests per second for each credential: on PostgreSQL at all web processes together, on
    SQLite at each."""
    rate_burst: int = Field(200, ge=1)
    """Requests that a credential can send at once before the rate applies."""
    page_rate_per_second: int = Field(50, ge=1)
    """Pages and forms per second for each user, and for each address without a user, counted as
    above."""
    page_rate_burst: int = Field(300, ge=1)
    """Pages and forms that a user or an address can request at once before the rate applies."""
    failed_sign_ins: int = Field(20, ge=1)
    """Failed sign-ins of an account at one address, or in one known browser, and failed token
    requests of a client at one address, before each further one makes the next wait."""
    failed_sign_ins_account: int = Field(20, ge=1)
    """Failed sign-ins of an account from all addresses together before waits begin. Browsers in
    which the account has signed in before are not counted and don't wait."""
    failed_sign_ins_network: int = Field(100, ge=1)
    """Failed sign-ins, and failed token requests, of all accounts from one IPv4 address or one
    IPv6 /64 or /48 before waits begin."""
    failed_sign_ins_site: int = Field(500, ge=1)
    """Failed sign-ins, and failed token requests, of the whole installation before waits begin."""
    max_contacts: int = Field(10_000, ge=1)
    """Contacts in one bulk request."""
    max_contacts_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    """Size of one bulk request."""
    max_body_bytes: int = Field(1024 * 1024, ge=1024)
    """Size of every other JSON body, and of a form without a file."""
    max_upload_bytes: int = Field(256 * 1024 * 1024, ge=1024)
    """Size of one contact file."""
    max_import_rows: int = Field(1_000_000, ge=1)
    """Rows in one contact file."""
    undo_days: int = Field(7, ge=1)
    """How long an applied contact file can be undone."""
    upload_days: int = Field(30, ge=1)
    """How long the rows of a finished upload are kept; at least as long as the undo."""
    call_event_days: int = Field(0, ge=0)
    """How long the timelines of ended calls are kept; 0 keeps them. On PostgreSQL a whole month is
    dropped when all of it is older."""
    storage_partner_bytes: int = Field(StorageDefaults().partner, ge=0)
    """Storage of each partner with all its organizations: files and rows of uploads, undo logs,
    recordings of calls and brand images. The operator can set another limit for a partner."""
    storage_organization_bytes: int = Field(StorageDefaults().organization, ge=0)
    """Storage of each organization. Its partner can set another limit for an organization."""
    disk_reserve_bytes: int = Field(100_000_000, ge=0)
    """Free space on the disks of instance folder, files, SQLite database and temporary files below
    which ``/readyz`` answers 503 and large bodies are refused."""
    mail_days: int = Field(30, ge=1)
    """How long mails are kept after they were requested, also those in the outbox."""
    webhook_days: int = Field(30, ge=1)
    """How long deliveries of webhooks are kept."""
    export_rows: int = Field(20_000, ge=1)
    """Rows of a list up to which its export is sent at once. The worker writes longer ones and
    mails a link, which ends after 7 days."""
    exports_at_once: int = Field(2, ge=1)
    """Exports that each web process answers at once, and as many requests that ask an identity
    provider; more are answered with 503. Under gunicorn, without it: a third of the threads."""
    token_seconds: int = Field(3600, ge=1)
    """Lifetime of an access token."""
    session_hours: int = Field(12, ge=1)
    """Longest lifetime of a browser session."""
    session_idle_minutes: int = Field(60, ge=5)
    """A browser session ends after this many minutes without a request of its user. Pages that
    refresh themselves don't count."""
    password_checks: int = Field(1, ge=1)
    """Passwords that each web process checks at once. Under gunicorn, without it: half of the
    cores, shared by the web processes, and at most a third of the threads."""
    password_checks_waiting: int = Field(3, ge=0)
    """Sign-ins of each web process that wait for such a check; more are answered with 429. Under
    gunicorn, without it: half of the threads."""

    @property
    def session_idle(self) -> timedelta:
        return timedelta(minutes=self.session_idle_minutes)

    @property
    def storage_defaults(self) -> StorageDefaults:
        return StorageDefaults(self.storage_partner_bytes, self.storage_organization_bytes)

    @property
    def rows_kept_days(self) -> int:
        """Return how many days rows are kept: at least as long as the undo needs them."""
        return max(self.upload_days, self.undo_days)
