"""The list of organizations, and the effects of adding, suspending, resuming and archiving one, in
words and numbers."""

from app.enums import Role
from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.services.organizations import ActiveItems, StoppedItems

MEMBER_HINTS = {
    Role.OWNER.value: lazy_gettext("Manages the users and assistants of the organization."),
    Role.STANDARD.value: lazy_gettext("Works with campaigns and calls."),
}
"""Descriptions of the first user of an organization, by role."""


def list_words(partner: str | None) -> str:
    """Say whose customers the list shows; ``partner`` is the one that an operator chose."""
    if partner:
        return gettext(
            "Customers of %(name)s. Conversations are from the last 30 days (UTC).", name=partner
        )
    if caller().is_operator:
        return gettext("Customers of all partners. Conversations are from the last 30 days (UTC).")
    return gettext("Your customers. Conversations are from the last 30 days (UTC).")


def suspending_words(reach: ActiveItems) -> list[str]:
    """Return what happens at once, and to waiting calls."""
    calls, campaigns = reach.waiting_calls, reach.running_campaigns
    words = _shut_out(reach)
    if calls:
        words.append(
            ngettext(
                "%(num)s queued call is cancelled when it is due, unless you reactivate the "
                "organization first.",
                "%(num)s queued calls are cancelled when they are due, unless you reactivate the "
                "organization first.",
                calls,
            )
        )
    if campaigns:
        words.append(
            ngettext(
                "%(num)s running campaign places no calls until you reactivate it.",
                "%(num)s running campaigns place no calls until you reactivate it.",
                campaigns,
            )
        )
    return [*words, gettext("Nothing is deleted. Reactivating restores access.")]


def archiving_words(reach: ActiveItems) -> list[str]:
    calls, campaigns = reach.waiting_calls, reach.running_campaigns
    words = _shut_out(reach)
    if calls:
        words.append(
            ngettext(
                "%(num)s queued call is cancelled.", "%(num)s queued calls are cancelled.", calls
            )
        )
    if campaigns:
        words.append(
            ngettext(
                "%(num)s running campaign is paused.",
                "%(num)s running campaigns are paused.",
                campaigns,
            )
        )
    coming_back = gettext(
        "It leaves your list. Nothing is deleted. You can restore it; calls stay cancelled and "
        "campaigns paused."
    )
    return [*words, coming_back]


def archived_words(name: str, stopped: StoppedItems) -> str:
    return gettext(
        "%(name)s archived. %(calls)s cancelled, %(campaigns)s paused.",
        name=name,
        calls=ngettext("%(num)s queued call", "%(num)s queued calls", stopped.calls),
        campaigns=ngettext("%(num)s campaign", "%(num)s campaigns", stopped.campaigns),
    )


def _shut_out(reach: ActiveItems) -> list[str]:
    users, keys, clients = reach.users, reach.keys, reach.clients
    words = []
    if users:
        words.append(
            ngettext(
                "%(num)s user is signed out at once and can’t sign in.",
                "%(num)s users are signed out at once and can’t sign in.",
                users,
            )
        )
    if keys:
        words.append(
            ngettext(
                "%(num)s API key is refused from now on.",
                "%(num)s API keys are refused from now on.",
                keys,
            )
        )
    if clients:
        words.append(
            ngettext(
                "%(num)s client of the legacy API is refused from now on.",
                "%(num)s clients of the legacy API are refused from now on.",
                clients,
            )
        )
    return words or [gettext("No one can sign in, and no key works.")]


def added_words(name: str, email: str | None) -> str:
    """Say that an organization was added, and its first user invited if it has one."""
    if not email:
        return gettext("%(name)s added.", name=name)
    return gettext("%(name)s added. %(email)s is invited.", name=name, email=email)
