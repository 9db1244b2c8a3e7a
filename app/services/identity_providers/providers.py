"""List, add, change and remove the providers of the caller's partner."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import NotFound, Problem, ValidationFailed, check_version, raise_problems, too_long
from app.gateways.openid import ProviderFailed, check_url, discover
from app.languages import gettext
from app.models import IdentityProvider, Partner, UserIdentity
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.auth import sessions
from app.services.credentials.encryption import seal, try_unseal
from app.services.tenancy import fetch, of_tenant
from app.services.uniqueness import unless_taken

PURPOSE = "identity-provider"
MAX_PROVIDERS = 10
"""Maximum providers of one partner."""
MAX_NAME = 60
MAX_ID = 500
NEW_ROLES = (Role.ADMIN, Role.PARTNER_EDITOR)
"""Roles that a new user can get. Partner admins are invited; members belong to an organization."""
PUBLIC_MAIL = frozenset(
    {
        "gmail.com",
        "googlemail.com",
        "outlook.com",
        "hotmail.com",
        "live.com",
        "msn.com",
        "yahoo.com",
        "icloud.com",
        "me.com",
        "aol.com",
        "gmx.com",
        "gmx.de",
        "web.de",
        "proton.me",
        "protonmail.com",
        "mail.ru",
        "yandex.ru",
        "qq.com",
        "163.com",
    }
)
"""Domains that give anyone an email address."""


@dataclass(frozen=True, slots=True)
class ProviderFields:
    """The fields of a form. A blank ``secret`` keeps the current one."""

    name: str
    issuer: str
    client_id: str
    secret: str = field(repr=False)
    domains: Sequence[str] = ()
    creates_users: bool = False
    default_role: str | None = None
    role_claim: str | None = None
    role_values: dict[str, str] = field(default_factory=dict)
    required_for_staff: bool = False


def listing(session: Session, caller: Caller) -> Sequence[IdentityProvider]:
    """Return all providers of the caller's partner, by name. Raises `Forbidden`."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = of_tenant(select(IdentityProvider), caller, IdentityProvider.partner_id)
    return session.scalars(query.order_by(IdentityProvider.name, IdentityProvider.id)).all()


def get(
    session: Session, caller: Caller, provider_id: UUID, *, for_change: bool = False
) -> IdentityProvider:
    """Return a provider. Raises `Forbidden` and `NotFound` (``identity_provider_not_found``)."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = of_tenant(select(IdentityProvider), caller, IdentityProvider.partner_id)
    missing = NotFound(gettext("There is no such company account."), "identity_provider_not_found")
    query = query.where(IdentityProvider.id == provider_id)
    return fetch(session, query, missing, for_change=for_change)


def check_discovery(issuer: str, *, allow_private: bool, besides: Sequence[Problem] = ()) -> None:
    """Read the provider's discovery document and nothing else. Never inside a transaction. Raises
    `ValidationFailed` (``invalid_url``, ``discovery_failed``), also with the problems ``besides``
    that were found before."""
    problems = list(besides)
    if not any(problem.field == "issuer" for problem in problems):
        problems += _discovery_problems(issuer, allow_private=allow_private)
    raise_problems(problems)


def _discovery_problems(issuer: str, *, allow_private: bool) -> list[Problem]:
    try:
        check_url(issuer, allow_private=allow_private)
    except ProviderFailed:
        message = gettext("Enter an address that begins with https://.")
        return [Problem("issuer", "invalid_url", message)]
    try:
        discover(issuer, allow_private=allow_private, fresh=True)
    except ProviderFailed as error:
        # Translators: %(reason)s is an English technical message.
        message = gettext(
            "The provider can't be used: %(reason)s. Check the issuer at your provider.",
            reason=str(error),
        )
        return [Problem("issuer", "discovery_failed", message)]
    return []


def problems_of(session: Session, caller: Caller, fields: ProviderFields) -> list[Problem]:
    """Return what is wrong with the fields of a new provider, besides its discovery. Raises
    `Forbidden`."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    return list(_problems(partners.get_own(session, caller), fields, needs_secret=True))


def next_id(session: Session, partner: Partner) -> UUID:
    """Return the id of the partner's next provider. It is fixed in advance: it is part of the
    redirect URL, which providers require before they issue a client ID."""
    query = select(IdentityProvider.id).where(IdentityProvider.partner_id == partner.id)
    used_ids = set(session.scalars(query))
    ids = (uuid5(partner.id, f"{PURPOSE} {number}") for number in count(1))
    return next(each for each in ids if each not in used_ids)


def add(
    session: Session, caller: Caller, keys: Sequence[str], fields: ProviderFields
) -> IdentityProvider:
    """Create a provider whose discovery was tested.

    Raises `Forbidden`, `ValidationFailed` (``required``, ``too_long``, ``domain_not_proven``,
    ``unknown_role``, ``provider_exists``, ``too_many_providers``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    partner = partners.get_own(session, caller, for_change=True)
    raise_problems(_problems(partner, fields, needs_secret=True))
    count_query = select(func.count()).where(IdentityProvider.partner_id == partner.id)
    if (session.scalar(count_query) or 0) >= MAX_PROVIDERS:
        message = gettext("A portal has at most %(most)s company accounts.", most=MAX_PROVIDERS)
        raise ValidationFailed.on("name", "too_many_providers", message)
    provider = IdentityProvider(
        id=next_id(session, partner),
        partner_id=partner.id,
        issuer=fields.issuer,
        secret="",
        **_column_values(fields),
    )
    provider.secret = seal(fields.secret, PURPOSE, keys)
    message = gettext("This issuer with this client ID exists already.")
    with unless_taken(session, ValidationFailed.on("clientId", "provider_exists", message)):
        session.add(provider)
    audit.record_change(
        session, caller, "identity_provider.created", provider, after=audit_values(provider)
    )
    return provider


def update(
    session: Session,
    caller: Caller,
    keys: Sequence[str],
    provider_id: UUID,
    fields: ProviderFields,
    *,
    expected_version: int | None = None,
) -> IdentityProvider:
    """Change everything but the issuer. Raises as `add`, `NotFound` and `Conflict`
    (``changed_meanwhile``)."""
    provider = get(session, caller, provider_id, for_change=True)
    partner = partners.get(session, caller, provider.partner_id)
    raise_problems(_problems(partner, fields, needs_secret=False))
    check_version(expected_version, provider.version, "company account")
    before = audit_values(provider)
    message = gettext("This issuer with this client ID exists already.")
    with unless_taken(session, ValidationFailed.on("clientId", "provider_exists", message)):
        for name, value in _column_values(fields).items():
            setattr(provider, name, value)
        if fields.secret:
            provider.secret = seal(fields.secret, PURPOSE, keys)
    after = audit_values(provider)
    if before != after or fields.secret:
        changed = {"clientSecret": "changed"} if fields.secret else {}
        audit.record_version(
            session,
            caller,
            "identity_provider.updated",
            provider,
            before=before,
            after=after | changed,
        )
    return provider


def remove(session: Session, caller: Caller, provider_id: UUID) -> IdentityProvider:
    """Remove it with its links, and end the sessions that it started. Raises `NotFound`."""
    provider = get(session, caller, provider_id, for_change=True)
    audit.record_change(
        session, caller, "identity_provider.removed", provider, before=audit_values(provider)
    )
    sessions.end_all_of_provider(session, provider.id)
    session.delete(provider)
    session.flush()
    return provider


def linked_users(session: Session, provider: IdentityProvider) -> int:
    """Return how many users have linked it; the provider must come from `get`."""
    query = select(func.count()).where(UserIdentity.provider_id == provider.id)
    return session.scalar(query) or 0


def provable_domains(partner: Partner) -> list[str]:
    """Return the email domains that count as the partner's: its email domain and its verified
    domain, never those at which anyone gets an address."""
    domains = {(partner.email_domain or "").strip().lower().lstrip("@")}
    if partner.domain_verified_at is not None:
        domains.add(partner.domain_key or "")
    return sorted(domains - PUBLIC_MAIL - {""})


def secret_of(provider: IdentityProvider, keys: Sequence[str]) -> str | None:
    """Return the client secret; None if no known key decrypts it."""
    return try_unseal(provider.secret, PURPOSE, keys)


def audit_values(provider: IdentityProvider) -> dict[str, Any]:
    return {
        "name": provider.name,
        "issuer": provider.issuer,
        "clientId": provider.client_id,
        "domains": list(provider.domains),
        "createsUsers": provider.creates_users,
        "defaultRole": provider.default_role,
        "roleClaim": provider.role_claim,
        "roleValues": dict(provider.role_values),
        "requiredForStaff": provider.required_for_staff,
    }


def _column_values(fields: ProviderFields) -> dict[str, Any]:
    return {
        "name": fields.name,
        "client_id": fields.client_id,
        "domains": sorted(set(fields.domains)),
        "creates_users": fields.creates_users,
        "default_role": fields.default_role,
        "role_claim": fields.role_claim,
        "role_values": dict(fields.role_values),
        "required_for_staff": fields.required_for_staff,
    }


def _problems(partner: Partner, fields: ProviderFields, *, needs_secret: bool) -> Iterator[Problem]:
    for name, text, limit in (
        ("name", fields.name, MAX_NAME),
        ("issuer", fields.issuer, MAX_ID),
        ("clientId", fields.client_id, MAX_ID),
        ("clientSecret", fields.secret, MAX_ID),
        ("roleClaim", fields.role_claim, 200),
    ):
        yield from too_long(name, text, limit)
    if not fields.name:
        yield Problem("name", "required", gettext("Enter the name on the button."))
    if not fields.client_id:
        yield Problem("clientId", "required", gettext("Enter the client ID of your provider."))
    if needs_secret and not fields.secret:
        message = gettext("Enter the client secret of your provider.")
        yield Problem("clientSecret", "required", message)
    yield from _problems_of_users(partner, fields)


def _problems_of_users(partner: Partner, fields: ProviderFields) -> Iterator[Problem]:
    """Check the fields about who is linked or created."""
    proven_domains = provable_domains(partner)
    for domain in fields.domains:
        if domain not in proven_domains:
            message = gettext(
                "%(domain)s is neither the email domain nor the verified domain of your portal.",
                domain=domain,
            )
            yield Problem("domains", "domain_not_proven", message)
    roles = [fields.default_role, *fields.role_values]
    if any(role is not None and role not in NEW_ROLES for role in roles):
        yield Problem("defaultRole", "unknown_role", gettext("Choose one of the roles."))
    if fields.creates_users and not fields.domains:
        message = gettext("Enter the email domain of the users to create.")
        yield Problem("domains", "required", message)
    if fields.role_values and not fields.role_claim:
        message = gettext("Enter the claim that has these values.")
        yield Problem("roleClaim", "required", message)
