"""Write and read the history: who did what, when and from where, with the values before
and after."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import ColumnElement, select, true
from sqlalchemy.orm import Session

from app.models import (
    Alert,
    AlertRule,
    ApiKey,
    Assistant,
    AuditEntry,
    BrandImage,
    BrandVersion,
    Call,
    Campaign,
    CarrierAccount,
    ContactImport,
    IdentityProvider,
    ListExport,
    OAuthClient,
    Organization,
    OrganizationGroup,
    OrganizationTemplate,
    Partner,
    PlanVersion,
    SavedView,
    ScimGroup,
    ScimToken,
    User,
    VerifiedNumber,
    Webhook,
)
from app.policy import Permission
from app.policy.caller import Caller
from app.services.audit import chain
from app.services.tenancy import of_tenant

SIGNED_IN = "user.signed_in"
NUMBER_LISTED = "do_not_call.added"
"""Numbers in an entry about several; all of them are in ``reasons``, each with its reason."""
REFUSED = tuple(
    f"{what}.refused" for what in ("sign_in", "password", "recovery", "client", "key", "request")
)
"""Refused attempts, which `refusals` writes."""
EVERYDAY = (SIGNED_IN, "call.scheduled", *REFUSED)
"""Actions that happen all the time and change nothing."""
VIEWS = ("user.viewed", "user.view_ended")
"""A view as a user in the partner's history; operators have entries of their own about it."""
LOOKED_BACK = 500


def _no_name(_row: Any) -> None:
    """For rows whose name in the log depends on other rows."""


_TARGETS: dict[type, tuple[str, Callable[[Any], str | None]]] = {
    Alert: ("alert", _no_name),
    AlertRule: ("alert_rule", _no_name),
    Assistant: ("agent", lambda row: row.name),
    ApiKey: ("api_key", lambda row: f"{row.name} ({row.public_id})"),
    BrandImage: ("brand_image", lambda row: row.type.value),
    BrandVersion: ("brand_version", lambda row: f"Version {row.number}"),
    Call: ("call", lambda row: row.phone_number),
    Campaign: ("campaign", lambda row: row.name),
    CarrierAccount: ("carrier_account", lambda row: row.name),
    ContactImport: ("upload", lambda row: row.file_name),
    IdentityProvider: ("identity_provider", lambda row: row.name),
    ListExport: ("list_export", lambda row: row.list_name),
    OAuthClient: ("client", lambda row: f"{row.name} ({row.client_id})"),
    Organization: ("organization", lambda row: row.name),
    OrganizationGroup: ("organization_group", lambda row: row.name),
    OrganizationTemplate: ("organization_template", lambda row: row.name),
    Partner: ("partner", lambda row: row.name),
    PlanVersion: ("plan_version", lambda row: f"Version {row.number}"),
    SavedView: ("saved_view", lambda row: row.name),
    ScimGroup: ("scim_group", lambda row: row.display_name),
    ScimToken: ("scim_token", lambda row: f"{row.name} ({row.public_id})"),
    User: ("user", lambda row: row.email),
    VerifiedNumber: ("verified_number", lambda row: row.phone),
    Webhook: ("webhook", lambda row: urlsplit(row.url).hostname),
}
"""By model: the target type in the log, and the name of a row there."""
_SECRET_WORDS = ("password", "secret", "token", "key_hash")


def record(
    session: Session,
    caller: Caller,
    *,
    action: str,
    target_type: str,
    target_id: UUID | str,
    partner_id: UUID | None = None,
    organization_id: UUID | None = None,
    target: str | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Add an entry in the caller's transaction and return it. Of ``before`` and ``after`` only the
    differences are stored; values of secrets are replaced by the word "changed".

    ``partner_id`` defaults to the caller's; ``action`` reads ``noun.verb``.
    """
    old, new = _differences(before or {}, after or {})
    entry = AuditEntry(
        partner_id=partner_id or caller.partner_id,
        organization_id=organization_id or caller.organization_id,
        actor_kind=caller.kind.value,
        actor_id=caller.subject_id,
        actor=caller.label[:200],
        ip=caller.ip,
        request_id=caller.request_id,
        action=action,
        target_type=target_type,
        target_id=str(target_id),
        target=target[:500] if target else None,
        before=old,
        after=new,
    )
    session.add(entry)
    chain.link_at_commit(session, entry)
    return entry


def record_change(
    session: Session,
    caller: Caller,
    action: str,
    row: Any,
    *,
    target: str | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """As `record`, about a stored row: its partner, its organization and its name are used.
    ``target`` replaces the name."""
    target_type, name_of = _TARGETS[type(row)]
    is_organization = isinstance(row, Organization)
    record(
        session,
        caller,
        action=action,
        target_type=target_type,
        target_id=row.id,
        partner_id=row.id if isinstance(row, Partner) else row.partner_id,
        organization_id=row.id if is_organization else getattr(row, "organization_id", None),
        target=target or name_of(row),
        before=before,
        after=after,
    )


def record_version(
    session: Session,
    caller: Caller,
    action: str,
    row: Any,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Write a changed row as its next version, and record the change as `record_change` does."""
    row.version += 1
    session.flush()
    record_change(session, caller, action, row, before=before, after=after)


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [n for n in {**before, **after} if before.get(n) != after.get(n)]
    old = {n: _mask_secret(n, before[n]) for n in names if n in before}
    new = {n: _mask_secret(n, after[n]) for n in names if n in after}
    return old, new


def _mask_secret(name: str, value: Any) -> Any:
    if value is not None and any(word in name.lower() for word in _SECRET_WORDS):
        return "changed"
    return _to_json_value(value)


def _to_json_value(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case UUID() | Decimal():
            return str(value)
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            return {str(key): _to_json_value(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_to_json_value(item) for item in value]
        case _:
            return value


def latest(session: Session, caller: Caller, organization_id: UUID, limit: int) -> list[AuditEntry]:
    """Return the latest changes in an organization, newest first, if the caller may read the
    history."""
    return _read_entries(session, caller, AuditEntry.organization_id == organization_id, limit)


def latest_of_target(
    session: Session, caller: Caller, target_type: str, target_id: UUID, limit: int = 8
) -> list[AuditEntry]:
    """Return the latest changes of a record, newest first, if the caller may read the history."""
    return _read_entries(session, caller, _is_target(target_type, target_id), limit)


def last_of_target(
    session: Session, caller: Caller, target_type: str, target_id: UUID, action: str | None = None
) -> AuditEntry | None:
    """Return the last change of a record that the caller has loaded, or the last one of an action;
    its author is shown to them."""
    query = select(AuditEntry).where(_is_target(target_type, target_id))
    if action is not None:
        query = query.where(AuditEntry.action == action)
    query = of_tenant(query, caller, AuditEntry.partner_id)
    return session.scalar(query.order_by(AuditEntry.id.desc()).limit(1))


def last_change_at(session: Session, partner_id: UUID) -> datetime | None:
    """Return when anything of the partner last changed: one look-up in an index."""
    query = select(AuditEntry.at).where(AuditEntry.partner_id == partner_id)
    return session.scalar(query.order_by(AuditEntry.id.desc()).limit(1))


def of_partner(session: Session, caller: Caller, limit: int) -> list[AuditEntry]:
    """Return the latest changes of the caller's partner, newest first, without `EVERYDAY`
    actions; among the newest `LOOKED_BACK` entries, so that the cost doesn't grow with the
    number of calls."""
    newest = (
        select(AuditEntry.id)
        .where(AuditEntry.partner_id == caller.partner_id)
        .order_by(AuditEntry.id.desc())
        .limit(LOOKED_BACK)
    )
    changes = AuditEntry.id.in_(newest) & AuditEntry.action.not_in(EVERYDAY)
    return _read_entries(session, caller, changes, limit)


def is_shown_to(caller: Caller) -> ColumnElement[bool]:
    """Return which entries the caller's history shows: where one is recorded for the partner and
    one for operators, one of them."""
    return AuditEntry.action.not_in(VIEWS) if caller.is_operator else true()


def _is_target(target_type: str, target_id: UUID) -> ColumnElement[bool]:
    return (AuditEntry.target_type == target_type) & (AuditEntry.target_id == str(target_id))


def _read_entries(
    session: Session, caller: Caller, condition: ColumnElement[bool], limit: int
) -> list[AuditEntry]:
    if not caller.may(Permission.AUDIT_READ):
        return []
    query = select(AuditEntry).where(condition, is_shown_to(caller))
    query = query.order_by(AuditEntry.id.desc()).limit(limit)
    return list(session.scalars(of_tenant(query, caller, AuditEntry.partner_id)))
