"""Suspending, reactivating and changing several organizations, and adding them to a group."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.extensions import caller
from app.languages import gettext, lazy_gettext, lazy_pgettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkChoice, BulkItem
from app.portal.web.plan_names import plan_names
from app.schemas.organizations import UpdateOrganizationInput
from app.services import organization_groups, organizations


def _change_plan(session: Session, item: BulkItem) -> None:
    changes = UpdateOrganizationInput(payment_tier=Tier(item.choice))
    organizations.update(session, caller(), item.row.organization.id, changes)


def _status_conflict(status: OrganizationStatus, item: BulkItem) -> str | None:
    current = item.row.organization.status
    if current is OrganizationStatus.ARCHIVED:
        return gettext("The organization is archived.")
    return None if current is status else gettext("Already done. Nothing was changed.")


def _has_plan(item: BulkItem) -> str | None:
    is_current = (item.row.organization.payment_tier or Tier.FREE) == item.choice
    return gettext("Already done. Nothing was changed.") if is_current else None


def _group_choices(session: Session) -> Mapping[str, str]:
    groups = organization_groups.listing(session, caller())
    return {str(each.group.id): each.group.name for each in groups}


ACTIONS = (
    BulkAction(
        name="suspend",
        label=lazy_gettext("Suspend…"),
        permission=Permission.ORGANIZATIONS_WRITE,
        button=lambda n: ngettext(
            "Suspend %(num)s organization", "Suspend %(num)s organizations", n
        ),
        done=lambda n: ngettext(
            "%(num)s organization suspended", "%(num)s organizations suspended", n
        ),
        keep_label=lazy_pgettext("organizations", "Keep active"),
        consequences=(
            lazy_gettext("Their users are signed out immediately and can’t sign in."),
            lazy_gettext("Their API keys and clients are refused, and no calls are placed."),
            lazy_gettext("Waiting calls are cancelled when they are due."),
            lazy_gettext("Nothing is deleted; you can reactivate them at any time."),
        ),
        act=lambda session, item: organizations.suspend(
            session, caller(), item.row.organization.id
        ),
        done_label=lazy_gettext("Suspended."),
        refusal=lambda item: _status_conflict(OrganizationStatus.ACTIVE, item),
        undo="reactivate",
    ),
    BulkAction(
        name="reactivate",
        label=lazy_gettext("Reactivate…"),
        permission=Permission.ORGANIZATIONS_WRITE,
        button=lambda n: ngettext(
            "Reactivate %(num)s organization", "Reactivate %(num)s organizations", n
        ),
        done=lambda n: ngettext(
            "%(num)s organization reactivated", "%(num)s organizations reactivated", n
        ),
        keep_label=lazy_pgettext("organizations", "Keep suspended"),
        consequences=(
            lazy_gettext("Their users can sign in and their keys work again."),
            lazy_gettext("Running campaigns and waiting calls continue."),
        ),
        act=lambda session, item: organizations.reactivate(
            session, caller(), item.row.organization.id
        ),
        done_label=lazy_gettext("Reactivated."),
        refusal=lambda item: _status_conflict(OrganizationStatus.SUSPENDED, item),
        is_risky=False,
    ),
    BulkAction(
        name="plan",
        label=lazy_gettext("Change plan…"),
        permission=Permission.ORGANIZATIONS_WRITE,
        button=lambda n: ngettext(
            "Change the plan of %(num)s organization",
            "Change the plan of %(num)s organizations",
            n,
        ),
        done=lambda n: ngettext(
            "Plan of %(num)s organization changed", "Plan of %(num)s organizations changed", n
        ),
        keep_label=lazy_gettext("Keep plans"),
        consequences=(
            lazy_gettext("The plan changes immediately, with its price and its limits for calls."),
            lazy_gettext("Limits of assistants and users stay as they are."),
            lazy_gettext(
                "Only one plan includes the legacy API: its clients are refused on the others."
            ),
        ),
        act=_change_plan,
        done_label=lazy_gettext("Plan changed."),
        refusal=_has_plan,
        is_risky=False,
        choice=BulkChoice(
            lazy_gettext("Plan"),
            lambda _session: {tier.value: str(name) for tier, name in plan_names().items()},
        ),
    ),
    BulkAction(
        name="group",
        label=lazy_gettext("Add to group…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext(
            "Add %(num)s organization to a group", "Add %(num)s organizations to a group", n
        ),
        done=lambda n: ngettext(
            "%(num)s organization added to the group",
            "%(num)s organizations added to the group",
            n,
        ),
        keep_label=lazy_gettext("Don’t add"),
        consequences=(
            lazy_gettext("Admins and API clients limited to the group see them immediately."),
            lazy_gettext("They stay in their other groups."),
        ),
        act=lambda session, item: organization_groups.add(
            session, caller(), UUID(item.choice), item.row.organization.id
        ),
        done_label=lazy_gettext("Added to the group."),
        is_risky=False,
        choice=BulkChoice(lazy_gettext("Organization group"), _group_choices),
        is_of_partners=True,
    ),
)
