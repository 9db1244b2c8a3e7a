"""Pausing, resuming and removing several webhooks."""

from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.services.webhooks import endpoints


def _pause(session: Session, item: BulkItem) -> None:
    endpoints.pause(session, caller(), item.row.id)


def _resume(session: Session, item: BulkItem) -> None:
    endpoints.resume(session, caller(), item.row.id)


def _remove(session: Session, item: BulkItem) -> None:
    endpoints.remove(session, caller(), item.row.id)


ACTIONS = (
    BulkAction(
        name="pause",
        label=lazy_gettext("Pause…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext("Pause %(num)s webhook", "Pause %(num)s webhooks", n),
        done=lambda n: ngettext("%(num)s webhook paused", "%(num)s webhooks paused", n),
        safe=lazy_gettext("Keep active"),
        consequences=(lazy_gettext("Their events are kept and sent when you resume them."),),
        act=_pause,
        what=lazy_gettext("Paused."),
        refusal=lambda item: gettext("Already paused.") if item.row.paused_at else None,
        undo="resume",
    ),
    BulkAction(
        name="resume",
        label=lazy_gettext("Resume…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext("Resume %(num)s webhook", "Resume %(num)s webhooks", n),
        done=lambda n: ngettext("%(num)s webhook resumed", "%(num)s webhooks resumed", n),
        safe=lazy_gettext("Keep paused"),
        consequences=(lazy_gettext("Kept events are sent first."),),
        act=_resume,
        what=lazy_gettext("Resumed."),
        refusal=lambda item: None if item.row.paused_at else gettext("It isn’t paused."),
        is_risky=False,
        undo="pause",
    ),
    BulkAction(
        name="remove",
        label=lazy_gettext("Remove…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext("Remove %(num)s webhook", "Remove %(num)s webhooks", n),
        done=lambda n: ngettext("%(num)s webhook removed", "%(num)s webhooks removed", n),
        safe=lazy_gettext("Keep webhooks"),
        consequences=(
            lazy_gettext("Events not delivered yet will be lost, and their logs are deleted."),
            lazy_gettext("This can’t be undone. A new webhook gets a new secret."),
        ),
        act=_remove,
        what=lazy_gettext("Removed."),
    ),
)
