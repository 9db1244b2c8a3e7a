"""Undo what a file changed, except where contacts were changed since.

Created contacts are removed, updated ones restored field by field, removed ones come back. Steps
are undone in reverse order, so that identifiers that moved between contacts are free again.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy.orm import Session

from app.models import Campaign
from app.services import campaigns
from app.services.contacts import consent, undo_log
from app.services.contacts.apply import load_external_ids, write
from app.services.contacts.contact_index import ContactIndex, CurrentContact, HeldId
from app.services.contacts.results import CREATED, DELETED, UndoStep
from app.services.contacts.rules import load_rules
from app.services.contacts.store import ContactStore, open_store

REMOVED, REMOVED_CHANGED = "removed", "removedChanged"
"""A created contact is removed; the second means that it was changed since."""
RESTORED, PARTLY, BROUGHT_BACK = "restored", "partly", "broughtBack"
UNCHANGED, LEFT, GONE, TAKEN = "unchanged", "left", "gone", "taken"
ERASED = "erased"
"""The step was about a person whose data has been erased since: there is nothing to undo."""
CHANGED_SINCE, NEEDED, ALREADY_BACK = "changedSince", "needed", "putBack"
"""Why a field is left: it has changed since, nothing else identifies the contact, (`TAKEN`) another
contact has the old value, or it already has its old value again."""

_METADATA = "contactMetadata."
_PLAIN = {"firstName": "first_name", "lastName": "last_name", "status": "status"}


@dataclass(slots=True)
class UndoneChange:
    """The outcome of a step: one of the words above, and why fields are left as they are."""

    step: UndoStep
    outcome: str
    fields_left: dict[str, str] = field(default_factory=dict)


def fields_differing(fields_left: Mapping[str, str] | None) -> int:
    """Return how many fields stay different from what they were before the step."""
    return sum(why != ALREADY_BACK for why in (fields_left or {}).values())


def undo(
    session: Session,
    campaign: Campaign,
    steps: Sequence[UndoStep],
    *,
    left_before: Mapping[str, Collection[str]] | None = None,
    dry_run: bool = False,
) -> list[UndoneChange]:
    """Undo the steps, the last one first; the result is in the order of ``steps``.

    The campaign is locked until the transaction ends. ``left_before`` names, by contact, the fields
    that steps undone before these have left: a field that was changed since belongs to no step,
    whatever its value. ``dry_run`` returns the same and writes nothing.
    """
    session.flush()
    if not dry_run:
        campaigns.lock(session, campaign)
    store = open_store(session.connection(), load_rules(session, campaign))
    index = _load_index(store, steps)
    stored_by_id = {stored.id: stored for stored in index.loaded}
    fields_left: dict[str, set[str]] = defaultdict(set)
    for contact_id, names in (left_before or {}).items():
        fields_left[contact_id].update(names)
    undone = []
    for step in steps:
        change = _undo_step(
            index, stored_by_id.get(step.contact_id), step, fields_left[step.contact_id]
        )
        fields_left[step.contact_id].update(change.fields_left)
        undone.append(change)
    if not dry_run:
        write(session, campaign, store, index)
        returned = [change.step for change in undone if change.outcome == BROUGHT_BACK]
        undo_log.restore_removed(session, {step.contact_id: step.before or {} for step in returned})
        _restore_consent(session, undone, stored_by_id, fields_left)
    return undone


def _restore_consent(
    session: Session,
    undone: Sequence[UndoneChange],
    stored_by_id: Mapping[str | None, CurrentContact],
    fields_left: Mapping[str, Collection[str]],
) -> None:
    """Restore the time of consent if the consent is the previous one again."""
    returned = {}
    for step in (change.step for change in undone if change.outcome in (RESTORED, PARTLY)):
        before, stored = step.before or {}, stored_by_id[step.contact_id]
        is_restored = (
            "consentAt" in before
            and f"{_METADATA}{consent.KEY}" not in fields_left[step.contact_id]
        )
        if (
            is_restored
            and not stored.removed
            and consent.read_consent(stored.metadata) == consent.read_consent(before["metadata"])
        ):
            returned[step.contact_id] = before["consentAt"]
    undo_log.restore_consent(session, returned)


def _load_index(store: ContactStore, steps: Sequence[UndoStep]) -> ContactIndex:
    """Return the contacts of the steps, and those that have identifiers to give back."""
    states = [step.before for step in steps if step.before]
    stored_contacts = store.find_by_id(list({step.contact_id for step in steps}))
    stored_contacts += store.find_by_phone(
        list({state["phone"] for state in states if state["phone"]})
    )
    emails = {state["email"].lower() for state in states if state["email"]}
    stored_contacts += store.find_by_email(list(emails))
    pairs = {
        (key, external_id["value"])
        for state in states
        for key, external_id in state["externalIds"].items()
        if external_id["identifies"]
    }
    if pairs:
        stored_contacts += store.find_identified(list(pairs))
    loaded = {str(stored.id): stored for stored in stored_contacts}
    load_external_ids(store, loaded)
    return ContactIndex(loaded.values())


def _undo_step(
    index: ContactIndex,
    stored: CurrentContact | None,
    step: UndoStep,
    left_before: Collection[str],
) -> UndoneChange:
    before, after = step.before or {}, step.after or {}
    if step.action == DELETED:
        return UndoneChange(step, _bring_back(index, step.contact_id, before))
    if stored is None or stored.removed:
        return UndoneChange(step, GONE)
    if step.action == CREATED:
        outcome = REMOVED if stored.state() == after else REMOVED_CHANGED
        index.remove(stored)
        return UndoneChange(step, outcome)
    restored, fields_left = _restore(index, stored, before, after, left_before)
    outcomes = {(True, False): RESTORED, (True, True): PARTLY, (False, True): LEFT}
    outcome = outcomes.get((bool(restored), bool(fields_differing(fields_left))), UNCHANGED)
    return UndoneChange(step, outcome, fields_left)


def _bring_back(index: ContactIndex, contact_id: str, state: Mapping[str, Any]) -> str:
    stored = CurrentContact(
        phone=state["phone"],
        email=state["email"],
        email_key=state["email"] and state["email"].lower(),
        first_name=state["firstName"],
        last_name=state["lastName"],
        status=state["status"],
        metadata=state["metadata"],
        id=contact_id,
        external_ids={
            key: HeldId(**external_id) for key, external_id in state["externalIds"].items()
        },
    )
    pairs: list[tuple[str, str] | None] = [*stored.identities]
    if any(
        index.conflicting_field(stored, stored.phone, stored.email_key, pair)
        for pair in pairs or [None]
    ):
        return TAKEN
    index.add(stored)
    return BROUGHT_BACK


def _restore(
    index: ContactIndex,
    stored: CurrentContact,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    left_before: Collection[str],
) -> tuple[list[str], dict[str, str]]:
    """Restore what the step has changed; return the restored fields, and why others are left."""
    restored: list[str] = []
    fields_left: dict[str, str] = {}

    def as_written(name: str, current: object) -> bool:
        """Return whether the step has changed the field and nothing else has since."""
        if before[name] == after[name] or name in left_before:
            return False
        if current == after[name]:
            return True
        fields_left[name] = ALREADY_BACK if current == before[name] else CHANGED_SINCE
        return False

    for name, attribute in _PLAIN.items():
        if as_written(name, getattr(stored, attribute)):
            setattr(stored, attribute, before[name])
            restored.append(name)
    identifiers = {
        name: before[name]
        for name, current in (("phone", stored.phone), ("email", stored.email))
        if as_written(name, current)
    }
    _restore_identifiers(index, stored, identifiers, fields_left)
    restored += identifiers
    _restore_metadata(
        stored, before["metadata"], after["metadata"], restored, fields_left, left_before
    )
    ids = before["externalIds"], after["externalIds"]
    _restore_ids(index, stored, *ids, restored, fields_left, left_before)
    return restored, fields_left


def _restore_identifiers(
    index: ContactIndex,
    stored: CurrentContact,
    identifiers: dict[str, str | None],
    fields_left: dict[str, str],
) -> None:
    """Restore phone and email; remove from ``identifiers`` what can't be restored."""
    for name in list(identifiers):
        value = identifiers[name]
        phone, email = (value, None) if name == "phone" else (None, value)
        if value and index.conflicting_field(stored, phone, email and email.lower(), None):
            fields_left[name] = TAKEN
            del identifiers[name]
    phone, email = identifiers.get("phone", stored.phone), identifiers.get("email", stored.email)
    if not (phone or email):
        fields_left |= dict.fromkeys(identifiers, NEEDED)
        identifiers.clear()
    elif identifiers:
        index.identify(stored, phone, email)


def _restore_metadata(
    stored: CurrentContact,
    before: str | None,
    after: str | None,
    restored: list[str],
    fields_left: dict[str, str],
    left_before: Collection[str],
) -> None:
    """Restore the text itself if it is unchanged, so that the order of its keys returns."""
    if before == after:
        return
    of_others = {name.partition(".")[2] for name in left_before if name.startswith(_METADATA)}
    if stored.metadata == after and not of_others:
        stored.metadata = before
        restored.append("contactMetadata")
        return
    current = _values_by_key(stored.metadata)
    previous = _values_by_key(before)
    written = _values_by_key(after)
    changed = False
    step_keys = [key for key in {**previous, **written} if key not in of_others]
    for key in [key for key in step_keys if previous.get(key) != written.get(key)]:
        if current.get(key) == written.get(key):
            changed = True
            if key in previous:
                current[key] = previous[key]
            else:
                del current[key]
        else:
            is_back = current.get(key) == previous.get(key)
            fields_left[f"{_METADATA}{key}"] = ALREADY_BACK if is_back else CHANGED_SINCE
    if changed:
        values = {key: orjson.loads(value) for key, value in current.items()}
        stored.metadata = orjson.dumps(values).decode() if values else None
        restored.append("contactMetadata")


def _values_by_key(text: str | None) -> dict[str, bytes]:
    """Return metadata with values as JSON: 1 and true are different."""
    return {key: orjson.dumps(value) for key, value in orjson.loads(text or "{}").items()}


def _restore_ids(
    index: ContactIndex,
    stored: CurrentContact,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    restored: list[str],
    fields_left: dict[str, str],
    left_before: Collection[str],
) -> None:
    step_keys = [key for key in {**before, **after} if f"externalIds.{key}" not in left_before]
    for key in [key for key in step_keys if before.get(key) != after.get(key)]:
        current = (stored.external_ids or {}).get(key)
        previous, written = _held_id(before.get(key)), _held_id(after.get(key))
        if current != written:
            fields_left[f"externalIds.{key}"] = (
                ALREADY_BACK if current == previous else CHANGED_SINCE
            )
        elif (
            previous
            and previous.identifies
            and index.conflicting_field(stored, None, None, (key, previous.value))
        ):
            fields_left[f"externalIds.{key}"] = TAKEN
        else:
            index.set_external_id(stored, key, previous)
            restored.append(f"externalIds.{key}")


def _held_id(value: Mapping[str, Any] | None) -> HeldId | None:
    return HeldId(**value) if value else None
