"""Confirmations of actions: the same content as a dialog of the page and as a separate page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import render_template, request

from app.languages import gettext, ngettext


@dataclass(frozen=True, slots=True)
class ConfirmationPage:
    """An action with its consequences. ``action`` is the form's URL and, by GET, that of the page;
    by default the page itself. ``crumbs`` are names and URLs above the page, if its place in the
    sidebar is not enough. ``warning`` is about calls at night. ``steps`` are those of a wizard that
    ends with the action."""

    title: str
    consequences: Sequence[str]
    action_label: str
    keep_label: str
    keep_url: str
    action: str = ""
    danger: bool = True
    crumbs: Sequence[tuple[str, str]] = ()
    warning: str | None = None
    steps: Sequence[tuple[str, None]] = ()

    def page(
        self, field: Any = None, *, template: str = "portal/confirm.html", **context: Any
    ) -> str:
        """Return the page with one form field, or with the input of a ``template`` that extends
        the usual one."""
        return render_template(
            template,
            confirmation=self,
            action=self.action or request.path,
            action_label=self.action_label,
            crumbs=self.crumbs,
            field=field,
            **context,
        )


def discard_draft_confirmation(action: str, change_count: int, keep_url: str) -> ConfirmationPage:
    return ConfirmationPage(
        action=action,
        title=gettext("Discard the draft?"),
        consequences=[
            ngettext("%(num)s change is lost.", "%(num)s changes are lost.", change_count),
            gettext("What your customers see does not change."),
        ],
        action_label=gettext("Discard draft"),
        keep_label=gettext("Keep draft"),
        keep_url=keep_url,
    )
