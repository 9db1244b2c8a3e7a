"""The steps after a campaign is created: its plan, then its first upload."""

from flask import request

from app.languages import gettext, pgettext


def is_new() -> bool:
    """Return whether the page is a step after creating a campaign."""
    return "new" in request.args


def steps_of_new() -> list[tuple[str, str | None]]:
    """Return the steps of a new campaign for its pages; empty when it isn't new."""
    if not is_new():
        return []
    names = (gettext("Create campaign"), pgettext("campaign", "Plan"), gettext("Upload contacts"))
    return [(name, None) for name in names]
