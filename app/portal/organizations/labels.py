"""What suspending, resuming and archiving an organization does, in numbers."""

from app.portal.web.formats import plural
from app.services.organizations import Reach

COMING_BACK = (
    "It leaves your list. Nothing is deleted, and you can bring it back: calls stay cancelled and "
    "campaigns paused then."
)


def suspending_words(reach: Reach) -> list[str]:
    """What happens at once, and what happens to what waits."""
    return [
        *_shut_out(reach),
        *_one(
            reach.waiting_calls,
            "queued call",
            "ends cancelled when its turn comes.",
            "end cancelled when their turn comes, unless you resume before.",
        ),
        *_one(
            reach.running_campaigns,
            "running campaign",
            "places no calls until you resume.",
            "place no calls until you resume.",
        ),
        "Nothing is deleted; resuming lets everybody in again.",
    ]


def archiving_words(reach: Reach) -> list[str]:
    """The same for archiving."""
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
            reach.people,
            "person",
            "is signed out at once and can’t sign in.",
            "are signed out at once and can’t sign in.",
            "people",
        ),
        *_one(reach.keys, "API key", "is refused from now on.", "are refused from now on."),
        *_one(
            clients,
            "client of the legacy phone API",
            "is refused from now on.",
            "are refused from now on.",
            "clients of the legacy phone API",
        ),
    ] or ["Nobody can sign in, and no key works."]


def _one(count: int, noun: str, does: str, do: str, nouns: str | None = None) -> list[str]:
    return [f"{plural(count, noun, nouns)} {does if count == 1 else do}"] if count else []
