"""Uploads: the list, choosing a file, and one upload in each of its states."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from flask import redirect, render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from app.enums import CampaignStatus, ContactAction, ImportState
from app.errors import NotFound, TooLarge, ValidationFailed, in_language
from app.extensions import caller, deleted_on_error, files, settings, transaction
from app.gateways.files import StoredFile, size_words
from app.languages import gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK
from app.languages.numbers import written
from app.models import Campaign, ContactImport, utcnow
from app.policy import Permission
from app.portal.uploads.campaign_words import campaign_words, organizations_of
from app.portal.uploads.check_page import check_context, path_of
from app.portal.uploads.forms import ACTION_HINTS, UploadForm
from app.portal.uploads.labels import (
    ACTION_NAMES,
    fixes_words,
    ignored_words,
    outcome_words,
    status_badge,
    sum_words,
)
from app.portal.uploads.listing import UPLOADS, Row
from app.portal.uploads.sheet import LONGEST_CELL, reason_words
from app.portal.uploads.undo_views import extent_words, undone_context
from app.portal.web import lists
from app.portal.web.blueprint import Page, portal
from app.portal.web.campaign_steps import is_new
from app.portal.web.editing import Submission
from app.portal.web.formats import day, lasting, number, size
from app.portal.web.fragments import htmx_order, wants_fragment
from app.portal.web.list_definitions import ListDefinition
from app.portal.web.list_pages import list_page
from app.portal.web.user_timezone import zone
from app.services import campaigns, outreach, storage
from app.services.contacts.plan import COUNTS, CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports import (
    corrected_files,
    corrections,
    deletion,
    expiry,
    reports,
    undo,
    uploads,
)
from app.services.imports.corrections import FixCounts
from app.services.imports.uploads import UploadChoices

CAMPAIGNS_SHOWN = 25
FAILED_SHOWN = 5
AT_WORK = (ImportState.UPLOADED, ImportState.READING, ImportState.APPLYING)


@portal.get("/uploads", endpoint="uploads")
def list_uploads() -> str:
    with transaction(read_only=True) as session:
        shown = uploads_page(session, UPLOADS)
    return render_template("portal/uploads/list.html", **shown)


def uploads_page(session: Session, definition: ListDefinition[Row]) -> dict[str, Any]:
    """Return a page of uploads for the templates, by the filters and the cursor of the URL."""
    return {
        "list": list_page(session, definition),
        "status_badge": status_badge,
        "actions": ACTION_NAMES,
        "can_be_undone": undo.can_be_undone,
        "can_be_deleted": deletion.can_be_deleted,
        "ending_of": reports.ending_of,
        "undo_days": settings().undo_days,
    }


@portal.get("/uploads/new")
def upload_choose_campaign() -> str:
    """Ask for the campaign of a new upload."""
    query = lists.text_filter("q")
    with transaction(read_only=True) as session:
        found = campaigns.search(
            session, caller(), query=query, archived=False, sort="name", limit=CAMPAIGNS_SHOWN
        )
        rows = _choices(session, found.items)
    return render_template(
        "portal/choose.html",
        title=gettext("Upload contacts"),
        sentence=gettext("Choose the campaign that gets the contacts."),
        back=(gettext("Uploads"), url_for("portal.uploads")),
        action=url_for("portal.upload_choose_campaign"),
        search_label=gettext("Name or organization"),
        rows=rows,
        symbol="speakerphone",
        more=found.next_cursor is not None,
        query=query,
        no_match=gettext("No campaign matches."),
        empty_title=gettext("No campaigns yet"),
        empty_text=gettext("A campaign holds the contacts to call. Create one first."),
        create=(gettext("Create campaign"), url_for("portal.campaign_new"))
        if caller().may(Permission.CAMPAIGNS_WRITE)
        else None,
    )


def _choices(session: Session, found: Sequence[Campaign]) -> list[tuple[str, str, str]]:
    """Return the campaigns with what tells them apart, and their URLs: those with the same name
    with their organization, others with it below."""
    names = organizations_of(session, found)
    same = Counter(row.name for row in found)
    rows = []
    for row in found:
        owner = names.get(row.organization_id)
        below = ngettext(
            "%(num)s contact, created %(day)s",
            "%(num)s contacts, created %(day)s",
            row.contact_count,
            num=number(row.contact_count),
            day=day(row.created_at, zone()),
        )
        name, text = campaign_words(row.name, owner), below
        if owner and same[row.name] == 1:
            name, text = row.name, f"{owner}, {below}"
        rows.append((name, text, url_for("portal.upload_new", campaign_id=row.id)))
    return rows


@portal.get("/campaigns/<uuid:campaign_id>/upload")
def upload_new(campaign_id: UUID) -> str:
    """Ask for the file; with ``corrects`` in the URL, one for the failed rows of that upload."""
    return _choose_page(campaign_id, UploadForm())


@portal.post("/campaigns/<uuid:campaign_id>/upload")
def upload_create(campaign_id: UUID) -> Page:
    """Store the file and start its check."""
    form = UploadForm()
    sent: FileStorage | None = form.file.data
    with transaction(read_only=True) as session:
        campaigns.get(session, caller(), campaign_id)
        corrects = _to_correct(session, campaign_id)
    if not form.validate():
        return _choose_page(campaign_id, form), 422
    if sent is None or sent.filename is None:
        form.file.errors = (gettext("Choose a contact file."),)
        return _choose_page(campaign_id, form), 422
    try:
        kept = files().save(sent.stream, max_bytes=settings().max_upload_bytes)
        url = created(
            campaign_id,
            kept,
            kept.sha256,
            file_name=sent.filename,
            action=form.chosen_action,
            corrects=corrects,
        )
    except (ValidationFailed, TooLarge) as error:
        form.file.errors = (error.message,)
        return _choose_page(campaign_id, form), 413 if isinstance(error, TooLarge) else 422
    return redirect(url, 303)


def created(
    campaign_id: UUID,
    kept: StoredFile,
    *sent: str,
    file_name: str,
    action: ContactAction,
    chosen: UploadChoices | None = None,
    corrects: ContactImport | None = None,
) -> str:
    """Create an upload of the stored file, once for a form that is sent twice with the same
    ``sent``; return its URL. Raises as `uploads.create`, without the file."""
    with deleted_on_error(kept.key), transaction() as session:
        submission = Submission(session, *sent)
        made = uploads.create(
            session,
            caller(),
            campaign_id,
            action=action,
            file=kept,
            file_name=file_name,
            storage_defaults=settings().storage_defaults,
            chosen=chosen,
            corrects=corrects,
        )
        return submission.led_to(url_for("portal.upload", upload_id=made.id))


@portal.get("/uploads/<uuid:upload_id>")
def upload(upload_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = uploads.get(session, caller(), upload_id)
        page, more = _page_of(session, found)
        return render_template(page, **about(session, found) | more)


def _page_of(session: Session, found: ContactImport) -> tuple[str, dict[str, Any]]:
    """Return the page of the upload's state, and what it shows besides `about`."""
    if found.state in AT_WORK:
        return "portal/uploads/working.html", {}
    if found.undo_state == undo.UNDOING:
        extent = extent_words(*undo.extent(session, found))
        return "portal/uploads/undoing.html", {"extent": extent}
    if found.undo_state == undo.UNDONE:
        return "portal/uploads/undone.html", _result(session, found) | undone_context(found)
    if found.state is ImportState.CHECKED:
        return "portal/uploads/check.html", check_context(session, found)
    if found.expected is not None:
        return "portal/uploads/result.html", _result(session, found)
    return "portal/uploads/ended.html", {}


@portal.get("/uploads/<uuid:upload_id>/live")
def upload_live(upload_id: UUID) -> Page:
    """Return the panel that reloads itself while the worker is busy; then the whole
    page is loaded."""
    with transaction(read_only=True) as session:
        found = uploads.get(session, caller(), upload_id)
        if found.state in AT_WORK or found.undo_state == undo.UNDOING:
            return render_template("portal/uploads/_working.html", **about(session, found))
    if wants_fragment():
        return htmx_order("HX-Refresh", "true", 200)
    return redirect(url_for("portal.upload", upload_id=upload_id), 303)


def _choose_page(campaign_id: UUID, form: UploadForm) -> str:
    defaults = settings().storage_defaults
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        owner = organizations_of(session, [campaign]).get(campaign.organization_id)
        return render_template(
            "portal/uploads/choose.html",
            campaign=campaign,
            corrects=_to_correct(session, campaign_id),
            campaign_words=campaign_words(campaign.name, owner),
            usage=storage.of_organization(session, caller(), campaign.organization_id, defaults),
            form=form,
            hints=ACTION_HINTS,
            most=size_words(settings().max_upload_bytes),
            is_new=is_new(),
        )


def _to_correct(session: Session, campaign_id: UUID) -> ContactImport | None:
    """Return the upload that the URL names. Raises `NotFound`."""
    named = request.args.get("corrects")
    if named is None:
        return None
    try:
        upload_id = UUID(named)
    except ValueError:
        raise NotFound from None
    return corrected_files.to_correct(session, caller(), campaign_id, upload_id)


def about(session: Session, found: ContactImport) -> dict[str, Any]:
    own = found.created_by is not None and found.created_by == current_user.id
    return {
        "upload": found,
        **path_of(session, found),
        # Translators: the reader, in "Started 10:47 by you."
        "author": pgettext("by", "you") if own else found.author,
        "failure": in_language(found.failure) if found.failure else None,
        "corrects": corrected_files.corrected_by(session, caller(), found),
        "counts": [getattr(found, name) for name in COUNTS],
        "sum_words": sum_words([getattr(found, name) for name in COUNTS], found.rows_total),
        "action": str(ACTION_NAMES[found.action]),
        "to_apply": uploads.rows_to_apply(found),
        "left": uploads.rows_left(found),
        "pace": _pace(found),
        "can_go_on": uploads.can_go_on(found),
        "can_be_read_again": uploads.can_be_read_again(found),
        "ending": reports.ending_of(found),
        "undo_until": undo.ends_at(found, settings().undo_days),
        "can_be_undone": undo.can_be_undone(found, settings().undo_days),
        "is_deletable": deletion.can_be_deleted(found),
    }


def _pace(found: ContactImport) -> str:
    """1,210 rows a second, about 20 s left: an estimate, empty at the beginning."""
    if found.apply_started_at is None or not found.rows_applied or found.apply_number > 1:
        return ""
    spent = max((utcnow() - found.apply_started_at).total_seconds(), 0.001)
    seconds = math.ceil(spent / found.rows_applied * uploads.rows_left(found))
    rate = round(found.rows_applied / spent)
    left = f"{seconds}{NO_BREAK}s" if seconds < 120 else f"{math.ceil(seconds / 60)}{NO_BREAK}min"
    if not rate:
        return gettext("about %(time)s left", time=left)
    return ngettext(
        "%(num)s row a second, about %(time)s left",
        "%(num)s rows a second, about %(time)s left",
        rate,
        time=left,
    )


_DIFFERENCES = {
    CREATED: lambda now, then: gettext("%(now)s created instead of %(then)s", now=now, then=then),
    UPDATED: lambda now, then: gettext("%(now)s updated instead of %(then)s", now=now, then=then),
    DELETED: lambda now, then: gettext("%(now)s deleted instead of %(then)s", now=now, then=then),
    IGNORED: lambda now, then: gettext("%(now)s ignored instead of %(then)s", now=now, then=then),
    FAILED: lambda now, then: gettext("%(now)s failed instead of %(then)s", now=now, then=then),
}


def _result(session: Session, found: ContactImport) -> dict[str, Any]:
    expected = found.expected or {}
    complete = found.state is ImportState.DONE
    differences = [
        _DIFFERENCES[name](number(getattr(found, name)), number(expected[name]))
        for name in COUNTS
        if complete and getattr(found, name) != expected[name]
    ]
    counts = [getattr(found, name) for name in COUNTS]
    later = corrected_files.corrected_files_of(session, found)
    is_open = any(each.upload.finished_at is None for each in later)
    to_fix = corrected_files.rows_to_fix(found)
    to_fix -= sum(corrected_files.rows_to_fix(each.upload) for each in later)  # are fixed there
    return {
        "corrected_files": later,
        "can_fix": to_fix > 0 and not is_open and found.rows_forgotten_at is None,
        "differences": ", ".join(differences),
        "ignored": ignored_words(reports.ignored_kinds(session, found)),
        "outcome": outcome_words(found, uploads.rows_left(found)),
        "next_step": _next_step(session, found),
        "failed_rows": _failed_rows(session, found),
        "entries": _history(found, corrections.count_fixes(session, found)),
        "rows_kept_until": expiry.kept_until(found, settings().rows_kept_days),
        "rest_words": sum_words([*counts, uploads.rows_left(found)], found.rows_total),
    }


def _next_step(session: Session, found: ContactImport) -> tuple[str, str] | None:
    """Return the words and the URL of what the campaign needs before it calls; None if it runs, or
    the user may not change it."""
    campaign = session.get_one(Campaign, found.campaign_id)
    is_paused = campaign.status is CampaignStatus.PAUSED and campaign.contact_count > 0
    if not is_paused or not caller().may(Permission.CAMPAIGNS_WRITE):
        return None
    plan = outreach.stored_plan(session, campaign)
    if plan is None:
        words, endpoint = pgettext("campaign", "Create plan"), "portal.campaign_plan"
    else:
        words = gettext("Resume campaign") if plan.started_at else gettext("Start campaign")
        words, endpoint = f"{words}…", "portal.campaign_start_confirm"
    return words, url_for(endpoint, campaign_id=campaign.id)


def _failed_rows(session: Session, found: ContactImport) -> list[tuple[int, str, str]]:
    """Return the first rows that were not applied: number, the value that is wrong, why."""
    page = reports.page(session, found, outcome=FAILED, limit=FAILED_SHOWN)
    rows = []
    for row in page.rows:
        problem = next((each for each in row.problems if not each.is_warning), None)
        index = problem.column_index if problem else None
        value = "" if index is None else f"{found.columns[index]}: {row.cells[index]}"
        rows.append((row.number, value[:LONGEST_CELL], reason_words(problem) if problem else ""))
    return rows


def _history(found: ContactImport, fixes: FixCounts) -> list[dict[str, Any]]:
    last = {
        ImportState.DONE: (gettext("Applied"), "done"),
        ImportState.CANCELLED: (gettext("Stopped"), "failed"),
        ImportState.FAILED: (gettext("Stopped by an error"), "failed"),
    }[found.state]
    return [
        {
            "title": gettext("Uploaded"),
            "text": _sizes(found),
            "when": _clock(found.created_at),
            "state": "done",
        },
        {
            "title": gettext("Checked"),
            "text": ", ".join([_rows(found.rows_total), *fixes_words(fixes)]),
            "when": _clock(found.checked_at),
            "state": "done",
        },
        {
            "title": last[0],
            "text": _applied(found),
            "when": _clock(found.finished_at),
            "state": last[1],
        },
    ]


def _sizes(found: ContactImport) -> str:
    """924 B file, 7.8 kB with check results"""
    if not found.stored_bytes:
        return size(found.file_size)
    return gettext(
        "%(file)s file, %(all)s with check results",
        file=size(found.file_size),
        all=size(found.file_size + found.stored_bytes),
    )


def _rows(count: int) -> str:
    return ngettext("%(num)s row", "%(num)s rows", count)


def _applied(found: ContactImport) -> str:
    rows = _rows(found.rows_applied)
    if found.apply_started_at is None or found.finished_at is None or found.apply_number > 1:
        return rows
    took = (found.finished_at - found.apply_started_at).total_seconds()
    time = f"{written(took, 1)}{NO_BREAK}s" if took < 90 else lasting(round(took))
    return gettext("%(rows)s in %(time)s", rows=rows, time=time)


def _clock(moment: datetime | None) -> str:
    return f"{moment.astimezone(ZoneInfo(zone())):%H:%M:%S}" if moment else ""
