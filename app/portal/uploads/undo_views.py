"""Undoing an upload: the preview, the request, and the result."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import render_template
from werkzeug.wrappers import Response

from app.extensions import caller, settings, transaction
from app.models import ContactImport
from app.portal.uploads.check_page import path_of, to_upload, unless_moved_on
from app.portal.web.blueprint import portal
from app.portal.web.formats import plural
from app.services.imports import undo, uploads
from app.services.imports.undo import Sums

Page = str | Response

CALLS = "Calls already placed stay in the record; calls that were cancelled stay cancelled."


@dataclass(frozen=True, slots=True)
class Remark:
    """A side effect of an undo, or something that it leaves, and why."""

    title: str
    text: str
    symbol: str
    tone: str = ""


@portal.get("/uploads/<uuid:upload_id>/undo")
def upload_undo(upload_id: UUID) -> Page:
    """Show what undoing the upload would do, in numbers."""
    with transaction(read_only=True) as session:
        found = uploads.get(session, caller(), upload_id)
        if not undo.can_be_undone(found, settings().undo_days):
            return to_upload(upload_id)
        would = undo.preview(session, found)
        return render_template(
            "portal/uploads/undo.html",
            upload=found,
            **path_of(found, uploads.campaign_names(session, [found])[found.campaign_id]),
            sums=would,
            counts=counts_of(would),
            remarks=remarks_of(would, done=False),
            until=undo.ends_at(found, settings().undo_days),
        )


@portal.post("/uploads/<uuid:upload_id>/undo")
def upload_undo_start(upload_id: UUID) -> Response:
    with unless_moved_on() as session:
        undo.start(session, caller(), upload_id, settings().undo_days)
    return to_upload(upload_id)


def undone_context(found: ContactImport) -> dict[str, Any]:
    did = undo.result_of(found) or Sums()
    return {"sums": did, "undo_counts": counts_of(did), "remarks": remarks_of(did, done=True)}


def counts_of(sums: Sums) -> list[int]:
    """Return the numbers of contacts removed, restored, brought back and left as they are."""
    left = sums.contacts_left + sums.gone + sums.taken
    return [sums.removed, sums.restored, sums.brought_back, left]


def remarks_of(sums: Sums, *, done: bool) -> list[Remark]:
    """Return the reasons for what is left, and the side effects."""
    found = []
    if sums.removed_changed:
        words = "was removed although it was" if done else "is removed although it was"
        many = "were removed although they were" if done else "are removed although they were"
        count = sums.removed_changed
        found.append(
            Remark(
                f"{plural(count, 'contact')} {words if count == 1 else many} changed since",
                "The upload added them. Later changes are removed too.",
                "alert-triangle",
                "warning",
            )
        )
    if sums.estimated and sums.contacts_left:
        found.append(
            Remark(
                f"{plural(sums.contacts_left, 'contact has', 'contacts have')} been changed since",
                "Field by field: later changes stay, the rest is restored.",
                "user",
            )
        )
    elif sums.contacts_left:
        fields = plural(sums.fields_left, "field")
        stay = "stay" if sums.fields_left != 1 else "stays"
        found.append(
            Remark(
                f"{fields} of {plural(sums.contacts_left, 'contact')} "
                f"{stay + 'ed' if done else stay} as now",
                "They were changed since, or another contact has the number or address.",
                "user",
            )
        )
    if sums.gone:
        found.append(
            Remark(
                f"{plural(sums.gone, 'contact')} left the campaign before",
                "The upload added or updated them. Nothing is left to restore.",
                "user-off",
            )
        )
    if sums.taken:
        can = "could not" if done else "can’t"
        found.append(
            Remark(
                f"{plural(sums.taken, 'contact')} {can} come back",
                "Another contact with the same number, address or id was added since.",
                "user-x",
            )
        )
    found.append(Remark("Call records stay", CALLS, "phone"))
    return found
