"""Action items, and how many of each kind are read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from app.languages import gettext

RECENT = timedelta(days=14)
EACH = 2
"""Maximum items of a kind that are named; of more, only the number is shown."""
MAX_COUNTED = 100


class ActionItemKind(StrEnum):
    """The subject of an item, which decides where it can be fixed."""

    ALERT = "alert"
    CALL = "call"
    CALLS_UNKNOWN = "calls-unknown"
    CALLS_UNANSWERED = "calls-unanswered"
    LINE = "line"
    PAUSED = "paused"
    ORGANIZATION_PAUSED = "organization-paused"
    CAMPAIGN = "campaign"
    UPLOAD = "upload"
    LIMIT = "limit"
    INCLUDED = "included"
    OWN_PLAN = "own-plan"
    SPENDING = "spending"
    PORTAL_SPENDING = "portal-spending"
    ASSISTANT = "assistant"
    ASSISTANTS = "assistants"
    BRAND = "brand"
    CARRIER_ACCOUNT = "carrier-account"
    CREDENTIAL_KEY = "key"
    CREDENTIAL_CLIENT = "client"
    CREDENTIAL_TOKEN = "scim-token"  # noqa: S105 - the name of a kind


@dataclass(frozen=True, slots=True)
class ActionItem:
    """Something that needs a decision; ``target`` is its record. ``at`` is its end, which is shown
    in the user's zone instead of ``text``."""

    kind: ActionItemKind
    title: str
    text: str
    target: UUID | None = None
    urgent: bool = False
    at: datetime | None = None


def at_most(number: int) -> str:
    """Return a number that was counted up to `MAX_COUNTED`, in words."""
    if number < MAX_COUNTED:
        return f"{number}"
    return gettext("%(num)s or more", num=MAX_COUNTED)
