"""Search: screens, organizations, users, campaigns and calls by a few words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flask import request, url_for
from sqlalchemy.orm import Session

from app import languages
from app.enums import Role
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import Call, Campaign, Contact, User
from app.models.folding import fold
from app.portal.search import pages
from app.portal.search.highlight import highlighted
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.formats import CALL_STATUS_NAMES, phone, short_datetime_in_zone
from app.portal.web.fragments import render_page
from app.portal.web.navigation import ROLE_NAMES, may_open, navigation_for
from app.portal.web.plan_names import plan_name
from app.portal.web.user_timezone import zone
from app.services import organizations
from app.services import search as service_search
from app.services.contacts.single import name_of
from app.services.near_names import is_near
from app.services.search import SearchResults

SHOWN = 5


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


@portal.get("/find", endpoint="find")
def find_things() -> str:
    """The page, also for its own field; for that of the top bar, the short list below it."""
    words = lists.text_filter("q") or ""
    is_own_field = request.headers.get("HX-Target") == "found"
    return render_page(
        "portal/search/page.html",
        "portal/search/page.html" if is_own_field else "portal/search/_quick.html",
        words=words,
        highlighted=lambda text: highlighted(str(text), words),
        **_results(words),
        all_url=url_for("portal.find", q=words),
    )


def _results(words: str) -> dict[str, Any]:
    """Return what the words find or, if that is nothing, what nearly has them in its name."""
    groups = _found(words) if words else []
    near = _found(words, nearly=True) if words and not groups else []
    return {"groups": groups or near, "are_near": bool(near)}


def _found(words: str, *, nearly: bool = False) -> list[SearchGroup]:
    """Return the screens, actions and records that the words find, or whose names are ``nearly``
    the words."""
    find = service_search.near if nearly else service_search.find
    actions = _pages(pages.ACTIONS, words, nearly)[:SHOWN]
    with transaction(read_only=True) as session:
        records = _groups(session, find(session, caller(), words, SHOWN), words)
    groups = (_screens(words, nearly), SearchGroup(gettext("Actions"), "bolt", actions), *records)
    return [group for group in groups if group.hits]


def _screens(words: str, nearly: bool) -> SearchGroup:
    with languages.using_language(languages.DEFAULT):
        in_english = {
            row.url: str(row.label) for group in navigation_for(caller()) for row in group.rows
        }
    has = is_near if nearly else _has
    in_sidebar = [
        SearchHit(row.label, group.label or "", row.url)
        for group in navigation_for(caller())
        for row in group.rows
        if any(has(str(label), words) for label in (row.label, in_english[row.url]))
    ]
    urls = {hit.url for hit in in_sidebar}
    others = [hit for hit in _pages(pages.PAGES, words, nearly) if hit.url not in urls]
    return SearchGroup(gettext("Screens"), "layout-dashboard", [*in_sidebar, *others][:SHOWN])


def _has(text: str, words: str) -> bool:
    return fold(words) in fold(text)


def _pages(of: Sequence[pages.SearchablePage], words: str, nearly: bool) -> list[SearchHit]:
    """Return those that the caller may open and that have words that begin, or nearly, with the
    words searched."""
    begin = is_near if nearly else _begin
    found = [
        page for page in of if may_open(caller(), page.endpoint) and begin(_words_of(page), words)
    ]
    label = " ".join(_parts(words))
    found.sort(key=lambda page: label not in " ".join(_parts(page.label)))
    return [SearchHit(page.label, page.within, _url(page)) for page in found]


def _begin(text: str, words: str) -> bool:
    return all(f" {word}" in text for word in _parts(words))


def _url(page: pages.SearchablePage) -> str:
    return url_for(page.shown_at or page.endpoint, _anchor=page.anchor)


def _parts(words: str) -> list[str]:
    return fold(str(words)).replace("-", " ").split()


def _words_of(page: pages.SearchablePage) -> str:
    """Return what finds the page: its words in the current language, and the English ones."""
    here = f"{page.label} {page.words}"
    with languages.using_language(languages.DEFAULT):
        parts = _parts(f"{here} {page.label} {page.words}")
    return "".join(f" {part}" for part in parts)


def _groups(session: Session, found: SearchResults, words: str) -> list[SearchGroup]:
    ids = {call.organization_id for call in found.calls}
    ids |= {campaign.organization_id for campaign in found.campaigns}
    ids |= {campaign.organization_id for _, campaign in found.contacts}
    ids |= {assistant.organization_id for assistant in found.assistants}
    ids |= {user.organization_id for user in found.users if user.organization_id is not None}
    names = organizations.names_of(session, caller(), ids) if ids else {}

    def group(
        label: str, icon: str, hits: Iterable[SearchHit], endpoint: str = "", name: str = "q"
    ) -> SearchGroup:
        shown = [*hits]
        has_more = endpoint and len(shown) > SHOWN
        further = url_for(endpoint, **{name: words}) if has_more else None  # type: ignore[arg-type]  # a name of the query
        return SearchGroup(label, icon, shown[:SHOWN], further)

    def hit(title: str, note: str | None, endpoint: str, **ids: Any) -> SearchHit:
        return SearchHit(title, note or "", url_for(endpoint, **ids))

    def subtitle(*parts: str | None) -> str:
        return ", ".join(str(part) for part in parts if part)

    def about_user(user: User) -> str:
        where = ROLE_NAMES[user.role]
        if user.user_type is Role.STANDARD and user.organization_id:
            where = names.get(user.organization_id, "")
        return subtitle(user.email if user.name else None, where)

    def about_call(call: Call) -> str:
        at = short_datetime_in_zone(call.created_at, zone())
        return subtitle(CALL_STATUS_NAMES[call.status], at, names.get(call.organization_id))

    def about_contact(contact: Contact, campaign: Campaign) -> str:
        number = contact.phone and phone(contact.phone)
        return subtitle(number, contact.email, campaign.name, names.get(campaign.organization_id))

    partners = (
        hit(row.name, row.domain, "portal.operator_partner", partner_id=row.id)
        for row in found.partners
    )
    found_organizations = (
        hit(
            row.name,
            subtitle(plan_name(row) if row.payment_tier else None, row.referral_code),
            "portal.organization",
            organization_id=row.id,
        )
        for row in found.organizations
    )
    users = (
        hit(row.name or row.email, about_user(row), "portal.user", user_id=row.id)
        for row in found.users
    )
    assistants = (
        hit(
            row.name,
            subtitle(names.get(row.organization_id), row.phone_number and phone(row.phone_number)),
            "portal.assistant",
            assistant_id=row.id,
        )
        for row in found.assistants
    )
    campaigns = (
        hit(row.name, names.get(row.organization_id), "portal.campaign", campaign_id=row.id)
        for row in found.campaigns
    )
    contacts = (
        hit(
            name_of(contact),
            about_contact(contact, campaign),
            "portal.contact",
            campaign_id=campaign.id,
            contact_id=contact.id,
        )
        for contact, campaign in found.contacts
    )
    calls = (
        hit(phone(row.phone_number), about_call(row), "portal.call", call_id=row.id)
        for row in found.calls
    )
    numbers = (
        hit(phone(row.number.number), row.organization, "portal.phone_numbers", q=row.number.number)
        for row in found.numbers
    )
    keys = (hit(row.name, row.public_id, "portal.api_key", key_id=row.id) for row in found.keys)
    clients = (
        hit(row.name, row.client_id, "portal.api_client", client_id=row.id) for row in found.clients
    )
    return [
        group(gettext("Partners"), "world", partners, "portal.overview"),
        group(gettext("Organizations"), "building", found_organizations, "portal.organizations"),
        group(gettext("Users"), "users", users, "portal.users"),
        group(gettext("Assistants"), "headset", assistants, "portal.assistants"),
        group(gettext("Campaigns"), "speakerphone", campaigns, "portal.campaigns"),
        group(gettext("Contacts"), "user", contacts),
        group(gettext("Calls"), "phone", calls, "portal.calls", "number"),
        group(gettext("Phone numbers"), "number", numbers, "portal.phone_numbers"),
        group(gettext("API keys"), "key", keys, "portal.api_access"),
        group(gettext("API clients"), "key", clients, "portal.api_clients"),
    ]
