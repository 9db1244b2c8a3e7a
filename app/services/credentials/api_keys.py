"""Area C keys: ``ppk_live_<public id>_<secret><checksum>``, of one organization.

The public id names the key in lists and in the log, the secret has 256 random bits, the checksum
detects a misspelt key without the database. Only a hash of the whole is stored.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from app.enums import CallerKind, OrganizationStatus, Role
from app.errors import (
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    Unauthenticated,
    raise_problems,
)
from app.languages import gettext
from app.models import ApiKey, Organization, Partner
from app.policy import API_KEY_SCOPES, Permission
from app.policy.caller import Caller
from app.services import audit, spending
from app.services.audit.refusals import Refusal
from app.services.credentials import lifetimes, new_credential_mails, rules, secrets
from app.services.name_search import is_of_organization
from app.services.paging import Page, SortOrder, keyset_page
from app.services.tenancy import fetch, get_organization, of_tenant, refuse_archived
from app.validation.texts import trim

_KEY = secrets.pattern_of("ppk_(?:live|test)_")
_NEWEST = SortOrder(ApiKey.created_at, descending=True)

_KEY_BY_PUBLIC_ID = (
    select(
        ApiKey.id,
        ApiKey.name,
        ApiKey.public_id,
        ApiKey.partner_id,
        ApiKey.organization_id,
        ApiKey.secret_hash,
        ApiKey.scopes,
        ApiKey.live,
        ApiKey.expires_at,
        ApiKey.revoked_at,
        Organization.status,
        Partner.suspended_at,
    )
    .join(Organization, Organization.id == ApiKey.organization_id)
    .join(Partner, Partner.id == ApiKey.partner_id)
    .where(ApiKey.public_id == bindparam("public_id"))
)
"""All conditions of a valid key, in one row. Cached: every request runs it."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its secret, which can't be shown again."""

    key: ApiKey
    secret: str


def create(
    session: Session,
    caller: Caller,
    *,
    organization_id: UUID,
    name: str,
    scopes: Iterable[str] = tuple(sorted(API_KEY_SCOPES)),
    live: bool = True,
    expires_at: lifetimes.End = lifetimes.DEFAULT,
) -> NewKey:
    """Create a key for an organization of the caller's partner, and mail its administrators.

    Raises `Forbidden`, `NotFound` (``organization_not_found``), `Conflict` (``archived``) and
    `ValidationFailed` (``blank``, ``too_long``, ``unknown_scope``, ``scope_required``,
    ``in_the_past``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    organization = get_organization(session, caller, organization_id)
    refuse_archived(organization)
    scope_names = sorted({str(scope) for scope in scopes})
    check(name, scope_names)
    _require_scopes(caller, scope_names)
    return _add_key(
        session,
        caller,
        ApiKey(
            partner_id=organization.partner_id,
            organization_id=organization.id,
            name=rules.validate_name(name),
            live=live,
            scopes=scope_names,
            expires_at=lifetimes.end_of(expires_at),
        ),
        organization,
        action="key.created",
    )


def list_all(
    session: Session, caller: Caller, *, organization_id: UUID | None = None
) -> Sequence[ApiKey]:
    """Return the keys of the caller's partner (of one organization of it), oldest first."""
    query = _manageable_keys(caller).order_by(ApiKey.created_at, ApiKey.id)
    if organization_id is not None:
        query = query.where(ApiKey.organization_id == organization_id)
    return session.scalars(query).all()


@dataclass(frozen=True, slots=True)
class ApiKeyFilter:
    """The filters of a list of keys; ``organization`` is an id or part of a name, ``query``
    searches names and public ids, ``live`` keeps only live ones, or only those for tests,
    ``in_use`` only active ones, or only ended ones."""

    organization: UUID | str | None = None
    query: str | None = None
    live: bool | None = None
    in_use: bool | None = None


def search(
    session: Session,
    caller: Caller,
    filters: ApiKeyFilter,
    *,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[ApiKey]:
    """Return a page of keys, newest first. Raises `Forbidden` and `ValidationFailed`
    (``invalid_cursor``)."""
    rows = _manageable_keys(caller)
    if filters.organization is not None:
        organization_id = ApiKey.organization_id
        rows = rows.where(is_of_organization(session, organization_id, filters.organization))
    if filters.live is not None:
        rows = rows.where(ApiKey.live if filters.live else ~ApiKey.live)
    query = trim(filters.query)
    if query:
        in_id = ApiKey.public_id.icontains(query, autoescape=True)
        rows = rows.where(ApiKey.named(query) | in_id)
    if filters.in_use is not None:
        rows = rows.where(~ApiKey.is_over if filters.in_use else ApiKey.is_over)
    return keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)


def get(session: Session, caller: Caller, key_id: UUID, *, for_change: bool = False) -> ApiKey:
    """Return the key; ``for_change`` locks its row until the transaction ends. A read-only
    transaction reads it once. Raises `NotFound` (``key_not_found``)."""
    missing = NotFound(gettext("There is no such key."), "key_not_found")
    query = _manageable_keys(caller).where(ApiKey.id == key_id)
    key = (ApiKey, caller, key_id)
    return fetch(session, query, missing, for_change=for_change, key=key)


def neighbours(
    session: Session, caller: Caller, key: ApiKey
) -> tuple[ApiKey | None, ApiKey | None]:
    """Return the key that this one replaced, and the key that replaced it."""
    query = _manageable_keys(caller).where(
        (ApiKey.replaced_by == key.id) | (ApiKey.id == key.replaced_by)
    )
    keys = session.scalars(query).all()
    before = next((each for each in keys if each.replaced_by == key.id), None)
    return before, next((each for each in keys if each.id == key.replaced_by), None)


def rotate(
    session: Session,
    caller: Caller,
    key_id: UUID,
    *,
    overlap: timedelta = timedelta(),
    expires_at: lifetimes.End = lifetimes.DEFAULT,
) -> NewKey:
    """Create a new key with the same name, scopes and spending limits; the old one works for
    ``overlap`` more, but not beyond its own end.

    Raises `NotFound`, `ValidationFailed` (``overlap_out_of_range``: 0 to 7 days, ``in_the_past``)
    and `Conflict` (``key_ended`` if the old key is revoked, expired or rotated already).
    """
    old = get(session, caller, key_id, for_change=True)
    raise_problems(_problems_of_scopes(old.scopes))
    _require_scopes(caller, old.scopes)
    rules.check_overlap(overlap, gettext("The old key can keep working for 0 to 7 days."))
    if old.is_over or old.replaced_by is not None:
        message = gettext("This key no longer works or was already rotated. Create a new one.")
        raise Conflict(message, "key_ended")
    new = _add_key(
        session,
        caller,
        ApiKey(
            partner_id=old.partner_id,
            organization_id=old.organization_id,
            name=old.name,
            live=old.live,
            scopes=list(old.scopes),
            expires_at=lifetimes.end_of(expires_at),
        ),
        session.get_one(Organization, old.organization_id),
        action="key.rolled",
    )
    rules.replace(old, new.key, overlap)
    spending.copy_to_key(session, old, new.key)
    session.flush()
    return new


def revoke(session: Session, caller: Caller, key_id: UUID) -> ApiKey:
    """End a key from the next request on. Repeating it isn't an error."""
    key = get(session, caller, key_id, for_change=True)
    rules.revoke(session, caller, key, action="key.revoked")
    return key


def caller_from_key(
    session: Session, secret: str | None, *, ip: str | None = None, request_id: str | None = None
) -> Caller:
    """Return the caller of a key, as stored now. One read, no write.

    Raises `Unauthenticated` (``invalid_api_key``) and `Forbidden` (``organization_suspended``).
    """
    key = rules.valid_row(session, _KEY_BY_PUBLIC_ID, _KEY, secret)
    if key is None:
        message = "The header x-api-key carries no valid key."
        raise Unauthenticated(message, "invalid_api_key")
    if key.status is not OrganizationStatus.ACTIVE:
        message = "The organization of this key is suspended."
        raise Forbidden(message, "organization_suspended")
    return Caller(
        kind=CallerKind.API_KEY,
        role=Role.STANDARD,
        subject_id=key.id,
        label=f"{key.name} ({key.public_id})",
        partner_id=key.partner_id,
        organization_id=key.organization_id,
        permissions=API_KEY_SCOPES.intersection(key.scopes),
        live=key.live,
        ip=ip,
        request_id=request_id,
    )


def refusal_of_ended_key(session: Session, secret: str | None, ip: str | None) -> Refusal | None:
    """Return the history entry for a used key that is revoked or expired; None for
    other secrets."""
    return rules.refusal_of_ended(session, ApiKey, _KEY, secret, ip)


def check(name: str, scopes: Collection[str]) -> None:
    """Raise `ValidationFailed` with all problems of a new key's name and scopes."""
    raise_problems([*rules.problems_of_name(name), *_problems_of_scopes(scopes)])


def _problems_of_scopes(scopes: Collection[str]) -> Iterator[Problem]:
    if unknown := sorted(set(scopes) - API_KEY_SCOPES):
        message = gettext(
            "A key's scopes are %(scopes)s, not %(scope)s.",
            scopes=", ".join(sorted(API_KEY_SCOPES)),
            scope=unknown[0],
        )
        yield Problem("scopes", "unknown_scope", message)
    elif not scopes:
        yield Problem("scopes", "scope_required", gettext("Choose at least one permission."))


def _require_scopes(caller: Caller, scopes: Iterable[str]) -> None:
    """Raise `Forbidden` unless the caller holds each of the scopes."""
    for scope in scopes:
        caller.require(Permission(scope))


def _add_key(
    session: Session, caller: Caller, key: ApiKey, organization: Organization, *, action: str
) -> NewKey:
    kind = "live" if key.live else "test"
    secret = rules.add(session, caller, key, f"ppk_{kind}_")
    after = {"scopes": key.scopes, "live": key.live, "expiresAt": key.expires_at}
    audit.record_change(session, caller, action, key, after=after)
    new_credential_mails.send(session, caller, key, action, organization=organization.name)
    return NewKey(key, secret)


def _manageable_keys(caller: Caller) -> Select[ApiKey]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    return of_tenant(select(ApiKey), caller, ApiKey.partner_id, ApiKey.organization_id)
