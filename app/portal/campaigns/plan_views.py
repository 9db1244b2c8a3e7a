"""The outreach of a campaign: its plan, starting and pausing it, its progress."""

from collections import Counter
from typing import Any
from uuid import UUID

from flask import flash, redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import CampaignStatus, CarrierKind
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Campaign, Outreach
from app.policy import Permission
from app.portal.campaigns.labels import (
    LEFT_OUT_WORDS,
    ahead_words,
    blocker_words,
    calls_of_round,
    closed_link,
    closed_words,
    consequences,
    left_out_words,
    plan_facts,
    reason_words,
    removed_words,
    result_figures,
    status_words,
    waiting_words,
)
from app.portal.campaigns.plan_forms import MESSAGE_HINTS, PlanForm
from app.portal.campaigns.views import about
from app.portal.web import lists
from app.portal.web.blueprint import Page, portal
from app.portal.web.campaign_steps import is_new, steps_of_new
from app.portal.web.confirmation import Confirmation
from app.portal.web.formats import night_words
from app.portal.web.forms import flash_saved, refused
from app.services import assistants, campaigns, organizations, outreach
from app.services.outreach.plans import MOST_WORDS, speakers
from app.services.outreach.progress import NOT_ALLOWED


@portal.get("/campaigns/<uuid:campaign_id>/outreach")
def campaign_outreach(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        return render_template(
            "portal/campaigns/outreach.html", **about(session, found), **_shown(session, found)
        )


@portal.get("/campaigns/<uuid:campaign_id>/outreach/live")
def campaign_outreach_live(campaign_id: UUID) -> str:
    """Return the panel of a running campaign, which reloads itself."""
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        return render_template(
            "portal/campaigns/_progress.html", campaign=found, **_shown(session, found)
        )


@portal.get("/campaigns/<uuid:campaign_id>/outreach/left-out")
def campaign_left_out(campaign_id: UUID) -> str:
    """Show the contacts that the current round leaves out, and why."""
    at = lists.place()
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        page = outreach.left_out(
            session,
            found,
            reason=lists.text_filter("reason"),
            cursor=at.cursor,
            limit=lists.PAGE_SIZE,
        )
        return render_template(
            "portal/campaigns/left_out.html",
            **about(session, found),
            rows=[(row, *_reason(found, row)) for row in page.items],
            reasons=LEFT_OUT_WORDS,
            place=at,
            next_url=at.next_url(page.next_cursor),
            clear_url=lists.clear_url("reason"),
        )


def _reason(found: Campaign, row: outreach.LeftOut) -> tuple[str, str | None]:
    """Return why a contact is left out, and a link to what would change that."""
    if row.country is None:
        return reason_words(row.reason), None
    return closed_words(row.country), closed_link(found, row.country)


@portal.get("/campaigns/<uuid:campaign_id>/outreach/plan")
def campaign_plan(campaign_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        form = _stored(session, found)
    return _plan_page(found, form)


@portal.post("/campaigns/<uuid:campaign_id>/outreach/plan")
def campaign_plan_save(campaign_id: UUID) -> Page:
    form = PlanForm()
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
    if not form.validate():
        return _plan_page(found, form), 422
    try:
        with transaction() as session:
            changed = outreach.change_plan(
                session,
                caller(),
                campaign_id,
                form.to_plan(),
                most_at_once=settings().calls_per_organization,
                expected_version=form.version.data,
            )
            plan = outreach.stored_plan(session, found)
            at_night = _at_night(session, found, plan) if plan else None
    except (ValidationFailed, Conflict) as error:

        def stored(session: Session) -> PlanForm:
            form.offer(speakers(session, found))
            return _stored(session, campaigns.get(session, caller(), campaign_id))

        target = ("campaign", campaign_id)
        return refused(error, form, lambda: _plan_page(found, form), stored=stored, target=target)
    flash_saved(gettext("The plan was saved."), changed)
    if changed and at_night:
        flash(at_night, "warning")
    if is_new() and caller().may(Permission.CONTACTS_WRITE):
        return redirect(url_for("portal.upload_new", campaign_id=campaign_id, new=1), 303)
    return redirect(url_for("portal.campaign_outreach", campaign_id=campaign_id), 303)


@portal.get("/campaigns/<uuid:campaign_id>/outreach/start")
def campaign_start_confirm(campaign_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        plan = outreach.stored_plan(session, found)
        if plan is None:
            return redirect(url_for("portal.campaign_plan", campaign_id=campaign_id), 303)
        forecast = outreach.forecast(session, found)
        return _starting(session, found, plan, forecast, again=False).page()


@portal.post("/campaigns/<uuid:campaign_id>/outreach/start")
def campaign_start(campaign_id: UUID) -> Response:
    return _start(campaign_id, again=False)


@portal.get("/campaigns/<uuid:campaign_id>/outreach/again")
def campaign_again_confirm(campaign_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        plan = outreach.stored_plan(session, found)
        if plan is None or not outreach.progress_of(session, found).is_over:
            return redirect(url_for("portal.campaign_outreach", campaign_id=campaign_id), 303)
        forecast = outreach.forecast(session, found, again=True)
        return _starting(session, found, plan, forecast, again=True).page()


@portal.post("/campaigns/<uuid:campaign_id>/outreach/again")
def campaign_again(campaign_id: UUID) -> Response:
    return _start(campaign_id, again=True)


@portal.post("/campaigns/<uuid:campaign_id>/outreach/pause")
def campaign_pause(campaign_id: UUID) -> Response:
    try:
        with transaction() as session:
            found = outreach.pause(session, caller(), campaign_id)
        words = gettext(
            "%(campaign)s is paused. Calls in progress continue to their end.", campaign=found.name
        )
        flash(words, "success")
    except Conflict as error:
        flash(error.message, "warning")
    return redirect(url_for("portal.campaign_outreach", campaign_id=campaign_id), 303)


def _start(campaign_id: UUID, *, again: bool) -> Response:
    try:
        with transaction() as session:
            found = outreach.start(session, caller(), campaign_id, again=again)
        flash(gettext("%(campaign)s is running.", campaign=found.name), "success")
    except Conflict as error:
        words = gettext("The campaign was not started. %(reason)s", reason=error.message)
        flash(words, "warning")
    return redirect(url_for("portal.campaign_outreach", campaign_id=campaign_id), 303)


def _shown(session: Session, found: Campaign) -> dict[str, Any]:
    """Return the data that the page and its live panel share."""
    plan = outreach.stored_plan(session, found)
    progress = outreach.progress_of(session, found)
    running = found.status is CampaignStatus.ACTIVE
    shown: dict[str, Any] = {
        "plan": plan,
        "progress": progress,
        "running": running,
        "status": status_words(found, plan, progress),
        "waiting": waiting_words(progress) if running else None,
        "results": result_figures(found, progress),
        "called_url": calls_of_round(found),
        "left_out": left_out_words(progress, _closed(session, found, progress.left_out)),
        "facts_of_plan": [],
        "confirmation": None,
        "needs_contacts": False,
        "blocker": None,
        "ahead": ahead_words(progress),
        "removed": removed_words(progress),
    }
    if plan is not None:
        assistant = assistants.get(session, caller(), plan.assistant_id)
        shown["blocker"] = blocker_words(found, plan, _blocker(session, found, plan))
        shown["facts_of_plan"] = plan_facts(plan, assistant)
        is_archived = found.status is CampaignStatus.ARCHIVED
        shown["needs_contacts"] = not found.contact_count and not is_archived
        if found.contact_count and not is_archived and (not running or progress.is_over):
            again = plan.started_at is not None and progress.is_over and progress.called > 0
            forecast = outreach.forecast(session, found, again=again)
            shown["confirmation"] = _starting(session, found, plan, forecast, again=again)
    return shown


def _blocker(session: Session, found: Campaign, plan: Outreach) -> outreach.CampaignBlocker | None:
    return outreach.blocker(session, found, plan, CarrierKind(settings().carrier))


def _closed(
    session: Session, found: Campaign, left_out: dict[str, int]
) -> Counter[outreach.ClosedCountry]:
    """Count the contacts left out because of their country, if a number may not be called."""
    return outreach.closed_countries(session, found) if NOT_ALLOWED in left_out else Counter()


def _at_night(session: Session, found: Campaign, plan: Outreach) -> str | None:
    organization = organizations.get(session, caller(), found.organization_id)
    return night_words(*outreach.hours_of(plan, organization))


def _starting(
    session: Session,
    found: Campaign,
    plan: Outreach,
    forecast: outreach.Forecast,
    *,
    again: bool,
) -> Confirmation:
    resumes = plan.started_at is not None and not again
    if again:
        title = gettext("Call all contacts of %(campaign)s again?", campaign=found.name)
        act = gettext("Call all again")
    elif resumes:
        title = gettext("Resume %(campaign)s?", campaign=found.name)
        act = gettext("Resume campaign")
    else:
        title = gettext("Start %(campaign)s?", campaign=found.name)
        act = gettext("Start campaign")
    endpoint = "portal.campaign_again" if again else "portal.campaign_start"
    return Confirmation(
        action=url_for(endpoint, campaign_id=found.id),
        title=title,
        consequences=consequences(
            found,
            forecast,
            _closed(session, found, forecast.left_out),
            plan,
            _blocker(session, found, plan),
            _at_night(session, found, plan),
        ),
        act=act,
        safe=gettext("Not now"),
        safe_url=url_for("portal.campaign_outreach", campaign_id=found.id),
        danger=False,
    )


def _stored(session: Session, found: Campaign) -> PlanForm:
    form = PlanForm.showing(outreach.plan_of(session, found), found.version)
    form.offer(speakers(session, found))
    return form


def _plan_page(found: Campaign, form: PlanForm) -> str:
    with transaction(read_only=True) as session:
        form.offer(speakers(session, found))
        return render_template(
            "portal/campaigns/plan.html",
            **about(session, found),
            form=form,
            hints=MESSAGE_HINTS,
            most_words=MOST_WORDS,
            most_at_once=settings().calls_per_organization,
            steps_of_new=steps_of_new() if is_new() else None,
        )
