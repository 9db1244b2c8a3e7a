"""Items that need a decision: each reads a bounded number of rows, whatever the size."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, literal, or_, select, true, union_all
from sqlalchemy.orm import Session

from app.enums import CarrierKind, ImportStatus
from app.languages import gettext, gettext_noop, labelled, ngettext
from app.languages.numbers import localize_number
from app.models import ApiKey, ContactImport, OAuthClient, Partner, ScimToken, utcnow
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services import (
    alerts,
    assistants,
    carrier_accounts,
    organizations,
    outreach,
    partners,
    pauses,
    phone_numbers,
    reporting,
    spending,
)
from app.services.billing import included_usage
from app.services.branding import surfaces
from app.services.imports import uploads
from app.services.imports.corrected_files import rows_to_fix
from app.services.overview import calling
from app.services.overview.items import (
    EACH,
    MAX_COUNTED,
    RECENT,
    ActionItem,
    ActionItemKind,
    at_most,
)
from app.services.overview.setup import SetupStep, steps_of
from app.services.spending import budgets

SOON = timedelta(days=14)
_CREDENTIALS: dict[ActionItemKind, tuple[type[ApiKey | OAuthClient | ScimToken], str]] = {
    ActionItemKind.CREDENTIAL_KEY: (ApiKey, gettext_noop("Key %(name)s is about to expire")),
    ActionItemKind.CREDENTIAL_CLIENT: (
        OAuthClient,
        gettext_noop("Client %(name)s is about to expire"),
    ),
    ActionItemKind.CREDENTIAL_TOKEN: (
        ScimToken,
        gettext_noop("SCIM token %(name)s is about to expire"),
    ),
}


@dataclass(frozen=True, slots=True)
class ActionItems:
    """Items that need a decision, most urgent first, and the first steps with whether each is done;
    empty once all are."""

    items: Sequence[ActionItem]
    steps: Mapping[SetupStep, bool]


def find_action_items(
    session: Session, caller: Caller, *, worker_silent_after: float
) -> ActionItems:
    """Return the action items and first steps of the caller. Workers without a heartbeat for this
    many seconds are offline.

    One query tells which steps are done, how many calls wait or had no answer, how many assistants
    can't call, what the brand lacks, and which other kinds of items there are. Each of these takes
    its own: a fixed number for each role, and few while nothing is wrong.
    """
    if caller.partner_id is None:
        return ActionItems((), {})
    steps = steps_of(caller)
    sources = {name: source for name, source in _SOURCES.items() if caller.may(source.permission)}
    writes_brand = caller.may(Permission.BRANDING_WRITE)
    columns: dict[str, ColumnElement[Any]] = {
        **{f"step_{step}": is_done for step, is_done in steps.items()},
        **{name: source.is_any(caller) for name, source in sources.items()},
    }
    if caller.may(Permission.ASSISTANTS_READ):
        columns["assistants_not_ready"] = assistants.counting_not_ready(caller, MAX_COUNTED)
    if caller.may(Permission.CALLS_READ):
        columns |= calling.counts(session, caller, worker_silent_after)
    head = partners.own_with_pictures(caller) if writes_brand else select(true())
    query = head.add_columns(*(column.label(name) for name, column in columns.items()))
    values = session.execute(query).unique().one()._asdict()
    items = calling.offline(values) if caller.may(Permission.CALLS_READ) else []
    for name, source in sources.items():
        if values[name]:
            items += source.items(session, caller)
    if values.get("assistants_not_ready"):
        items += _assistants(session, caller, values["assistants_not_ready"])
    if caller.may(Permission.CALLS_READ):
        items += calling.unanswered_calls(values)
    if writes_brand:
        items += _brand(values["Partner"])
    done = {step: bool(values[f"step_{step}"]) for step in steps}
    return ActionItems(sorted(items, key=_order), {} if all(done.values()) else done)


def _order(item: ActionItem) -> int:
    """Sort urgent items first, and alerts of muted rules, which aren't urgent, last."""
    if item.urgent:
        return 0
    return 2 if item.kind is ActionItemKind.ALERT else 1


def _alerts(session: Session, caller: Caller) -> list[ActionItem]:
    """Return open alerts that are not acknowledged; those of muted rules come last."""
    return [
        ActionItem(
            ActionItemKind.ALERT,
            alert_view.title_now,
            gettext("Muted.") if alert_view.is_muted else "",
            alert_view.alert.id,
            urgent=not alert_view.is_muted,
        )
        for alert_view in alerts.open_alerts(session, caller, EACH + 1)
    ]


def _uploads(session: Session, caller: Caller) -> list[ActionItem]:
    rows = _unfinished(caller).order_by(ContactImport.id.desc()).limit(EACH + 1)
    newest = session.scalars(rows).all()
    waiting = _waiting_in_corrected_files(newest)
    items = [(upload, rows_to_fix(upload) - waiting[upload.id]) for upload in newest]
    return [
        _about_upload(upload, left)
        for upload, left in items
        if left > 0 or upload.status is not ImportStatus.DONE
    ]


def _unfinished(caller: Caller) -> Select[ContactImport]:
    """Return the recent uploads that are to be applied or have rows to fix."""
    state, failed = ContactImport.status, ContactImport.failed
    return uploads.visible(caller).where(
        ContactImport.id >= id_at(utcnow() - RECENT),
        or_(
            state.in_((ImportStatus.CHECKED, ImportStatus.FAILED)),
            (state == ImportStatus.DONE)
            & (failed > ContactImport.rows_fixed)
            & ContactImport.undone_at.is_(None),
        ),
    )


def _waiting_in_corrected_files(checked: Sequence[ContactImport]) -> Counter[UUID]:
    """Count the rows of each upload that the item about its corrected file asks for."""
    rows: Counter[UUID] = Counter()
    for upload in checked:
        if upload.corrects_id is not None and upload.status is not ImportStatus.FAILED:
            is_done = upload.status is ImportStatus.DONE
            rows[upload.corrects_id] += rows_to_fix(upload) if is_done else upload.rows_total
    return rows


def _about_upload(upload: ContactImport, left: int) -> ActionItem:
    """Return an item about an upload. ``left``: the failed rows that are still to be fixed."""
    failed, name = upload.failed, upload.file_name
    if upload.status is ImportStatus.FAILED:
        title = gettext("%(name)s could not be read", name=name)
        text = gettext("Nothing was applied.")
    elif upload.status is ImportStatus.DONE:
        title = ngettext("%(num)s row was not applied", "%(num)s rows were not applied", left)
        text = name
    elif failed:
        title = ngettext("%(num)s row needs fixing", "%(num)s rows need fixing", failed)
        text = name
    else:
        whole = upload.rows_total
        title = gettext("%(name)s is ready to apply", name=name)
        text = ngettext("%(num)s row.", "%(num)s rows.", whole)
    return ActionItem(
        ActionItemKind.UPLOAD, title, text, upload.id, urgent=upload.status is ImportStatus.FAILED
    )


def _limits(session: Session, caller: Caller) -> list[ActionItem]:
    """Return organizations with limits above one that have nearly used one up, or the caller's."""
    is_own = caller.organization_id is not None
    if not is_own and not caller.may(Permission.ORGANIZATIONS_WRITE):
        return []
    return [
        ActionItem(ActionItemKind.OWN_PLAN, near.message, "")
        if is_own
        else ActionItem(
            ActionItemKind.LIMIT, near.organization.name, near.message, near.organization.id
        )
        for near in organizations.near_limits(session, caller, EACH + 1)
    ]


def _included(session: Session, caller: Caller) -> list[ActionItem]:
    """Return included usage that is nearly or fully used, of customers or of the caller's
    organization."""
    is_own = caller.organization_id is not None
    if not is_own and not caller.may(Permission.ORGANIZATIONS_WRITE):
        return []  # the caller doesn't see prices
    return [
        ActionItem(
            ActionItemKind.OWN_PLAN if is_own else ActionItemKind.INCLUDED,
            each.title if is_own else labelled(each.name, each.title),
            each.beyond,
            each.organization_id,
        )
        for each in included_usage.usage_notices(session, caller, EACH + 1)
    ]


def _spending(session: Session, caller: Caller) -> list[ActionItem]:
    """Return spending limits that are nearly or fully reached: of organizations, and of the portal
    for those who may see it."""
    return [
        ActionItem(
            ActionItemKind.PORTAL_SPENDING
            if near.organization_id is None
            else ActionItemKind.SPENDING,
            near.name or gettext("Your portal"),
            near.message,
            near.organization_id,
            urgent=near.is_reached,
        )
        for near in spending.near_limits(session, caller, EACH + 1)
        if near.organization_id is not None or caller.may(Permission.PARTNER_WRITE)
    ]


def _budgets(session: Session, caller: Caller) -> list[ActionItem]:
    """Return budgets of which most is spent, in the order of `_spending`."""
    return [
        ActionItem(
            ActionItemKind.SPENDING if each.organization else ActionItemKind.PORTAL_SPENDING,
            each.organization.name if each.organization else gettext("Your portal"),
            gettext(
                "%(num)s %% of this month’s budget is spent.", num=localize_number(each.percent, 1)
            ),
            each.organization.id if each.organization else None,
            urgent=each.percent >= 100,
        )
        for each in budgets.reached_budgets(session, caller, EACH + 1)
        if each.organization is not None or caller.may(Permission.PARTNER_WRITE)
    ]


def _assistants(session: Session, caller: Caller, not_ready: int) -> list[ActionItem]:
    if not_ready > EACH:
        title = ngettext(
            "%(num)s assistant can’t call yet",
            "%(num)s assistants can’t call yet",
            not_ready,
            num=at_most(not_ready),
        )
        text = gettext("Something is missing: a number, its set-up, or an active organization.")
        return [ActionItem(ActionItemKind.ASSISTANTS, title, text)]
    owned = assistants.not_ready(session, caller, EACH)
    # Whether a number is confirmed depends on the carrier, as in the search above.
    refusals = phone_numbers.refusals(
        session, [assistant for assistant, _ in owned], CarrierKind.SIMULATOR
    )
    return [
        ActionItem(
            ActionItemKind.ASSISTANT,
            gettext("%(name)s can’t call yet", name=assistant.name),
            reason
            if caller.organization_id
            else gettext("%(organization)s: %(reason)s", organization=owner.name, reason=reason),
            assistant.id,
        )
        for assistant, owner in owned
        for reason in [assistants.blocker_of(assistant, owner, refusals.get(assistant.id)) or ""]
    ]


def _brand(partner: Partner) -> list[ActionItem]:
    missing = surfaces.missing(partner)
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
                ActionItemKind.BRAND,
                title,
                gettext("%(names)s and %(num)s more.", names=names, num=more),
            )
        ]
    return [ActionItem(ActionItemKind.BRAND, title, f"{names}.")]


def _carrier_accounts(session: Session, caller: Caller) -> list[ActionItem]:
    """Return accounts in use whose last test failed."""
    failing = carrier_accounts.failing(session, caller, MAX_COUNTED)
    if not failing:
        return []
    title = ngettext(
        "%(num)s carrier account failed its test",
        "%(num)s carrier accounts failed their tests",
        len(failing),
        num=at_most(len(failing)),
    )
    text = gettext("Live calls may fail until this is corrected.")
    return [ActionItem(ActionItemKind.CARRIER_ACCOUNT, title, text, urgent=True)]


def _credentials(session: Session, caller: Caller) -> list[ActionItem]:
    """Return keys, clients and tokens that expire soon: the next ones of each kind."""
    rows = session.execute(union_all(*(_ending(caller, kind) for kind in _CREDENTIALS))).all()
    return [
        ActionItem(kind, gettext(title, name=row.name), "", row.id, at=row.expires_at)
        for kind, (_model, title) in _CREDENTIALS.items()
        for row in sorted(rows, key=attrgetter("expires_at", "id"))
        if row.kind == kind
    ]


def _ending(caller: Caller, kind: ActionItemKind) -> Select[Any]:
    model, _title = _CREDENTIALS[kind]
    now = utcnow()
    columns = (literal(kind.value).label("kind"), model.id, model.name, model.expires_at)
    ending = select(*columns).where(
        model.partner_id == caller.partner_id,
        model.revoked_at.is_(None),
        model.expires_at.between(now, now + SOON),
    )
    if issubclass(model, ApiKey | ScimToken):
        ending = ending.where(model.replaced_by.is_(None))
    # As a subquery: SQLite allows an order only there.
    return select(ending.order_by(model.expires_at, model.id).limit(EACH + 1).subquery())


def _any_unfinished(caller: Caller) -> ColumnElement[bool]:
    return _unfinished(caller).exists()


def _any_ending(caller: Caller) -> ColumnElement[bool]:
    return or_(*(_ending(caller, kind).exists() for kind in _CREDENTIALS))


def _can_rank(caller: Caller) -> ColumnElement[bool]:
    """Return whether the partner's customers are few enough to be ranked; ranking reads the usage
    of all."""
    return true() if caller.organization_id is not None else reporting.few_to_rank(caller)


class _Source(NamedTuple):
    """Items that a permission shows, and the condition that there are any."""

    permission: Permission
    items: Callable[[Session, Caller], list[ActionItem]]
    is_any: Callable[[Caller], ColumnElement[bool]]


_SOURCES = {
    "held_calls": _Source(Permission.CALLS_READ, calling.held_calls, calling.any_held),
    "paused_organizations": _Source(
        Permission.ORGANIZATIONS_READ, calling.paused_organizations, pauses.any_seen
    ),
    "alerts": _Source(Permission.REPORT_READ, _alerts, alerts.any_open),
    "unknown_calls": _Source(Permission.CALLS_READ, calling.unknown_calls, calling.any_unknown),
    "campaigns": _Source(Permission.CAMPAIGNS_READ, calling.campaigns, outreach.any_blocked),
    "uploads": _Source(Permission.CONTACTS_WRITE, _uploads, _any_unfinished),
    "carrier_accounts": _Source(
        Permission.CREDENTIALS_MANAGE, _carrier_accounts, carrier_accounts.any_failing
    ),
    "credentials": _Source(Permission.CREDENTIALS_MANAGE, _credentials, _any_ending),
    "limits": _Source(Permission.USAGE_READ, _limits, organizations.any_near_limit),
    "included": _Source(Permission.USAGE_READ, _included, _can_rank),
    "spending": _Source(Permission.ORGANIZATIONS_READ, _spending, spending.any_near_limit),
    "budgets": _Source(Permission.ORGANIZATIONS_READ, _budgets, budgets.any_reached),
}
"""The sources by name."""
