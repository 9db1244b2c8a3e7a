"""The page of an upload that was applied or stopped: the result, and the next step."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, ImportStatus, OrganizationStatus
from app.extensions import caller
from app.languages import gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK
from app.languages.numbers import localize_number
from app.models import Campaign, ContactImport, Organization
from app.policy import Permission
from app.portal.uploads.closed_countries import closed_countries_warning
from app.portal.uploads.labels import (
    correction_labels,
    ignored_label,
    outcome_message,
    result_title,
    sum_message,
)
from app.portal.uploads.sheet import MAX_CELL_LENGTH, problem_message
from app.portal.uploads.upload_pages import days_kept
from app.portal.web.formats import duration, number, size
from app.portal.web.user_timezone import zone
from app.services import outreach
from app.services.contacts.results import COUNTS, CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports import (
    corrected_files,
    corrections,
    expiry,
    reports,
    uploads,
)
from app.services.imports.corrections import CorrectionCounts

FAILED_SHOWN = 5
_DIFFERENCES = {
    CREATED: lambda now, then: gettext("%(now)s created instead of %(then)s", now=now, then=then),
    UPDATED: lambda now, then: gettext("%(now)s updated instead of %(then)s", now=now, then=then),
    DELETED: lambda now, then: gettext("%(now)s deleted instead of %(then)s", now=now, then=then),
    IGNORED: lambda now, then: gettext("%(now)s ignored instead of %(then)s", now=now, then=then),
    FAILED: lambda now, then: gettext("%(now)s failed instead of %(then)s", now=now, then=then),
}


def result_context(session: Session, upload: ContactImport) -> dict[str, Any]:
    expected = upload.expected or {}
    complete = upload.status is ImportStatus.DONE
    differences = [
        _DIFFERENCES[name](number(getattr(upload, name)), number(expected[name]))
        for name in COUNTS
        if complete and getattr(upload, name) != expected[name]
    ]
    figures = uploads.figures_of(upload)
    is_as_checked = upload.found.get("equalRows", 0) == uploads.unchanged_rows(upload)
    later = corrected_files.corrected_files_of(session, upload)
    is_open = any(each.upload.finished_at is None for each in later)
    unfixed_rows = corrected_files.rows_to_fix(upload)
    unfixed_rows -= sum(
        corrected_files.rows_to_fix(each.upload) for each in later
    )  # are fixed there
    return {
        "title": result_title(upload),
        "corrected_files": later,
        "closed_countries": closed_countries_warning(session, upload),
        "can_fix": unfixed_rows > 0
        and not is_open
        and upload.rows_forgotten_at is None
        and not _is_archived(session, upload),
        "differences": ", ".join(differences),
        "same_figures": complete and not differences and is_as_checked,
        "ignored": ignored_label(reports.ignored_kinds(session, upload)),
        "outcome": outcome_message(upload, uploads.rows_left(upload)),
        "next_step": _next_step(session, upload),
        "failed_rows": _failed_rows(session, upload),
        "entries": _history(upload, corrections.count_corrections(session, upload)),
        "rows_kept_until": expiry.kept_until(upload, days_kept(session, upload)),
        "rest_message": sum_message(
            [*figures.values(), uploads.rows_left(upload)], upload.rows_total
        ),
    }


def _next_step(session: Session, upload: ContactImport) -> tuple[str, str] | None:
    """Return the words and the URL of what the campaign needs before it calls; None if it runs, or
    the user may not change it."""
    campaign = session.get_one(Campaign, upload.campaign_id)
    is_paused = campaign.status is CampaignStatus.PAUSED and campaign.contact_count > 0
    if not is_paused or not caller().may(Permission.CAMPAIGNS_WRITE):
        return None
    if _is_archived(session, upload):
        return None
    plan = outreach.stored_plan(session, campaign)
    if plan is None:
        label, endpoint = pgettext("campaign", "Create plan"), "portal.campaigns.edit_plan"
    else:
        label = gettext("Resume campaign") if plan.started_at else gettext("Start campaign")
        label, endpoint = gettext("%(act)s…", act=label), "portal.campaigns.confirm_start_calling"
    return label, url_for(endpoint, campaign_id=campaign.id)


def _is_archived(session: Session, upload: ContactImport) -> bool:
    """Return whether the organization is archived: it accepts no contacts and calls no one."""
    organization = session.get_one(Organization, upload.organization_id)
    return organization.status is OrganizationStatus.ARCHIVED


def _failed_rows(session: Session, upload: ContactImport) -> list[tuple[int, str, str]]:
    """Return the first rows that were not applied: number, wrong value, reason."""
    page = reports.page(session, upload, outcome=FAILED, limit=FAILED_SHOWN)
    rows = []
    for row in page.rows:
        problem = next((each for each in row.problems if not each.is_warning), None)
        index = problem.column_index if problem else None
        value = ""
        if index is not None:
            value = f"{upload.columns[index]}: {row.cells[index] or gettext('empty')}"
        rows.append(
            (row.number, value[:MAX_CELL_LENGTH], problem_message(problem) if problem else "")
        )
    return rows


def _history(upload: ContactImport, counts: CorrectionCounts) -> list[dict[str, Any]]:
    last = {
        ImportStatus.DONE: (gettext("Applied"), "done"),
        ImportStatus.CANCELLED: (gettext("Stopped"), "failed"),
        ImportStatus.FAILED: (gettext("Stopped by an error"), "failed"),
    }[upload.status]
    return [
        {
            "title": pgettext("upload", "Uploaded"),
            "text": _sizes_label(upload),
            "when": _clock(upload.created_at),
            "state": "done",
        },
        {
            "title": pgettext("upload", "Checked"),
            "text": ", ".join([_rows_label(upload.rows_total), *correction_labels(counts)]),
            "when": _clock(upload.checked_at),
            "state": "done",
        },
        {
            "title": last[0],
            "text": _applied_label(upload),
            "when": _clock(upload.finished_at),
            "state": last[1],
        },
    ]


def _sizes_label(upload: ContactImport) -> str:
    """Return the sizes: 924 B file, 7.8 kB with check results."""
    if not upload.stored_bytes:
        return size(upload.file_size)
    return gettext(
        "%(file)s file, %(all)s with check results",
        file=size(upload.file_size),
        all=size(upload.file_size + upload.stored_bytes),
    )


def _rows_label(count: int) -> str:
    return ngettext("%(num)s row", "%(num)s rows", count)


def _applied_label(upload: ContactImport) -> str:
    rows = _rows_label(upload.rows_applied)
    if upload.apply_started_at is None or upload.finished_at is None or upload.apply_number > 1:
        return rows
    elapsed = (upload.finished_at - upload.apply_started_at).total_seconds()
    time = f"{localize_number(elapsed, 1)}{NO_BREAK}s" if elapsed < 90 else duration(round(elapsed))
    return gettext("%(rows)s in %(time)s", rows=rows, time=time)


def _clock(moment: datetime | None) -> str:
    return f"{moment.astimezone(ZoneInfo(zone())):%H:%M:%S}" if moment else ""
