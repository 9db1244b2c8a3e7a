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
from app.portal.web.formats import CALL_STATUS_LABELS, ROLE_NAMES, phone, short_datetime_in_zone
from app.portal.web.plan_names import plan_name
from app.portal.web.user_timezone import zone
from app.services import organizations
from app.services.contacts.single_contact import name_of
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


def record_groups(session: Session, results: SearchResults, search_text: str) -> list[SearchGroup]:
    """Return a group for each kind of record, including empty ones."""
    names = _organization_names(session, results)

    def group(
        label: str, icon: str, hits: Iterable[SearchHit], endpoint: str = "", name: str = "q"
    ) -> SearchGroup:
        every = [*hits]
        query: dict[str, Any] = {name: search_text}
        all_url = url_for(endpoint, **query) if endpoint and len(every) > SHOWN else None
        return SearchGroup(label, icon, every[:SHOWN], all_url)

    users = (_user_hit(row, names) for row in results.users)
    assistants = (_assistant_hit(row, names) for row in results.assistants)
    campaigns = (_campaign_hit(row, names) for row in results.campaigns)
    contacts = (_contact_hit(*row, names) for row in results.contacts)
    calls = (_call_hit(row, names) for row in results.calls)
    return [
        group(
            gettext("Partners"),
            "world",
            map(_partner_hit, results.partners),
            "portal.overview.show_overview",
        ),
        group(
            gettext("Organizations"),
            "building",
            map(_organization_hit, results.organizations),
            "portal.organizations.list_organizations",
        ),
        group(gettext("Users"), "users", users, "portal.users.list_users"),
        group(gettext("Assistants"), "headset", assistants, "portal.assistants.list_assistants"),
        group(gettext("Campaigns"), "speakerphone", campaigns, "portal.campaigns.list_campaigns"),
        group(gettext("Contacts"), "user", contacts),
        group(gettext("Calls"), "phone", calls, "portal.calls.list_calls", "number"),
        group(
            gettext("Phone numbers"),
            "number",
            map(_number_hit, results.numbers),
            "portal.phone_numbers.list_numbers",
        ),
        group(
            gettext("API keys"), "key", map(_key_hit, results.keys), "portal.api_access.list_keys"
        ),
        group(
            gettext("API clients"),
            "key",
            map(_client_hit, results.clients),
            "portal.api_access.list_clients",
        ),
    ]


def _organization_names(session: Session, results: SearchResults) -> Names:
    ids = {call.organization_id for call in results.calls}
    ids |= {campaign.organization_id for campaign in results.campaigns}
    ids |= {campaign.organization_id for _, campaign in results.contacts}
    ids |= {assistant.organization_id for assistant in results.assistants}
    ids |= {user.organization_id for user in results.users if user.organization_id is not None}
    return organizations.names_of(session, caller(), ids) if ids else {}


def _make_hit(title: str, text: str | None, endpoint: str, **ids: Any) -> SearchHit:
    return SearchHit(title, text or "", url_for(endpoint, **ids))


def _join(*texts: str | None) -> str:
    return ", ".join(str(text) for text in texts if text)


def _partner_hit(row: Partner) -> SearchHit:
    return _make_hit(row.name, row.domain, "portal.operator.show_partner", partner_id=row.id)


def _organization_hit(row: Organization) -> SearchHit:
    text = _join(plan_name(row) if row.payment_tier else None, row.referral_code)
    return _make_hit(
        row.name, text, "portal.organizations.show_organization", organization_id=row.id
    )


def _user_hit(row: User, names: Names) -> SearchHit:
    affiliation = ROLE_NAMES[row.role]
    if row.user_type is Role.STANDARD and row.organization_id:
        affiliation = names.get(row.organization_id, "")
    text = _join(row.email if row.name else None, affiliation)
    return _make_hit(row.name or row.email, text, "portal.users.show_user", user_id=row.id)


def _assistant_hit(row: Assistant, names: Names) -> SearchHit:
    number = row.phone_number and phone(row.phone_number)
    text = _join(names.get(row.organization_id), number)
    return _make_hit(row.name, text, "portal.assistants.show_assistant", assistant_id=row.id)


def _campaign_hit(row: Campaign, names: Names) -> SearchHit:
    return _make_hit(
        row.name,
        names.get(row.organization_id),
        "portal.campaigns.show_campaign",
        campaign_id=row.id,
    )


def _contact_hit(row: Contact, campaign: Campaign, names: Names) -> SearchHit:
    number = row.phone and phone(row.phone)
    text = _join(number, row.email, campaign.name, names.get(campaign.organization_id))
    ids = {"campaign_id": campaign.id, "contact_id": row.id}
    return _make_hit(name_of(row), text, "portal.contacts.show_contact", **ids)


def _call_hit(row: Call, names: Names) -> SearchHit:
    created = short_datetime_in_zone(row.created_at, zone())
    text = _join(CALL_STATUS_LABELS[row.status], created, names.get(row.organization_id))
    return _make_hit(phone(row.phone_number), text, "portal.calls.show_call", call_id=row.id)


def _number_hit(row: ListedNumber) -> SearchHit:
    number = row.number.number
    return _make_hit(phone(number), row.organization, "portal.phone_numbers.list_numbers", q=number)


def _key_hit(row: ApiKey) -> SearchHit:
    return _make_hit(row.name, row.public_id, "portal.api_access.show_key", key_id=row.id)


def _client_hit(row: OAuthClient) -> SearchHit:
    return _make_hit(row.name, row.client_id, "portal.api_access.show_client", client_id=row.id)
