"""Undoing an upload: the preview, the request, and the result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import render_template
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.models import ContactImport
from app.portal.uploads import blueprint
from app.portal.uploads.upload_pages import changing_upload, path_of, to_upload
from app.portal.web.blueprint import Page
from app.services.contacts.results import UndoStep
from app.services.imports import undo, undo_preview, uploads
from app.services.imports.undo import UndoTotals

NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class UndoRemark:
    """Something that an undo removes besides, or doesn't undo, and why."""

    title: str
    text: str
    symbol: str
    tone: str = ""


@blueprint.get("/uploads/<uuid:upload_id>/undo")
def confirm_undo_upload(upload_id: UUID) -> Page:
    """Show the effects of undoing the upload, in numbers."""
    with transaction(read_only=True) as session:
        upload = uploads.get(session, caller(), upload_id)
        if not undo.can_be_undone(upload, settings().undo_days):
            return to_upload(upload_id)
        return render_template(
            "portal/uploads/undo.html",
            upload=upload,
            **path_of(session, upload),
            **_effects(session, upload),
        )


def _effects(session: Session, upload: ContactImport) -> dict[str, Any]:
    totals, contacts = undo_preview.preview(session, upload)
    return {
        **_totals_context(totals, done=False),
        "names": [_names(changes) for changes in contacts],
        "extent": extent_label(*undo.count_changes(session, upload)),
        "until": undo.ends_at(upload, settings().undo_days),
    }


@blueprint.post("/uploads/<uuid:upload_id>/undo")
def undo_upload(upload_id: UUID) -> Response:
    with changing_upload(upload_id) as session:
        undo.start(session, caller(), upload_id, settings().undo_days)
    return to_upload(upload_id)


def extent_label(changes: int, contacts: int) -> str:
    """Return the extent: 19 changes to 18 contacts."""
    return ngettext(
        "%(changes)s to %(num)s contact",
        "%(changes)s to %(num)s contacts",
        contacts,
        changes=ngettext("%(num)s change", "%(num)s changes", changes),
    )


def undone_context(upload: ContactImport) -> dict[str, Any]:
    return _totals_context(undo.result_of(upload) or UndoTotals(), done=True)


def _totals_context(totals: UndoTotals, *, done: bool) -> dict[str, Any]:
    return {
        "sums": totals,
        "undo_counts": totals.figures,
        "removed": list(_removed_remarks(totals, done=done)),
        "remarks": list(remarks_of(totals, done=done)),
    }


def _names(changes: Sequence[UndoStep]) -> str:
    """Return the names of the first contacts."""
    names = []
    for change in changes[:NAMES_SHOWN]:
        state = change.after or change.before or {}
        name = " ".join(filter(None, (state.get("firstName"), state.get("lastName"))))
        names.append(name or state.get("phone") or state.get("email") or "–")
    return ", ".join(names + ["…"] * (len(changes) > NAMES_SHOWN))


def _removed_remarks(sums: UndoTotals, *, done: bool) -> Iterator[UndoRemark]:
    """Yield what is removed besides the upload's own changes."""
    if sums.removed_changed:
        text = ngettext(
            "The upload added it. Later changes are removed too.",
            "The upload added them. Later changes are removed too.",
            sums.removed_changed,
        )
        title = _removed_title(sums.removed_changed, done=done)
        yield UndoRemark(title, text, "alert-triangle", "warning")


def remarks_of(totals: UndoTotals, *, done: bool) -> Iterator[UndoRemark]:
    """Yield the reasons why something isn't undone."""
    if totals.contacts_left:
        yield _contacts_left_remark(totals, done=done)
    if totals.gone:
        yield UndoRemark(
            ngettext(
                "%(num)s contact left the campaign before",
                "%(num)s contacts left the campaign before",
                totals.gone,
            ),
            ngettext(
                "The upload added or updated it. Nothing is left to restore.",
                "The upload added or updated them. Nothing is left to restore.",
                totals.gone,
            ),
            "user-off",
        )
    if totals.unchanged:
        yield UndoRemark(
            ngettext(
                "%(num)s contact has its earlier values already",
                "%(num)s contacts have their earlier values already",
                totals.unchanged,
            ),
            gettext("The upload changed nothing, or the change was reversed since."),
            "user-check",
        )
    if totals.taken:
        yield UndoRemark(
            _not_restored_title(totals.taken, done=done),
            gettext("Another contact with the same number, address or ID was added since."),
            "user-x",
        )
    if totals.erased:
        yield UndoRemark(
            ngettext(
                "%(num)s person was erased and stays erased",
                "%(num)s people were erased and stay erased",
                totals.erased,
            ),
            gettext("Their data was deleted on request. An undo can’t bring it back."),
            "user-x",
        )
    if done or not totals.change_nothing:
        calls = gettext(
            "Calls already placed stay in the record; calls that were cancelled stay cancelled."
        )
        yield UndoRemark(gettext("Call records stay"), calls, "phone")


def _contacts_left_remark(totals: UndoTotals, *, done: bool) -> UndoRemark:
    if totals.estimated:
        title = ngettext(
            "%(num)s contact has been changed since",
            "%(num)s contacts have been changed since",
            totals.contacts_left,
        )
        text = gettext("Field by field: later changes stay, the rest is restored.")
        return UndoRemark(title, text, "user")
    text = ngettext(
        "It was changed since, or another contact has the number or address.",
        "They were changed since, or another contact has the number or address.",
        totals.fields_left,
    )
    return UndoRemark(_fields_left_title(totals, done=done), text, "user")


def _removed_title(count: int, *, done: bool) -> str:
    if done:
        return ngettext(
            "%(num)s contact was removed although it was changed since",
            "%(num)s contacts were removed although they were changed since",
            count,
        )
    return ngettext(
        "%(num)s contact is removed although it was changed since",
        "%(num)s contacts are removed although they were changed since",
        count,
    )


def _fields_left_title(totals: UndoTotals, *, done: bool) -> str:
    count = totals.fields_left
    contacts = ngettext("%(num)s contact", "%(num)s contacts", totals.contacts_left)
    if done:
        return ngettext(
            "%(num)s field of %(contacts)s stayed as now",
            "%(num)s fields of %(contacts)s stayed as now",
            count,
            contacts=contacts,
        )
    return ngettext(
        "%(num)s field of %(contacts)s stays as now",
        "%(num)s fields of %(contacts)s stay as now",
        count,
        contacts=contacts,
    )


def _not_restored_title(count: int, *, done: bool) -> str:
    if done:
        return ngettext(
            "%(num)s contact could not be restored", "%(num)s contacts could not be restored", count
        )
    return ngettext(
        "%(num)s contact can’t be restored", "%(num)s contacts can’t be restored", count
    )
