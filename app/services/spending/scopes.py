"""The scopes in which spending is counted: partner, organization and API key of a call, each by the
day and the month (UTC)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.calendar_months import midnight
from app.enums import CallSource
from app.models import Call

PARTNER, ORGANIZATION, KEY = "partner", "organization", "key"


def scope_key(kind: str, subject_id: UUID | str) -> str:
    return f"{kind}:{subject_id}"


@dataclass(frozen=True, slots=True)
class Spender:
    """The owner of calls that are counted together. ``api_key_id`` is None for calls that no key
    requested."""

    partner_id: UUID
    organization_id: UUID
    api_key_id: UUID | None = None

    @classmethod
    def of(cls, call: Call) -> "Spender":
        key = call.credential_id if call.source is CallSource.API else None
        return cls(call.partner_id, call.organization_id, key)

    def scopes(self) -> Iterator[str]:
        """Return the keys of the scopes, widest first."""
        yield scope_key(PARTNER, self.partner_id)
        yield scope_key(ORGANIZATION, self.organization_id)
        if self.api_key_id is not None:
            yield scope_key(KEY, self.api_key_id)


def day_period(moment: datetime) -> str:
    """Return the day as `SpendingTotal.period` has it, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


def month_period(moment: datetime) -> str:
    """Return the month as `SpendingTotal.period` has it, in UTC."""
    return day_period(moment)[:7]


def next_day(moment: datetime) -> datetime:
    return midnight(moment.astimezone(UTC).date() + timedelta(days=1))
