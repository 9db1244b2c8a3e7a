"""Confirmations of actions: the same content as a dialog of the page and as a separate page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import render_template, request


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

    def page(self, field: Any = None) -> str:
        action, crumbs = self.action or request.path, self.crumbs
        return render_template(
            "portal/confirm.html",
            confirmation=self,
            action=action,
            action_label=self.action_label,
            crumbs=crumbs,
            field=field,
        )
