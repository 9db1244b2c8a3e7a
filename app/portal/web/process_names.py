"""Names of the system's parts, by the name passed to `system_caller`."""

from collections.abc import Mapping

from app.languages import gettext, lazy_gettext
from app.portal.web.blueprint import portal

PROCESS_LABELS = {
    "Alerts": lazy_gettext("Alerts"),
    "Billing": lazy_gettext("Billing"),
    "Budgets": lazy_gettext("Budgets"),
    "Carrier's list": lazy_gettext("Carrier’s list"),
    "Connection test": lazy_gettext("Connection test"),
    "Stripe": "Stripe",
    "Unusual calls": lazy_gettext("Unusual calls"),
    "command line": lazy_gettext("command line"),
    "demo": lazy_gettext("Sample data"),
    "domains": lazy_gettext("Check of domains"),
    "mail": lazy_gettext("Delivery of emails"),
    "report": lazy_gettext("Monthly report"),
    "system": lazy_gettext("System"),
    "webhooks": lazy_gettext("Delivery of webhooks"),
}


def process_label(name: str) -> str:
    """Return the name of a part of the system in the reader's language."""
    if name.startswith("Campaign "):  # its name follows
        return name.replace("Campaign", gettext("Campaign"), 1)
    return str(PROCESS_LABELS.get(name, name))


@portal.app_template_filter()
def author_label(label: str, names: Mapping[str, str]) -> str:
    """Return the name of the user with this address, from ``names``; the words of any other author
    in the history."""
    return names.get(label) or process_label(label)
