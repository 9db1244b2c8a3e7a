"""Switching several assistants on and off."""

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.services.assistants import settings


def _already_message(item: BulkItem, *, on: bool) -> str | None:
    is_unchanged = item.row.assistant.active == on
    return gettext("Already done. Nothing was changed.") if is_unchanged else None


ACTIONS = (
    BulkAction(
        name="switch-off",
        label=lazy_gettext("Switch off…"),
        permission=Permission.ASSISTANTS_WRITE,
        button=lambda n: ngettext(
            "Switch off %(num)s assistant", "Switch off %(num)s assistants", n
        ),
        done=lambda n: ngettext(
            "%(num)s assistant switched off", "%(num)s assistants switched off", n
        ),
        keep_label=lazy_gettext("Keep switched on"),
        consequences=(
            lazy_gettext("They place no calls, not even those of running campaigns."),
            lazy_gettext("Waiting calls are cancelled when they are due."),
            lazy_gettext("Calls in progress continue to their end."),
            lazy_gettext("You can switch them on again at any time."),
        ),
        act=lambda session, item: settings.toggle(
            session, caller(), item.row.assistant.id, on=False
        ),
        done_label=lazy_gettext("Switched off."),
        refusal=lambda item: _already_message(item, on=False),
        undo="switch-on",
    ),
    BulkAction(
        name="switch-on",
        label=lazy_gettext("Switch on…"),
        permission=Permission.ASSISTANTS_WRITE,
        button=lambda n: ngettext("Switch on %(num)s assistant", "Switch on %(num)s assistants", n),
        done=lambda n: ngettext(
            "%(num)s assistant switched on", "%(num)s assistants switched on", n
        ),
        keep_label=lazy_gettext("Keep switched off"),
        consequences=(lazy_gettext("They place calls again, also those of running campaigns."),),
        act=lambda session, item: settings.toggle(
            session, caller(), item.row.assistant.id, on=True
        ),
        done_label=lazy_gettext("Switched on."),
        refusal=lambda item: _already_message(item, on=True),
        is_risky=False,
        undo="switch-off",
    ),
)
