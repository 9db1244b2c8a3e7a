"""The effects of suspending, resuming and archiving an organization, in numbers."""

from app.portal.web.formats import plural
from app.services.organizations import Reach

COMING_BACK = (
    "It leaves your list. Nothing is deleted. You can restore it; calls stay cancelled and "
    "campaigns paused."
)


def suspending_words(reach: Reach) -> list[str]:
    """Return what happens at once, and to waiting calls."""
    return [
        *_shut_out(reach),
        *_one(
            reach.waiting_calls,
            "queued call",
            "is cancelled when its turn comes.",
            "are cancelled when their turn comes, unless you reactivate it first.",
        ),
        *_one(
            reach.running_campaigns,
            "running campaign",
            "places no calls until you reactivate it.",
            "place no calls until you reactivate it.",
        ),
        "Nothing is deleted. Reactivating restores access.",
    ]


def archiving_words(reach: Reach) -> list[str]:
    return [
        *_shut_out(reach),
        *_one(reach.waiting_calls, "queued call", "is cancelled.", "are cancelled."),
        *_one(reach.running_campaigns, "running campaign", "is paused.", "are paused."),
        COMING_BACK,
    ]


def _shut_out(reach: Reach) -> list[str]:
    clients = reach.legacy_clients
    return [
        *_one(
            reach.users,
            "user",
            "is signed out at once and can’t sign in.",
            "are signed out at once and can’t sign in.",
            "users",
        ),
        *_one(reach.keys, "API key", "is refused from now on.", "are refused from now on."),
        *_one(
            clients,
            "client of the legacy API",
            "is refused from now on.",
            "are refused from now on.",
            "clients of the legacy API",
        ),
    ] or ["No one can sign in, and no key works."]


def _one(count: int, noun: str, does: str, do: str, nouns: str | None = None) -> list[str]:
    return [f"{plural(count, noun, nouns)} {does if count == 1 else do}"] if count else []
