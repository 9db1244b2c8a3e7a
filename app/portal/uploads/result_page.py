"""The page of an upload that was applied or stopped: the result, and the next step."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, ImportState, OrganizationStatus
from app.extensions import caller, settings
from app.languages import gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK
from app.languages.numbers import written_number
from app.models import Campaign, ContactImport, Organization
from app.policy import Permission
from app.portal.uploads.labels import (
    fixes_words,
    ignored_words,
    outcome_words,
    sum_words,
)
from app.portal.uploads.sheet import MAX_CELL_LENGTH, reason_words
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
from app.services.imports.corrections import FixCounts

FAILED_SHOWN = 5
_DIFFERENCES = {
    CREATED: lambda now, then: gettext("%(now)s created instead of %(then)s", now=now, then=then),
    UPDATED: lambda now, then: gettext("%(now)s updated instead of %(then)s", now=now, then=then),
    DELETED: lambda now, then: gettext("%(now)s deleted instead of %(then)s", now=now, then=then),
    IGNORED: lambda now, then: gettext("%(now)s ignored instead of %(then)s", now=now, then=then),
    FAILED: lambda now, then: gettext("%(now)s failed instead of %(then)s", now=now, then=then),
}


def result_context(session: Session, found: ContactImport) -> dict[str, Any]:
    expected = found.expected or {}
    complete = found.state is ImportState.DONE
    differences = [
        _DIFFERENCES[name](number(getattr(found, name)), number(expected[name]))
        for name in COUNTS
        if complete and getattr(found, name) != expected[name]
    ]
    figures = uploads.figures_of(found)
    is_as_checked = found.found.get("equalRows", 0) == uploads.unchanged_rows(found)
    later = corrected_files.corrected_files_of(session, found)
    is_open = any(each.upload.finished_at is None for each in later)
    to_fix = corrected_files.rows_to_fix(found)
    to_fix -= sum(corrected_files.rows_to_fix(each.upload) for each in later)  # are fixed there
    return {
        "corrected_files": later,
        "can_fix": to_fix > 0
        and not is_open
        and found.rows_forgotten_at is None
        and not _is_archived(session, found),
        "differences": ", ".join(differences),
        "same_figures": complete and not differences and is_as_checked,
        "ignored": ignored_words(reports.ignored_kinds(session, found)),
        "outcome": outcome_words(found, uploads.rows_left(found)),
        "next_step": _next_step(session, found),
        "failed_rows": _failed_rows(session, found),
        "entries": _history(found, corrections.count_fixes(session, found)),
        "rows_kept_until": expiry.kept_until(found, settings().rows_kept_days),
        "rest_words": sum_words([*figures.values(), uploads.rows_left(found)], found.rows_total),
    }


def _next_step(session: Session, found: ContactImport) -> tuple[str, str] | None:
    """Return the words and the URL of what the campaign needs before it calls; None if it runs, or
    the user may not change it."""
    campaign = session.get_one(Campaign, found.campaign_id)
    is_paused = campaign.status is CampaignStatus.PAUSED and campaign.contact_count > 0
    if not is_paused or not caller().may(Permission.CAMPAIGNS_WRITE):
        return None
    if _is_archived(session, found):
        return None
    plan = outreach.stored_plan(session, campaign)
    if plan is None:
        words, endpoint = pgettext("campaign", "Create plan"), "portal.campaign_plan"
    else:
        words = gettext("Resume campaign") if plan.started_at else gettext("Start campaign")
        words, endpoint = gettext("%(act)s…", act=words), "portal.campaign_start_confirm"
    return words, url_for(endpoint, campaign_id=campaign.id)


def _is_archived(session: Session, found: ContactImport) -> bool:
    """Return whether the organization is archived: it accepts no contacts and calls no one."""
    organization = session.get_one(Organization, found.organization_id)
    return organization.status is OrganizationStatus.ARCHIVED


def _failed_rows(session: Session, found: ContactImport) -> list[tuple[int, str, str]]:
    """Return the first rows that were not applied: number, wrong value, reason."""
    page = reports.page(session, found, outcome=FAILED, limit=FAILED_SHOWN)
    rows = []
    for row in page.rows:
        problem = next((each for each in row.problems if not each.is_warning), None)
        index = problem.column_index if problem else None
        value = "" if index is None else f"{found.columns[index]}: {row.cells[index]}"
        rows.append((row.number, value[:MAX_CELL_LENGTH], reason_words(problem) if problem else ""))
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
    """Return the sizes: 924 B file, 7.8 kB with check results."""
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
    time = f"{written_number(took, 1)}{NO_BREAK}s" if took < 90 else duration(round(took))
    return gettext("%(rows)s in %(time)s", rows=rows, time=time)


def _clock(moment: datetime | None) -> str:
    return f"{moment.astimezone(ZoneInfo(zone())):%H:%M:%S}" if moment else ""
