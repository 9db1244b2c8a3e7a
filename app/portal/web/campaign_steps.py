"""The steps of a new campaign: its name and assistants, its plan, its contacts, the start."""

from flask import request

from app.languages import gettext, pgettext


def is_new() -> bool:
    """Return whether the page is a step after creating a campaign."""
    return "new" in request.args


def steps_of_new() -> list[tuple[str, None]]:
    """Return the steps of creating a campaign."""
    return [
        (gettext("Name and assistants"), None),
        (pgettext("campaign", "Plan"), None),
        (gettext("Contacts"), None),
        (pgettext("campaign", "Start"), None),
    ]
