"""The data of pages about a data subject: a user, a contact, or a called person."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext
from app.models import is_erased
from app.portal.personal_data import labels
from app.portal.web.navigation import may_open
from app.services import calls, campaigns, contacts, users
from app.services.contacts import single_contact
from app.services.personal_data import subjects
from app.services.personal_data.subjects import DataSubject

Trail = list[tuple[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectPage:
    """``confirmation_text`` is entered to confirm the erasure, ``parents`` are the pages above
    that of the user, contact or call, which is ``url``; ``calls_url`` lists the calls to the
    subject."""

    subject: DataSubject
    name: str
    parents: Trail
    confirmation_text: str
    consequences: Sequence[str]
    url: str
    export_url: str
    erase_url: str
    calls_url: str | None = None
    may_be_erased: bool = True


Loader = Callable[[Session], SubjectPage]


def settings_trail() -> Trail:
    """Return the pages above those about people: the settings, if the user may open them."""
    if caller().partner_id is None or not may_open(caller(), "portal.personal_data.edit_settings"):
        return []
    return [
        (gettext("Settings"), url_for("portal.settings.edit_settings")),
        (gettext("Personal data"), url_for("portal.personal_data.edit_settings")),
    ]


def subject_trail(about: SubjectPage, title: str) -> Trail:
    """Return the trail of a page about the data of a person."""
    return [*about.parents, (about.name, about.url), (title, None)]


def _parent(label: str, endpoint: str, **ids: Any) -> Trail:
    """Return a page of a trail, if the user may open it."""
    return [(label, url_for(endpoint, **ids))] if may_open(caller(), endpoint) else []


def user(user_id: UUID) -> Loader:
    """Return the loader of a user, which raises `NotFound` like all of them."""

    def load(session: Session) -> SubjectPage:
        stored = users.get(session, caller(), user_id)
        return SubjectPage(
            subject=subjects.user(session, caller(), user_id),
            name=stored.name or stored.email,
            parents=_parent(gettext("Users"), "portal.users.list_users"),
            confirmation_text=stored.email,
            consequences=labels.OF_USERS,
            url=url_for("portal.users.show_user", user_id=user_id),
            export_url=url_for("portal.personal_data.export_user_data", user_id=user_id),
            erase_url=url_for("portal.personal_data.erase_user", user_id=user_id),
            may_be_erased=user_id != caller().subject_id and not is_erased(stored.email),
        )

    return load


def contact(campaign_id: UUID, contact_id: UUID) -> Loader:
    """Return the loader of a contact."""
    ids: dict[str, Any] = {"campaign_id": campaign_id, "contact_id": contact_id}

    def load(session: Session) -> SubjectPage:
        campaign = campaigns.get(session, caller(), campaign_id)
        stored = contacts.get(session, caller(), campaign_id, contact_id)
        name = single_contact.name_of(stored)
        return SubjectPage(
            subject=subjects.contact(session, caller(), campaign_id, contact_id),
            name=name,
            parents=[
                *_parent(gettext("Campaigns"), "portal.campaigns.list_campaigns"),
                *_parent(campaign.name, "portal.campaigns.show_campaign", campaign_id=campaign_id),
            ],
            confirmation_text=name,
            consequences=labels.OF_CONTACTS,
            url=url_for("portal.contacts.show_contact", **ids),
            export_url=url_for("portal.personal_data.export_contact_data", **ids),
            erase_url=url_for("portal.personal_data.erase_contact", **ids),
            calls_url=url_for("portal.calls.list_calls", number=stored.phone)
            if stored.phone
            else None,
        )

    return load


def called(call_id: UUID) -> Loader:
    """Return the loader of a called person, contact or not."""

    def load(session: Session) -> SubjectPage:
        subject = subjects.of_call(session, caller(), call_id)
        call = calls.get(session, caller(), call_id)
        name = call.name or call.phone_number
        return SubjectPage(
            subject=subject,
            name=name,
            parents=_parent(gettext("Calls"), "portal.calls.list_calls"),
            confirmation_text=name,
            consequences=labels.OF_CONTACTS,
            url=url_for("portal.calls.show_call", call_id=call_id),
            export_url=url_for("portal.personal_data.export_call_data", call_id=call_id),
            erase_url=url_for("portal.personal_data.erase_call", call_id=call_id),
            calls_url=url_for("portal.calls.list_calls", number=call.phone_number),
        )

    return load
