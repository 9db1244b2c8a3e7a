"""Pausing, resuming and archiving several campaigns."""

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.services import campaigns, outreach


def _not_running_message(item: BulkItem) -> str | None:
    if item.row.status == "running":
        return None
    return gettext("Only running campaigns can be paused.")


def _not_paused_message(item: BulkItem) -> str | None:
    return None if item.row.status == "paused" else gettext("Only paused campaigns can be resumed.")


def _archived_message(item: BulkItem) -> str | None:
    return gettext("The campaign is archived.") if item.row.status == "archived" else None


ACTIONS = (
    BulkAction(
        name="pause",
        label=lazy_gettext("Pause…"),
        permission=Permission.CAMPAIGNS_WRITE,
        button=lambda n: ngettext("Pause %(num)s campaign", "Pause %(num)s campaigns", n),
        done=lambda n: ngettext("%(num)s campaign paused", "%(num)s campaigns paused", n),
        keep_label=lazy_gettext("Keep running"),
        consequences=(
            lazy_gettext("No more contacts are called, and waiting calls are cancelled."),
            lazy_gettext("Calls in progress continue to their end."),
            lazy_gettext("You can resume them at any time."),
        ),
        act=lambda session, item: outreach.pause(session, caller(), item.row.campaign.id),
        done_label=lazy_gettext("Paused."),
        refusal=_not_running_message,
    ),
    BulkAction(
        name="resume",
        label=lazy_gettext("Resume…"),
        permission=Permission.CAMPAIGNS_WRITE,
        button=lambda n: ngettext("Resume %(num)s campaign", "Resume %(num)s campaigns", n),
        done=lambda n: ngettext("%(num)s campaign resumed", "%(num)s campaigns resumed", n),
        keep_label=lazy_gettext("Not now"),
        consequences=(
            lazy_gettext("Their contacts are called from now on, in the hours of their plans."),
        ),
        act=lambda session, item: outreach.start(session, caller(), item.row.campaign.id),
        done_label=lazy_gettext("Running."),
        refusal=_not_paused_message,
        is_risky=False,
    ),
    BulkAction(
        name="archive",
        label=lazy_gettext("Archive…"),
        permission=Permission.CAMPAIGNS_WRITE,
        button=lambda n: ngettext("Archive %(num)s campaign", "Archive %(num)s campaigns", n),
        done=lambda n: ngettext("%(num)s campaign archived", "%(num)s campaigns archived", n),
        keep_label=lazy_gettext("Keep campaigns"),
        consequences=(
            lazy_gettext("They are removed from the list and accept no more uploads."),
            lazy_gettext("Waiting calls are cancelled. Contacts can still be viewed."),
            lazy_gettext("This can’t be undone."),
        ),
        act=lambda session, item: campaigns.archive(session, caller(), item.row.campaign.id),
        done_label=lazy_gettext("Archived."),
        refusal=_archived_message,
    ),
)
