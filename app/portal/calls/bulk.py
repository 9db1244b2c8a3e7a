"""Cancelling several waiting calls."""

from collections.abc import Callable
from typing import Any

from sqlalchemy.orm import Session

from app.extensions import caller, settings
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.services import calls
from app.services.calls.states import WAITING
from app.services.paging import Page


def _not_waiting_message(item: BulkItem) -> str | None:
    if item.row.call.status in WAITING:
        return None
    if item.row.call.status.is_final:
        return gettext("The call has already ended.")
    return gettext("The call was already placed. End it on its own page.")


def actions(waiting: Callable[[Session, str | None, int], Page[Any]]) -> tuple[BulkAction, ...]:
    """Return the actions of the list; ``waiting`` loads those of its calls that wait."""
    return (
        BulkAction(
            name="cancel",
            label=lazy_gettext("Cancel calls…"),
            permission=Permission.CALLS_CREATE,
            button=lambda n: ngettext("Cancel %(num)s call", "Cancel %(num)s calls", n),
            done=lambda n: ngettext("%(num)s call cancelled", "%(num)s calls cancelled", n),
            keep_label=lazy_gettext("Keep calls"),
            consequences=(
                lazy_gettext("The calls are not placed."),
                lazy_gettext("This can’t be undone."),
            ),
            act=lambda session, item: calls.cancel_waiting(
                session, caller(), item.row.call.id, settings().secret_keys
            ),
            done_label=lazy_gettext("Cancelled."),
            refusal=_not_waiting_message,
            load=waiting,
        ),
    )
