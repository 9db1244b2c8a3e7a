"""The results of a search, as groups of links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import Role
from app.extensions import caller
from app.languages import gettext
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
from app.portal.web.formats import CALL_STATUS_NAMES, phone, short_datetime_in_zone
from app.portal.web.navigation import ROLE_NAMES
from app.portal.web.plan_names import plan_name
from app.portal.web.user_timezone import zone
from app.services import organizations
from app.services.contacts.single import name_of
from app.services.phone_numbers import ListedNumber
from app.services.search import SearchResults

SHOWN = 5
Names = Mapping[UUID, str]
"""The names of organizations, by id."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    title: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """The results of one kind; ``all_url`` is the list with the rest, if there is one."""

    label: str
    icon: str
    hits: Sequence[SearchHit]
    all_url: str | None = None


def record_groups(session: Session, results: SearchResults, words: str) -> list[SearchGroup]:
    """Return a group for each kind of record, including empty ones."""
    names = _names(session, results)

    def group(
        label: str, icon: str, hits: Iterable[SearchHit], endpoint: str = "", name: str = "q"
    ) -> SearchGroup:
        every = [*hits]
        query: dict[str, Any] = {name: words}
        all_url = url_for(endpoint, **query) if endpoint and len(every) > SHOWN else None
        return SearchGroup(label, icon, every[:SHOWN], all_url)

    users = (_user(row, names) for row in results.users)
    assistants = (_assistant(row, names) for row in results.assistants)
    campaigns = (_campaign(row, names) for row in results.campaigns)
    contacts = (_contact(*row, names) for row in results.contacts)
    calls = (_call(row, names) for row in results.calls)
    return [
        group(gettext("Partners"), "world", map(_partner, results.partners), "portal.overview"),
        group(
            gettext("Organizations"),
            "building",
            map(_organization, results.organizations),
            "portal.organizations",
        ),
        group(gettext("Users"), "users", users, "portal.users"),
        group(gettext("Assistants"), "headset", assistants, "portal.assistants"),
        group(gettext("Campaigns"), "speakerphone", campaigns, "portal.campaigns"),
        group(gettext("Contacts"), "user", contacts),
        group(gettext("Calls"), "phone", calls, "portal.calls", "number"),
        group(
            gettext("Phone numbers"),
            "number",
            map(_number, results.numbers),
            "portal.phone_numbers",
        ),
        group(gettext("API keys"), "key", map(_key, results.keys), "portal.api_access"),
        group(gettext("API clients"), "key", map(_client, results.clients), "portal.api_clients"),
    ]


def _names(session: Session, results: SearchResults) -> Names:
    ids = {call.organization_id for call in results.calls}
    ids |= {campaign.organization_id for campaign in results.campaigns}
    ids |= {campaign.organization_id for _, campaign in results.contacts}
    ids |= {assistant.organization_id for assistant in results.assistants}
    ids |= {user.organization_id for user in results.users if user.organization_id is not None}
    return organizations.names_of(session, caller(), ids) if ids else {}


def _hit(title: str, text: str | None, endpoint: str, **ids: Any) -> SearchHit:
    return SearchHit(title, text or "", url_for(endpoint, **ids))


def _joined(*parts: str | None) -> str:
    return ", ".join(str(part) for part in parts if part)


def _partner(row: Partner) -> SearchHit:
    return _hit(row.name, row.domain, "portal.operator_partner", partner_id=row.id)


def _organization(row: Organization) -> SearchHit:
    text = _joined(plan_name(row) if row.payment_tier else None, row.referral_code)
    return _hit(row.name, text, "portal.organization", organization_id=row.id)


def _user(row: User, names: Names) -> SearchHit:
    where = ROLE_NAMES[row.role]
    if row.user_type is Role.STANDARD and row.organization_id:
        where = names.get(row.organization_id, "")
    text = _joined(row.email if row.name else None, where)
    return _hit(row.name or row.email, text, "portal.user", user_id=row.id)


def _assistant(row: Assistant, names: Names) -> SearchHit:
    number = row.phone_number and phone(row.phone_number)
    text = _joined(names.get(row.organization_id), number)
    return _hit(row.name, text, "portal.assistant", assistant_id=row.id)


def _campaign(row: Campaign, names: Names) -> SearchHit:
    return _hit(row.name, names.get(row.organization_id), "portal.campaign", campaign_id=row.id)


def _contact(row: Contact, campaign: Campaign, names: Names) -> SearchHit:
    number = row.phone and phone(row.phone)
    text = _joined(number, row.email, campaign.name, names.get(campaign.organization_id))
    ids = {"campaign_id": campaign.id, "contact_id": row.id}
    return _hit(name_of(row), text, "portal.contact", **ids)


def _call(row: Call, names: Names) -> SearchHit:
    at = short_datetime_in_zone(row.created_at, zone())
    text = _joined(CALL_STATUS_NAMES[row.status], at, names.get(row.organization_id))
    return _hit(phone(row.phone_number), text, "portal.call", call_id=row.id)


def _number(row: ListedNumber) -> SearchHit:
    number = row.number.number
    return _hit(phone(number), row.organization, "portal.phone_numbers", q=number)


def _key(row: ApiKey) -> SearchHit:
    return _hit(row.name, row.public_id, "portal.api_key", key_id=row.id)


def _client(row: OAuthClient) -> SearchHit:
    return _hit(row.name, row.client_id, "portal.api_client", client_id=row.id)
