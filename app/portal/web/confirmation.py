"""Actions with a confirmation: the same question as a dialog of the page and as a page
of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import render_template, request


@dataclass(frozen=True, slots=True)
class ConfirmationPage:
    """An action with its consequences. ``action`` is the form's URL and, by GET, that of the page;
    by default the page itself. ``crumbs`` are names and URLs above the page, where its place in
    the sidebar is not all. ``warning`` is about calls at night."""

    title: str
    consequences: Sequence[str]
    act: str
    safe: str
    safe_url: str
    action: str = ""
    danger: bool = True
    crumbs: Sequence[tuple[str, str]] = ()
    warning: str | None = None

    def page(self, field: Any = None) -> str:
        return render_template(
            "portal/confirm.html",
            action=self.action or request.path,
            title=self.title,
            consequences=self.consequences,
            act=self.act,
            safe=self.safe,
            safe_url=self.safe_url,
            danger=self.danger,
            crumbs=self.crumbs,
            field=field,
            warning=self.warning,
        )
