"""The subjects of history entries, for its filters: kinds of records, and their actions."""

from collections.abc import Mapping

from app.extensions import caller
from app.languages import gettext
from app.models.audit import CALLING_PAUSE
from app.models.folding import fold
from app.portal.audit.labels import ACTION_LABELS, KIND_LABELS
from app.services.audit.refusals import SIGN_INS

WITHIN = {"campaign": ("campaign", "contact"), "call": ("call", CALLING_PAUSE)}
"""Filter value -> the record types that it includes."""
SIGN_INS_KIND = "sign_in"
"""The filter for sign-ins and refused attempts; the others are record types."""
_OF_NO_PARTNER = ("installation", "operator")
"""Nouns of actions whose entries belong to no partner: only operators see them."""
_KINDS = {
    **dict.fromkeys(("sign_in", "password", "recovery"), SIGN_INS_KIND),
    **dict.fromkeys(("checkout", "billing"), "organization"),
    **dict.fromkeys(("processor_account", "scim"), "partner"),
    **dict.fromkeys(("contact", "contacts"), "campaign"),
    **dict.fromkeys(("operator", "invitation", "email_change", "mail"), "user"),
    "branding": "brand_version",
    CALLING_PAUSE: "call",
    "key": "api_key",
    "pricing": "plan_version",
}
"""Nouns of actions -> kind, if it isn't the noun."""


def kinds() -> dict[str, str]:
    """Return the kinds that the caller's history can have, for the filter."""
    visible = {name: str(label) for name, label in KIND_LABELS.items() if _can_appear(name)}
    return {SIGN_INS_KIND: gettext("Sign-ins"), **_sort_by_label(visible)}


def actions(kind: str | None) -> list[tuple[str, Mapping[str, str]]]:
    """Return the actions that the caller's history can have, by the words of their kind and by
    their own; with a ``kind`` only its own."""
    kind_labels = kinds()
    if kind not in kind_labels:
        kind = None
    groups: dict[str, dict[str, str]] = {
        label: {} for label in (*kind_labels.values(), _other_label())
    }
    for name, label in ACTION_LABELS.items():
        if _can_appear(name) and is_of(name, kind):
            groups[kind_labels.get(kind or _kind_of(name), _other_label())][name] = label
    return [(label, _sort_by_label(group)) for label, group in groups.items() if group]


def is_of(action: str, kind: str | None) -> bool:
    """Return whether records of a kind can have the action; True for any action without a kind."""
    return kind is None or kind in (_kind_of(action), _noun(action))


def _kind_of(action: str) -> str:
    """Return the kind of an action's records; its noun if no filter has it."""
    noun = _noun(action)
    return SIGN_INS_KIND if action in SIGN_INS else _KINDS.get(noun, noun)


def _noun(action: str) -> str:
    return action.partition(".")[0]


def _other_label() -> str:
    return gettext("Other actions")


def _sort_by_label(labels: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(labels.items(), key=lambda entry: fold(str(entry[1]))))


def _can_appear(name: str) -> bool:
    return caller().is_operator or _noun(name) not in _OF_NO_PARTNER
