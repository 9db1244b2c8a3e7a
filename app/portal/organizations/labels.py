"""The list of organizations, and the effects of adding, suspending, resuming and archiving one, in
words and numbers."""

from collections.abc import Sequence

from flask import url_for

from app.enums import OrganizationStatus, Role
from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext, pgettext
from app.models import Organization
from app.portal.web.confirmation import ConfirmationPage
from app.services.organizations import ActiveItems, StoppedItems

MEMBER_HINTS = {
    Role.OWNER.value: lazy_gettext("Manages the users and assistants of the organization."),
    Role.STANDARD.value: lazy_gettext("Works with campaigns and calls."),
}
"""Descriptions of the first user of an organization, by role."""


def list_message(partner: str | None) -> str:
    """Say whose customers the list shows; ``partner`` is the one that an operator chose."""
    if partner:
        return gettext(
            "Customers of %(name)s. Conversations are from the last 30 days (UTC).", name=partner
        )
    if caller().is_operator:
        return gettext("Customers of all partners. Conversations are from the last 30 days (UTC).")
    return gettext("Your customers. Conversations are from the last 30 days (UTC).")


def suspend_confirmation(organization: Organization, active_items: ActiveItems) -> ConfirmationPage:
    return _confirmation(
        organization,
        "portal.organizations.suspend_organization",
        gettext("Suspend %(name)s?", name=organization.name),
        _suspend_consequences(active_items),
        gettext("Suspend organization"),
        pgettext("organization", "Keep active"),
    )


def archive_confirmation(organization: Organization, active_items: ActiveItems) -> ConfirmationPage:
    return _confirmation(
        organization,
        "portal.organizations.archive_organization",
        gettext("Archive %(name)s?", name=organization.name),
        _archive_consequences(active_items),
        gettext("Archive organization"),
        gettext("Keep in the list"),
    )


def _confirmation(
    organization: Organization,
    endpoint: str,
    title: str,
    consequences: Sequence[str],
    action_label: str,
    keep_label: str,
) -> ConfirmationPage:
    url = url_for("portal.organizations.show_organization", organization_id=organization.id)
    list_url = url_for("portal.organizations.list_organizations")
    return ConfirmationPage(
        title,
        consequences,
        action_label,
        keep_label,
        url,
        url_for(endpoint, organization_id=organization.id),
        crumbs=[(gettext("Organizations"), list_url), (organization.name, url)],
    )


def _suspend_consequences(active_items: ActiveItems) -> list[str]:
    """Return what happens at once, and to waiting calls."""
    calls, campaigns = active_items.waiting_calls, active_items.running_campaigns
    consequences = _lockout_consequences(active_items)
    if calls:
        consequences.append(
            ngettext(
                "%(num)s queued call is cancelled when it is due, unless you reactivate the "
                "organization first.",
                "%(num)s queued calls are cancelled when they are due, unless you reactivate the "
                "organization first.",
                calls,
            )
        )
    if campaigns:
        consequences.append(
            ngettext(
                "%(num)s running campaign places no calls until you reactivate it.",
                "%(num)s running campaigns place no calls until you reactivate it.",
                campaigns,
            )
        )
    hint = gettext("Nothing is deleted. Reactivating restores access.")
    return [*consequences, *_subscription_consequences(active_items), hint]


def _archive_consequences(active_items: ActiveItems) -> list[str]:
    calls, campaigns = active_items.waiting_calls, active_items.running_campaigns
    consequences = _lockout_consequences(active_items)
    if calls:
        consequences.append(
            ngettext(
                "%(num)s queued call is cancelled.", "%(num)s queued calls are cancelled.", calls
            )
        )
    if campaigns:
        consequences.append(
            ngettext(
                "%(num)s running campaign is paused.",
                "%(num)s running campaigns are paused.",
                campaigns,
            )
        )
    restore_hint = gettext(
        "It leaves your list. Nothing is deleted. You can restore it; calls stay cancelled and "
        "campaigns paused."
    )
    return [*consequences, *_subscription_consequences(active_items), restore_hint]


def _subscription_consequences(active_items: ActiveItems) -> list[str]:
    if not active_items.subscriptions:
        return []
    return [
        gettext("Its subscription goes on. Cancel it in Stripe if the customer should stop paying.")
    ]


def suspend_effect(consequences: Sequence[str]) -> str:
    """Return the effect of suspending in one line, of its consequences."""
    return " ".join([consequences[0], gettext("You can reactivate it.")])


def archive_effect(organization: Organization, consequences: Sequence[str]) -> str:
    """Return the effect of archiving in one line, of its consequences."""
    if organization.status is not OrganizationStatus.ACTIVE:
        return consequences[-1]  # no one can sign in to a suspended one
    return " ".join([consequences[0], gettext("It leaves your list.")])


def archived_message(name: str, stopped: StoppedItems) -> str:
    return gettext(
        "%(name)s archived. %(calls)s cancelled, %(campaigns)s paused.",
        name=name,
        calls=ngettext("%(num)s queued call", "%(num)s queued calls", stopped.calls),
        campaigns=ngettext("%(num)s campaign", "%(num)s campaigns", stopped.campaigns),
    )


def _lockout_consequences(active_items: ActiveItems) -> list[str]:
    users, keys, clients = active_items.users, active_items.keys, active_items.clients
    consequences = []
    if users:
        consequences.append(
            ngettext(
                "%(num)s user is signed out immediately and can’t sign in.",
                "%(num)s users are signed out immediately and can’t sign in.",
                users,
            )
        )
    if keys:
        consequences.append(
            ngettext(
                "%(num)s API key is refused from now on.",
                "%(num)s API keys are refused from now on.",
                keys,
            )
        )
    if clients:
        consequences.append(
            ngettext(
                "%(num)s client of the legacy API is refused from now on.",
                "%(num)s clients of the legacy API are refused from now on.",
                clients,
            )
        )
    return consequences or [gettext("No one can sign in, and no key works.")]


def added_message(name: str, email: str | None) -> str:
    """Say that an organization was added, and its first user invited if it has one."""
    if not email:
        return gettext("%(name)s added.", name=name)
    return gettext("%(name)s added. %(email)s is invited.", name=name, email=email)
