"""Search by a few words, an address, a number or an id, within what the caller may see.

Words are matched as on the list pages, so that a list with the same words shows the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import Select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus
from app.errors import NotFound
from app.models import (
    ApiKey,
    Assistant,
    Call,
    Campaign,
    Contact,
    OAuthClient,
    Organization,
    Partner,
    User,
)
from app.policy import Permission
from app.policy.caller import Caller
from app.services import (
    assistants,
    calls,
    campaigns,
    contacts,
    near_names,
    oauth_clients,
    organizations,
    partners,
    users,
)
from app.services import phone_numbers as numbers
from app.services.assistants import AssistantFilter
from app.services.calls.queries import visible as visible_calls
from app.services.calls.searching import of_number
from app.services.credentials import api_keys
from app.services.credentials.api_keys import ApiKeyFilter
from app.services.near_names import NamedRow
from app.services.partners.loading import visible as visible_partners
from app.services.phone_numbers import ListedNumber
from app.services.users.loading import get_by_email
from app.validation.texts import trim
from app.validation.uuids import as_uuid

T = TypeVar("T")
MIN_QUERY_LENGTH = 2
"""Minimum characters: a single letter finds nothing useful."""
SURELY_A_NUMBER = 7


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of each kind; one more than requested means that there are more."""

    partners: Sequence[Partner] = field(default_factory=list)
    organizations: Sequence[Organization] = field(default_factory=list)
    users: Sequence[User] = field(default_factory=list)
    assistants: Sequence[Assistant] = field(default_factory=list)
    campaigns: Sequence[Campaign] = field(default_factory=list)
    contacts: Sequence[tuple[Contact, Campaign]] = field(default_factory=list)
    calls: Sequence[Call] = field(default_factory=list)
    numbers: Sequence[ListedNumber] = field(default_factory=list)
    keys: Sequence[ApiKey] = field(default_factory=list)
    clients: Sequence[OAuthClient] = field(default_factory=list)


def find(session: Session, caller: Caller, text: str, limit: int) -> SearchResults:
    """Return up to ``limit + 1`` of each kind, in at most seventeen queries: an id finds only its
    own record, a complete address its user and contacts, other words find names, addresses,
    referral codes, numbers and public ids. Contacts have no index of names for all campaigns: only
    their whole number or address finds them. Partners are only for operators."""
    query = trim(text)
    if len(query) < MIN_QUERY_LENGTH:
        return SearchResults()
    identifier = as_uuid(query)
    if identifier is not None:
        return _by_id(session, caller, identifier)
    kinds = _OF_A_NUMBER if is_number(query) else _KINDS
    results = {
        kind: _KINDS[kind].find(session, caller, query, limit=limit + 1)
        for kind in kinds
        if caller.may(_KINDS[kind].permission)
    }
    return SearchResults(**results)


def near(session: Session, caller: Caller, text: str, limit: int) -> SearchResults:
    """Return up to ``limit`` partners, organizations, assistants and campaigns with similar names,
    for words that `find` doesn't find, in at most eight queries."""
    query = trim(text)
    if len(query) < near_names.MIN_WORD_LENGTH or is_number(query) or as_uuid(query) is not None:
        return SearchResults()

    def some(
        permission: Permission, rows: Select[NamedRow], model: type[NamedRow]
    ) -> Sequence[NamedRow]:
        if not caller.may(permission):
            return []
        return near_names.nearest(session, rows, model, query, limit)

    in_use = Organization.status != OrganizationStatus.ARCHIVED
    return SearchResults(
        partners=some(Permission.PARTNER_CREATE, visible_partners(caller), Partner),
        organizations=some(
            Permission.ORGANIZATIONS_READ,
            organizations.visible(caller).where(in_use),
            Organization,
        ),
        assistants=some(Permission.ASSISTANTS_READ, assistants.visible(caller), Assistant),
        campaigns=some(Permission.CAMPAIGNS_READ, campaigns.visible(caller), Campaign),
    )


def users_and_contacts(session: Session, caller: Caller, text: str, limit: int) -> SearchResults:
    """Return only the users and contacts that `find` finds, without ids, and contacts also by
    name."""
    query = trim(text)
    if len(query) < MIN_QUERY_LENGTH:
        return SearchResults()
    sees_users = caller.may(Permission.USERS_READ) and not is_number(query)
    return SearchResults(
        users=_find_users(session, caller, query, limit) if sees_users else [],
        contacts=contacts.find_by_address(session, caller, query, limit=limit)
        or contacts.find_by_name(session, caller, query, limit=limit)
        if caller.may(Permission.CONTACTS_READ)
        else [],
    )


def is_number(query: str) -> bool:
    """Return whether it can only be a phone number: digits and punctuation."""
    digits = sum(c.isascii() and c.isdigit() for c in query)
    return digits >= SURELY_A_NUMBER and not any(c.isalpha() for c in query)


def _by_id(session: Session, caller: Caller, identifier: UUID) -> SearchResults:
    def one(permission: Permission, load: Callable[[Session, Caller, UUID], T]) -> list[T]:
        try:
            return [load(session, caller, identifier)] if caller.may(permission) else []
        except NotFound:
            return []

    return SearchResults(
        partners=one(Permission.PARTNER_CREATE, partners.get),
        organizations=one(Permission.ORGANIZATIONS_READ, organizations.get),
        users=one(Permission.USERS_READ, users.get),
        assistants=one(Permission.ASSISTANTS_READ, assistants.get),
        campaigns=one(Permission.CAMPAIGNS_READ, campaigns.get),
        calls=one(Permission.CALLS_READ, calls.get),
    )


def _find_users(session: Session, caller: Caller, query: str, limit: int) -> Sequence[User]:
    if "@" in query and caller.partner_id is not None:
        try:
            return [get_by_email(session, caller, query)]
        except NotFound:
            pass
    return users.search(session, caller, users.UserFilter(query=query), limit=limit).items


def _find_calls(session: Session, caller: Caller, query: str, limit: int) -> Sequence[Call]:
    condition = of_number(session, caller, query)
    if condition is None:
        return []
    newest = visible_calls(caller).where(condition).order_by(Call.id.desc()).limit(limit)
    return session.scalars(newest).all()


def _find_organizations(
    session: Session, caller: Caller, query: str, limit: int
) -> Sequence[Organization]:
    filters = organizations.OrganizationFilter(query=query)
    return organizations.search(session, caller, filters, limit=limit).items


def _find_assistants(
    session: Session, caller: Caller, query: str, limit: int
) -> Sequence[Assistant]:
    return assistants.search(session, caller, AssistantFilter(query=query), limit=limit).items


def _find_campaigns(session: Session, caller: Caller, query: str, limit: int) -> Sequence[Campaign]:
    filters = campaigns.CampaignFilter(query=query)
    return campaigns.search(session, caller, filters, limit=limit).items


def _find_numbers(
    session: Session, caller: Caller, query: str, limit: int
) -> Sequence[ListedNumber]:
    if not any(map(str.isdecimal, query)) or any(map(str.isalpha, query)):
        return []
    return numbers.listing(session, caller, query=query, limit=limit).items


def _find_keys(session: Session, caller: Caller, query: str, limit: int) -> Sequence[ApiKey]:
    return api_keys.search(session, caller, ApiKeyFilter(query=query), limit=limit).items


def _find_clients(
    session: Session, caller: Caller, query: str, limit: int
) -> Sequence[OAuthClient]:
    return oauth_clients.search(session, caller, query=query, limit=limit).items


class _Kind(NamedTuple):
    """The permission to find records of a kind, and the function that finds them."""

    permission: Permission
    find: Callable[..., Sequence[Any]]


_KINDS: Mapping[str, _Kind] = {
    "partners": _Kind(Permission.PARTNER_CREATE, partners.search),
    "organizations": _Kind(Permission.ORGANIZATIONS_READ, _find_organizations),
    "users": _Kind(Permission.USERS_READ, _find_users),
    "assistants": _Kind(Permission.ASSISTANTS_READ, _find_assistants),
    "campaigns": _Kind(Permission.CAMPAIGNS_READ, _find_campaigns),
    "contacts": _Kind(Permission.CONTACTS_READ, contacts.find_by_address),
    "calls": _Kind(Permission.CALLS_READ, _find_calls),
    "numbers": _Kind(Permission.ORGANIZATIONS_READ, _find_numbers),
    "keys": _Kind(Permission.CREDENTIALS_MANAGE, _find_keys),
    "clients": _Kind(Permission.CREDENTIALS_MANAGE, _find_clients),
}
"""Kinds by the fields of `SearchResults`."""
_OF_A_NUMBER = ("assistants", "contacts", "calls", "numbers")
"""The kinds that have phone numbers."""
