"""Finding a person, and the stored data about them, on a page and as an export."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import Call, User
from app.portal.personal_data import blueprint, labels, subject_pages
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.formats import ROLE_NAMES, day, phone
from app.portal.web.messages import changing, redirect_with
from app.portal.web.user_timezone import zone
from app.services import organizations, search
from app.services.calls import callee_search
from app.services.contacts import single_contact
from app.services.personal_data import exporting, preview

SHOWN = 20
Choice = tuple[str, str, str, str]
"""Name, text below it, icon and URL."""


@blueprint.get("/personal-data")
def find_personal_data() -> str:
    query = lists.text_filter("q") or ""
    with transaction(read_only=True) as session:
        return render_template(
            "portal/personal_data/find.html",
            query=query,
            **_match_context(session, query),
            trail=subject_pages.settings_trail(),
        )


def _match_context(session: Session, query: str) -> dict[str, Any]:
    """Return the matches of the words, at most `SHOWN` of each kind."""
    matches = search.users_and_contacts(session, caller(), query, SHOWN)
    last_calls = callee_search.last_calls_to(session, caller(), query, limit=SHOWN)
    return {
        "groups": _group_matches(session, matches, last_calls),
        "max_rows": SHOWN,
        "is_cut": SHOWN in (len(matches.users), len(matches.contacts), len(last_calls)),
    }


def _group_matches(
    session: Session, matches: search.SearchResults, last_calls: Sequence[Call]
) -> list[tuple[str, Sequence[Choice]]]:
    """Return the people found, with the names of their organizations."""
    ids = {user.organization_id for user in matches.users if user.organization_id}
    ids |= {campaign.organization_id for _contact, campaign in matches.contacts}
    reached = {(campaign.organization_id, each.phone) for each, campaign in matches.contacts}
    further_calls = [
        call for call in last_calls if (call.organization_id, call.phone_number) not in reached
    ]
    ids |= {call.organization_id for call in further_calls}
    names = organizations.names_of(session, caller(), ids)
    of_calls = gettext("Other people called") if matches.contacts else gettext("People called")
    return [
        (gettext("Users"), [_user_choice(user, names) for user in matches.users]),
        (gettext("Contacts"), _contact_choices(matches, names)),
        (of_calls, [_called_choice(call, names) for call in further_calls]),
    ]


@blueprint.get("/users/<uuid:user_id>/data")
def show_user_data(user_id: UUID) -> str:
    return _page(subject_pages.user(user_id))


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/data")
def show_contact_data(campaign_id: UUID, contact_id: UUID) -> str:
    return _page(subject_pages.contact(campaign_id, contact_id))


@blueprint.get("/calls/<uuid:call_id>/data")
def show_call_data(call_id: UUID) -> str:
    return _page(subject_pages.called(call_id))


def _page(load: subject_pages.Loader) -> str:
    with transaction(read_only=True) as session:
        about = load(session)
        return render_template(
            "portal/personal_data/subject.html",
            about=about,
            lines=labels.rows_of(preview.erasure_lines(session, about.subject)),
            urls={"calls": about.calls_url},
            trail=subject_pages.subject_trail(about, gettext("Data")),
        )


def _user_choice(user: User, names: dict[UUID, str]) -> Choice:
    details = (
        names.get(user.organization_id) if user.organization_id else None,
        str(ROLE_NAMES[user.role]),
        user.email if user.name else None,
    )
    url = url_for("portal.personal_data.show_user_data", user_id=user.id)
    return user.name or user.email, _join_texts(*details), "user", url


def _contact_choices(matches: search.SearchResults, names: dict[UUID, str]) -> Sequence[Choice]:
    """Return each person once, by the newest contact of an organization."""
    rows: dict[tuple[Any, ...], Choice] = {}
    for contact, campaign in matches.contacts:
        details = (
            names.get(campaign.organization_id),
            campaign.name,
            phone(contact.phone) if contact.phone else None,
            contact.email,
        )
        rows.setdefault(
            (campaign.organization_id, contact.phone, contact.email_key),
            (
                single_contact.name_of(contact),
                _join_texts(*details),
                "phone",
                url_for(
                    "portal.personal_data.show_contact_data",
                    campaign_id=campaign.id,
                    contact_id=contact.id,
                ),
            ),
        )
    return list(rows.values())


def _called_choice(call: Call, names: dict[UUID, str]) -> Choice:
    number = phone(call.phone_number)
    last_call = gettext("last called on %(day)s", day=day(call.created_at, zone()))
    details = _join_texts(names.get(call.organization_id), number if call.name else None, last_call)
    return (
        call.name or number,
        details,
        "phone",
        url_for("portal.personal_data.show_call_data", call_id=call.id),
    )


def _join_texts(*texts: str | None) -> str:
    return ", ".join(filter(None, texts))


@blueprint.post("/users/<uuid:user_id>/data-export")
def export_user_data(user_id: UUID) -> Page:
    return _submit(subject_pages.user(user_id))


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/data-export")
def export_contact_data(campaign_id: UUID, contact_id: UUID) -> Page:
    return _submit(subject_pages.contact(campaign_id, contact_id), campaign=campaign_id)


@blueprint.post("/calls/<uuid:call_id>/data-export")
def export_call_data(call_id: UUID) -> Page:
    return _submit(subject_pages.called(call_id), call=call_id)


def _submit(load: subject_pages.Loader, **of: UUID) -> Page:
    url = url_for("portal.record_lists.list_exports")
    with changing(url, Conflict) as session:
        exporting.request(session, caller(), load(session).subject, zone(), **of)
    return redirect_with(gettext("The export is being prepared. You get an email."), url)
