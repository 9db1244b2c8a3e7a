"""An entry of the history as one sentence."""

from datetime import date

from flask import url_for
from markupsafe import Markup, escape

from app.extensions import caller
from app.languages import gettext, gettext_noop, translation
from app.models import AuditEntry
from app.portal.audit.labels import action_label
from app.portal.audit.values import format_value
from app.portal.billing.formats import month_name
from app.portal.web.blueprint import portal
from app.portal.web.navigation import may_open

_SENTENCES = {
    "user.viewed": gettext_noop("An operator viewed the portal as %(target)s"),
    "user.view_ended": gettext_noop("An operator stopped viewing the portal as %(target)s"),
}
_CHANGED_SENTENCE = gettext_noop("%(field)s: %(old)s → %(new)s")
_SET_SENTENCE = gettext_noop("%(field)s: %(value)s")
_DEFAULT_SENTENCE = gettext_noop("%(what)s: %(target)s")
_OWN_ACTION_LABELS = {"user.updated": gettext_noop("Own account changed")}
"""Sentences about users who changed their own account."""


@portal.app_template_filter()
def change(entry: AuditEntry, target: str | None = None, url: str | None = None) -> Markup:
    """Return what was changed and in which record, with a link to ``url``. ``target`` replaces the
    stored name."""
    month = (entry.after or {}).get("month") if entry.action == "partner.month_closed" else None
    action = action_label(entry.action)
    if month:
        action = gettext("%(month)s closed", month=month_name(date.fromisoformat(f"{month}-01")))
        if may_open(caller(), "portal.billing.show_costs"):
            return _link(action, url_for("portal.billing.show_costs", month=month))
    target_label = target or (format_value(entry.target) if entry.target else "")
    if is_about_actor(entry):
        target_label = ""
        action = (
            translation(_OWN_ACTION_LABELS[entry.action])
            if entry.action in _OWN_ACTION_LABELS
            else action
        )
    if entry.action.endswith(".budget_reached"):
        action = gettext("%(num)s %% of the budget spent", num=(entry.after or {}).get("percent"))
    if not target_label:
        return escape(action)
    message = Markup(translation(_SENTENCES.get(entry.action, _DEFAULT_SENTENCE)))  # noqa: S704 - from a catalogue
    return message % {
        "what": action,
        "target": _link(target_label, url) if url else target_label,
    }


@portal.app_template_global()
def change_of_field(field: str, old: str | None, new: str | None) -> Markup:
    """Return one changed field with its values as a sentence; ``old`` or ``new`` is None if
    that side is missing."""
    before = Markup('<del class="history-old">{}</del>').format(old)
    after = Markup('<span class="history-new">{}</span>').format(new)
    if old is not None and new is not None:
        message = translation(_CHANGED_SENTENCE)
        return Markup(message) % {"field": field, "old": before, "new": after}  # noqa: S704 - from a catalogue
    message = Markup(translation(_SET_SENTENCE))  # noqa: S704 - from a catalogue
    return message % {"field": field, "value": after if old is None else before}


def plain_change(field: str, old: str | None, new: str | None) -> str:
    """Return the same as plain text, for files."""
    if old is not None and new is not None:
        return translation(_CHANGED_SENTENCE) % {"field": field, "old": old, "new": new}
    return translation(_SET_SENTENCE) % {"field": field, "value": new if old is None else old}


@portal.app_template_test("about_actor")
def is_about_actor(entry: AuditEntry) -> bool:
    """Return whether users changed their own account, so that their name needn't be repeated."""
    return entry.target_type == "user" and entry.target_id == str(entry.actor_id)


def _link(label: str, url: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(url, label)
