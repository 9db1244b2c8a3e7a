"""What needs a decision: each query reads only a few rows, whatever the size."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, ImportState
from app.errors import in_language
from app.languages import gettext, ngettext
from app.languages.numbers import written
from app.models import ApiKey, Call, ContactImport, OAuthClient, utcnow
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services import alerts, assistants, organizations, partners, pauses, spending, workers
from app.services.branding import surfaces
from app.services.calls import queries
from app.services.calls.queries import UNANSWERED
from app.services.calls.queries import visible as visible_calls
from app.services.outreach import blocked_campaigns
from app.services.pauses import carrier_health
from app.services.spending import budgets
from app.services.tenancy import of_tenant

RECENT = timedelta(days=14)
SOON = timedelta(days=14)
LAST_DAY = timedelta(days=1)
EACH = 2
"""So many of a kind are named; of more, only the number is shown."""
MOST_COUNTED = 100
_UNANSWERED = (CallStatus.NO_ANSWER, CallStatus.BUSY, CallStatus.FAILED, CallStatus.EXPIRED)
"""The order in which calls without an answer are counted."""


class Kind(StrEnum):
    """The subject of an item, and so where it is fixed."""

    ALERT = "alert"
    CALL = "call"
    CALLS_UNKNOWN = "calls-unknown"
    CALLS_UNANSWERED = "calls-unanswered"
    LINE = "line"
    PAUSED = "paused"
    ORGANIZATION_PAUSED = "organization-paused"
    CAMPAIGN = "campaign"
    UPLOAD = "upload"
    LIMIT = "limit"
    SPENDING = "spending"
    PORTAL_SPENDING = "portal-spending"
    ASSISTANT = "assistant"
    ASSISTANTS = "assistants"
    BRAND = "brand"
    CREDENTIAL_KEY = "key"
    CREDENTIAL_CLIENT = "client"


@dataclass(frozen=True, slots=True)
class ActionItem:
    """Something that needs a decision; ``target`` is its record. ``at`` is its end, which is shown
    in the user's zone instead of ``text``."""

    kind: Kind
    title: str
    text: str
    target: UUID | None = None
    urgent: bool = False
    at: datetime | None = None


def action_items(
    session: Session, caller: Caller, *, worker_silent_after: float
) -> list[ActionItem]:
    """Return what needs a decision of this caller, the most urgent first: a fixed number of queries
    for each role. Workers without a heartbeat for so many seconds are offline."""
    found: list[ActionItem] = []
    if caller.partner_id is not None and caller.may(Permission.CALLS_READ):
        found += _offline(session, caller, worker_silent_after)
    for permission, ask in _QUESTIONS:
        if caller.partner_id is not None and caller.may(permission):
            found += ask(session, caller)
    return found


def _unknown_calls(session: Session, caller: Caller) -> list[ActionItem]:
    calls = visible_calls(caller).where(
        Call.status == CallStatus.UNKNOWN, Call.id >= id_at(utcnow() - RECENT)
    )
    found = session.scalars(calls.order_by(Call.id.desc()).limit(MOST_COUNTED)).all()
    if not found:
        return []
    title = ngettext(
        "%(num)s call with unknown outcome",
        "%(num)s calls with unknown outcome",
        len(found),
        num=_count(len(found)),
    )
    if len(found) == 1:
        text = gettext("The carrier could not say whether it was placed.")
        return [ActionItem(Kind.CALL, title, text, found[0].id, urgent=True)]
    text = gettext("The carrier could not say whether they were placed.")
    return [ActionItem(Kind.CALLS_UNKNOWN, title, text, urgent=True)]


def _offline(session: Session, caller: Caller, silent_after: float) -> list[ActionItem]:
    """Calls that wait because no worker is online."""
    if workers.any_alive(session, silent_after):
        return []
    waiting = queries.waiting_calls(session, caller)
    title = gettext("Calling service is offline")
    return [ActionItem(Kind.LINE, title, _waiting(waiting), urgent=True)] if waiting else []


def _waiting(calls: int) -> str:
    if not calls:
        return gettext("No calls are waiting.")
    return ngettext(
        "%(num)s call waits; nothing is lost.",
        "%(num)s calls wait; nothing is lost.",
        calls,
        num=_count(calls),
    )


def _line(session: Session, caller: Caller) -> list[ActionItem]:
    """What holds calls back: pauses of dialling, and a carrier with problems."""
    held = pauses.covering(session, caller)
    lines = [each for each in carrier_health.with_problems(session) if each.state.holds_calls]
    if not held and not lines:
        return []
    words = _waiting(queries.waiting_calls(session, caller))
    found = [
        ActionItem(
            Kind.PAUSED,
            gettext("Calling is paused: %(reason)s", reason=in_language(pause.reason)),
            words,
            urgent=True,
        )
        for pause in held[:1]
    ]
    if lines:
        title = gettext("The carrier isn’t accepting calls")
        found.append(ActionItem(Kind.LINE, title, words, urgent=True))
    return found


def _alerts(session: Session, caller: Caller) -> list[ActionItem]:
    """Open alerts that are not acknowledged."""
    return [
        ActionItem(
            Kind.ALERT, found.title, gettext("Rule: %(rule)s.", rule=found.rule_words), urgent=True
        )
        for found in alerts.open_alerts(session, caller, EACH + 1)
    ]


def _paused_organizations(session: Session, caller: Caller) -> list[ActionItem]:
    """Organizations whose calling is paused."""
    paused = pauses.of_organizations(session, caller)[: EACH + 1]
    ids = [pause.organization_id for pause in paused if pause.organization_id is not None]
    names = organizations.names_of(session, caller, ids) if ids else {}
    return [
        ActionItem(
            Kind.ORGANIZATION_PAUSED,
            gettext("Calling is paused for %(name)s", name=names.get(pause.organization_id, "")),
            in_language(pause.reason),
            pause.organization_id,
            urgent=True,
        )
        for pause in paused
        if pause.organization_id is not None
    ]


def _campaigns(session: Session, caller: Caller) -> list[ActionItem]:
    """Campaigns that run but can call no contact."""
    return [
        ActionItem(
            Kind.CAMPAIGN,
            gettext("%(name)s isn’t calling", name=campaign.name),
            in_language(reason),
            campaign.id,
            urgent=True,
        )
        for campaign, reason in blocked_campaigns(session, caller, EACH + 1)
    ]


def _uploads(session: Session, caller: Caller) -> list[ActionItem]:
    state, failed = ContactImport.state, ContactImport.failed
    rows = _imports(caller).where(
        ContactImport.id >= id_at(utcnow() - RECENT),
        or_(
            state.in_((ImportState.CHECKED, ImportState.FAILED)),
            (state == ImportState.DONE) & (failed > 0) & ContactImport.undone_at.is_(None),
        ),
    )
    found = session.scalars(rows.order_by(ContactImport.id.desc()).limit(EACH + 1)).all()
    return [_about_upload(upload) for upload in found]


def _about_upload(upload: ContactImport) -> ActionItem:
    failed, name = upload.failed, upload.file_name
    if upload.state is ImportState.FAILED:
        title = gettext("%(name)s could not be read", name=name)
        text = gettext("Nothing was applied.")
    elif upload.state is ImportState.DONE:
        title, text = (
            ngettext(
                "%(num)s row was not applied",
                "%(num)s rows were not applied",
                failed,
                num=written(failed),
            ),
            name,
        )
    elif failed:
        title, text = (
            ngettext(
                "%(num)s row needs fixing",
                "%(num)s rows need fixing",
                failed,
                num=written(failed),
            ),
            name,
        )
    else:
        whole = upload.rows_total
        title = gettext("%(name)s is ready to apply", name=name)
        text = ngettext("%(num)s row.", "%(num)s rows.", whole, num=written(whole))
    return ActionItem(
        Kind.UPLOAD, title, text, upload.id, urgent=upload.state is ImportState.FAILED
    )


def _unanswered_calls(session: Session, caller: Caller) -> list[ActionItem]:
    some = (
        visible_calls(caller)
        .where(Call.status.in_(UNANSWERED), Call.id >= id_at(utcnow() - LAST_DAY))
        .with_only_columns(Call.status)
        .limit(MOST_COUNTED)
        .subquery()
    )
    rows = session.execute(select(some.c.status, func.count()).group_by(some.c.status))
    counted: dict[CallStatus, int] = {row[0]: row[1] for row in rows}
    whole = sum(counted.values())
    if not whole:
        return []
    title = ngettext(
        "%(num)s call without an answer in 24 hours",
        "%(num)s calls without an answer in 24 hours",
        whole,
        num=_count(whole),
    )
    text = ", ".join(
        _unanswered(status, counted[status]) for status in _UNANSWERED if status in counted
    )
    return [ActionItem(Kind.CALLS_UNANSWERED, title, text if whole < MOST_COUNTED else "")]


def _unanswered(status: CallStatus, count: int) -> str:
    match status:
        case CallStatus.NO_ANSWER:
            return ngettext("%(num)s not picked up", "%(num)s not picked up", count)
        case CallStatus.BUSY:
            return ngettext("%(num)s busy", "%(num)s busy", count)
        case CallStatus.FAILED:
            return ngettext("%(num)s failed", "%(num)s failed", count)
        case _:
            return ngettext("%(num)s not placed in time", "%(num)s not placed in time", count)


def _limits(session: Session, caller: Caller) -> list[ActionItem]:
    """Organizations with room for several that have used nearly all of it."""
    return [
        ActionItem(Kind.LIMIT, near.organization.name, near.words, near.organization.id)
        for near in organizations.near_limits(session, caller, EACH + 1)
    ]


def _spending(session: Session, caller: Caller) -> list[ActionItem]:
    """Spending limits that are reached, or nearly: of organizations, and of the portal for those
    who may see it."""
    return [
        ActionItem(
            Kind.PORTAL_SPENDING if near.organization_id is None else Kind.SPENDING,
            near.name or gettext("Your portal"),
            gettext("A spending limit is reached: calls are refused or wait.")
            if near.is_reached
            else gettext("A spending limit is nearly used."),
            near.organization_id,
            urgent=near.is_reached,
        )
        for near in spending.near_limits(session, caller, EACH + 1)
        if near.organization_id is not None or caller.may(Permission.PARTNER_WRITE)
    ]


def _budgets(session: Session, caller: Caller) -> list[ActionItem]:
    """Budgets of which most is spent, in the order of `_spending`."""
    return [
        ActionItem(
            Kind.SPENDING if each.organization else Kind.PORTAL_SPENDING,
            each.organization.name if each.organization else gettext("Your portal"),
            gettext("%(num)s %% of this month’s budget is spent.", num=each.percent),
            each.organization.id if each.organization else None,
            urgent=each.percent >= 100,
        )
        for each in budgets.reached(session, caller, EACH + 1)
        if each.organization is not None or caller.may(Permission.PARTNER_WRITE)
    ]


def _assistants(session: Session, caller: Caller) -> list[ActionItem]:
    page = assistants.search(
        session, caller, wanted=assistants.Readiness.NOT_READY, sort="-created", limit=MOST_COUNTED
    )
    found = page.items
    ids = {assistant.organization_id for assistant in found[:EACH]}
    names = organizations.names_of(session, caller, ids)
    if len(found) > EACH:
        title = ngettext(
            "%(num)s assistant can’t call yet",
            "%(num)s assistants can’t call yet",
            len(found),
            num=_count(len(found)),
        )
        text = gettext("Something is missing: a number, its set-up, or an active organization.")
        return [ActionItem(Kind.ASSISTANTS, title, text)]
    return [
        ActionItem(
            Kind.ASSISTANT,
            gettext("%(name)s can’t call yet", name=assistant.name),
            gettext(
                "%(organization)s: its phone is not set up.",
                organization=names.get(assistant.organization_id, ""),
            ),
            assistant.id,
        )
        for assistant in found
    ]


def _brand(session: Session, caller: Caller) -> list[ActionItem]:
    missing = surfaces.missing(partners.get(session, caller, partners.own(caller)))
    if not missing:
        return []
    title = ngettext(
        "Your brand is incomplete in %(num)s place",
        "Your brand is incomplete in %(num)s places",
        len(missing),
    )
    names, more = ", ".join(str(surface.name) for surface in missing[:3]), len(missing) - 3
    if more > 0:
        return [
            ActionItem(
                Kind.BRAND, title, gettext("%(names)s and %(num)s more.", names=names, num=more)
            )
        ]
    return [ActionItem(Kind.BRAND, title, f"{names}.")]


def _credentials(session: Session, caller: Caller) -> list[ActionItem]:
    now = utcnow()
    keys = (
        select(ApiKey.id, ApiKey.name, ApiKey.expires_at)
        .where(ApiKey.partner_id == caller.partner_id, ApiKey.revoked_at.is_(None))
        .where(ApiKey.replaced_by.is_(None), ApiKey.expires_at.between(now, now + SOON))
        .order_by(ApiKey.expires_at, ApiKey.id)
    )
    clients = (
        select(OAuthClient.id, OAuthClient.name, OAuthClient.expires_at)
        .where(OAuthClient.partner_id == caller.partner_id, OAuthClient.revoked_at.is_(None))
        .where(OAuthClient.expires_at.between(now, now + SOON))
        .order_by(OAuthClient.expires_at, OAuthClient.id)
    )
    return [
        *(
            ActionItem(
                Kind.CREDENTIAL_KEY,
                gettext("Key %(name)s is about to expire", name=row.name),
                "",
                row.id,
                at=row.expires_at,
            )
            for row in session.execute(keys.limit(EACH + 1))
        ),
        *(
            ActionItem(
                Kind.CREDENTIAL_CLIENT,
                gettext("Client %(name)s is about to expire", name=row.name),
                "",
                row.id,
                at=row.expires_at,
            )
            for row in session.execute(clients.limit(EACH + 1))
        ),
    ]


def _imports(caller: Caller) -> Select[ContactImport]:
    query = select(ContactImport)
    return of_tenant(query, caller, ContactImport.partner_id, ContactImport.organization_id)


def _count(number: int) -> str:
    if number < MOST_COUNTED:
        return f"{number}"
    return gettext("%(num)s or more", num=MOST_COUNTED)


_QUESTIONS: tuple[tuple[Permission, Callable[[Session, Caller], list[ActionItem]]], ...] = (
    (Permission.CALLS_READ, _line),
    (Permission.ORGANIZATIONS_READ, _paused_organizations),
    (Permission.REPORT_READ, _alerts),
    (Permission.CALLS_READ, _unknown_calls),
    (Permission.CAMPAIGNS_READ, _campaigns),
    (Permission.CONTACTS_WRITE, _uploads),
    (Permission.CREDENTIALS_MANAGE, _credentials),
    (Permission.ORGANIZATIONS_WRITE, _limits),
    (Permission.ORGANIZATIONS_READ, _spending),
    (Permission.ORGANIZATIONS_READ, _budgets),
    (Permission.ASSISTANTS_READ, _assistants),
    (Permission.BRANDING_WRITE, _brand),
    (Permission.CALLS_READ, _unanswered_calls),
)
