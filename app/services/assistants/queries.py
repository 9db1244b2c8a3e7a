"""Assistants: loading, lists, and readiness."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, exists, not_, or_, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus
from app.errors import NotFound
from app.languages import gettext
from app.models import Assistant, ExternalIdKey, Organization, Partner, PhoneNumber
from app.policy.caller import Caller
from app.services import name_search
from app.services.paging import (
    MAX_COUNTED,
    Page,
    both_ways,
    count_among,
    count_up_to,
    counting_up_to,
    keyset_page,
    sort_named,
)
from app.services.tenancy import (
    fetch,
    fetch_with_organization,
    inactive_message,
    of_tenant,
    remember_with_organization,
)
from app.validation.texts import trim
from app.validation.uuids import as_uuid

SORTS = both_ways(
    name=Assistant.name_key, created=Assistant.created_at, number=Assistant.phone_number
)
"""The sort orders of `search`."""


class Readiness(StrEnum):
    """Whether an assistant can call: off, on and ready, on and not ready, or never because its
    organization is archived."""

    READY = "ready"
    NOT_READY = "not-ready"
    OFF = "off"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class ReadinessCondition:
    """Something that an assistant needs. ``needed`` is False if calls work without it; ``section``
    is where it can be fixed: ``organization``, or the field of the assistant."""

    code: str
    met: bool
    message: str
    section: str
    needed: bool = True


def readiness(
    assistant: Assistant,
    organization: Organization,
    refusal: str | None = None,
    *,
    suspended_partner: str | None = None,
    is_confirmed: bool = True,
) -> list[ReadinessCondition]:
    """Return every condition for calling, in the order of setting up. ``refusal`` says why calls
    can't come from its number (`phone_numbers.refusals`); ``suspended_partner`` is the name of the
    partner if it is suspended; ``is_confirmed`` whether its number is confirmed by more than a
    user's word."""
    inactive = inactive_message(organization, suspended_partner)
    has_number = assistant.phone_number is not None
    has_intro = bool((assistant.default_intro or "").strip())
    has_voicemail = bool((assistant.default_voicemail or "").strip())
    return [
        _condition(
            "organization_active",
            inactive is None,
            (
                gettext("%(organization)s is active.", organization=organization.name),
                inactive or "",
            ),
            "organization",
        ),
        _condition(
            "assistant_active",
            assistant.active,
            (gettext("The assistant is switched on."), gettext("The assistant is switched off.")),
            "active",
        ),
        _condition(
            "phone_number",
            has_number and refusal is None,
            (
                gettext("It has the number %(number)s.", number=assistant.phone_number),
                refusal or gettext("No phone number yet."),
            ),
            "phone_number",
        ),
        _condition(
            "phone_enabled",
            assistant.phone_enabled,
            (
                gettext("Calls from its number are switched on."),
                gettext("Calls from its number are switched off."),
            ),
            "phone_enabled",
        ),
        _condition(
            "phone_configured",
            assistant.phone_configured,
            (
                gettext("The number is set up with the carrier.")
                if is_confirmed
                else gettext("Confirmed by hand: the number is set up with the carrier."),
                gettext("The number isn’t marked as set up with the carrier yet."),
            ),
            "phone_configured",
        ),
        _condition(
            "texts",
            has_intro and has_voicemail,
            (
                gettext("It has an intro and a voicemail message."),
                _missing_texts(has_intro, has_voicemail),
            ),
            "default_voicemail" if has_intro else "default_intro",
            needed=False,
        ),
    ]


def _missing_texts(has_intro: bool, has_voicemail: bool) -> str:
    if has_intro:
        return gettext("It has no voicemail message. Every call must include both messages.")
    if has_voicemail:
        return gettext("It has no intro. Every call must include both messages.")
    return gettext("It has no intro and voicemail message. Every call must include them.")


def readiness_of(
    assistant: Assistant,
    organization: Organization,
    refusal: str | None = None,
    suspended_partner: str | None = None,
) -> Readiness:
    """Return the conditions as one value."""
    if organization.status is OrganizationStatus.ARCHIVED:
        return Readiness.ARCHIVED
    if not assistant.active:
        return Readiness.OFF
    is_blocked = blocker_of(assistant, organization, refusal, suspended_partner)
    return Readiness.NOT_READY if is_blocked else Readiness.READY


def blocker_of(
    assistant: Assistant,
    organization: Organization,
    refusal: str | None = None,
    suspended_partner: str | None = None,
) -> str | None:
    """Return the first thing that an assistant lacks for calling, as a sentence."""
    conditions = readiness(assistant, organization, refusal, suspended_partner=suspended_partner)
    return next((each.message for each in conditions if each.needed and not each.met), None)


def _condition(
    code: str, met: bool, messages: tuple[str, str], section: str, *, needed: bool = True
) -> ReadinessCondition:
    return ReadinessCondition(code, met, messages[0] if met else messages[1], section, needed)


def _has_readiness(state: Readiness) -> ColumnElement[bool]:
    """Return `readiness_of` as a condition on rows joined with their organizations. It ignores
    whether the number is confirmed, because that depends on the carrier."""
    is_own = exists().where(
        PhoneNumber.number == Assistant.phone_number,
        PhoneNumber.organization_id == Assistant.organization_id,
    )
    is_archived = Organization.status == OrganizationStatus.ARCHIVED
    suspended_partners = select(Partner.id).where(Partner.suspended_at.is_not(None))
    can_call = and_(
        is_own,
        Assistant.phone_enabled,
        Assistant.phone_configured,
        Organization.status == OrganizationStatus.ACTIVE,
        Organization.partner_id.not_in(suspended_partners),
    )
    match state:
        case Readiness.OFF:
            return and_(not_(Assistant.active), not_(is_archived))
        case Readiness.READY:
            return and_(Assistant.active, can_call)
        case Readiness.NOT_READY:
            return and_(Assistant.active, not_(can_call), not_(is_archived))
        case Readiness.ARCHIVED:
            return is_archived


@dataclass(frozen=True, slots=True)
class AssistantFilter:
    """The filters of a list of assistants; ``query`` searches their names and numbers, and the
    names of their organizations for users who see several; ``organization`` is an id or part of a
    name, ``service`` part of the name of a service; ``partner_id`` narrows an operator's view."""

    organization: UUID | str | None = None
    query: str | None = None
    readiness: Readiness | None = None
    service: str | None = None
    partner_id: UUID | None = None


def search(
    session: Session,
    caller: Caller,
    filters: AssistantFilter,
    *,
    sort: str = "name",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Assistant]:
    """Return a page of assistants. Raises `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filter_assistants(session, caller, filters)
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def not_ready(
    session: Session, caller: Caller, limit: int
) -> Sequence[tuple[Assistant, Organization]]:
    """Return the newest assistants that can't call yet, each with its organization."""
    rows = _not_ready(caller).add_columns(Organization)
    newest = rows.order_by(Assistant.created_at.desc(), Assistant.id.desc()).limit(limit)
    return [(row[0], row[1]) for row in session.execute(newest)]


def counting_not_ready(caller: Caller, limit: int) -> ColumnElement[int]:
    """Return how many assistants can't call yet, up to ``limit``."""
    rows = _not_ready(caller).with_only_columns(Assistant.id)
    return counting_up_to(rows, limit - 1).scalar_subquery()


def _not_ready(caller: Caller) -> Select[Assistant]:
    """Return them joined with their organizations."""
    rows = visible(caller).join(Organization, Organization.id == Assistant.organization_id)
    return rows.where(_has_readiness(Readiness.NOT_READY))


def count(
    session: Session, caller: Caller, filters: AssistantFilter, *, most: int = MAX_COUNTED
) -> int:
    """Return how many match, as `paging.count_up_to`."""
    rows = _filter_assistants(session, caller, filters)
    return count_up_to(session, rows.with_only_columns(Assistant.id), most)


def count_if_few(
    session: Session, caller: Caller, filters: AssistantFilter, limit: int
) -> int | None:
    """Return how many match, by `paging.count_among` those of the caller."""
    rows = _filter_assistants(session, caller, filters).with_only_columns(Assistant.id)
    organization_id = filters.organization if isinstance(filters.organization, UUID) else None
    narrowed = _filter_assistants(
        session, caller, AssistantFilter(organization_id)
    ).with_only_columns(Assistant.id)
    return count_among(session, rows, narrowed, limit)


def _filter_assistants(
    session: Session, caller: Caller, filters: AssistantFilter
) -> Select[Assistant]:
    rows = visible(caller)
    column = Assistant.organization_id
    if filters.partner_id is not None:
        rows = rows.where(Assistant.partner_id == filters.partner_id)
    if filters.organization is not None:
        rows = rows.where(name_search.is_of_organization(session, column, filters.organization))
    query = trim(filters.query)
    if query:
        matches = Assistant.named(query)
        digits = "".join(filter(str.isdecimal, query))
        if digits and not any(map(str.isalpha, query)):
            matches = or_(matches, Assistant.phone_number.contains(digits))
        if caller.organization_id is None:
            matches = or_(matches, name_search.is_of_organization_by_name(session, column, query))
        rows = rows.where(matches)
    if filters.readiness is not None:
        rows = rows.join(Organization, Organization.id == Assistant.organization_id)
        rows = rows.where(_has_readiness(filters.readiness))
    if filters.service:
        rows = rows.where(Assistant.service.icontains(filters.service, autoescape=True))
    return rows


def external_id_keys(session: Session, assistant: Assistant) -> Sequence[ExternalIdKey]:
    """Return the keys of an assistant that came from its loader, by name."""
    query = select(ExternalIdKey).where(ExternalIdKey.assistant_id == assistant.id)
    return session.scalars(query.order_by(ExternalIdKey.key)).all()


def get(
    session: Session, caller: Caller, assistant_id: UUID | str, *, for_change: bool = False
) -> Assistant:
    """Return the assistant if the caller may see it. Raises `NotFound` (``agent_not_found``).

    ``for_change`` locks the row until the transaction ends. A read-only transaction reads it once.
    """
    identifier = as_uuid(assistant_id)
    if identifier is None:
        raise _not_found()
    query = visible(caller).where(Assistant.id == identifier)
    key = (Assistant, caller, identifier)
    return fetch(session, query, _not_found(), for_change=for_change, key=key)


def get_with_organization(
    session: Session, caller: Caller, assistant_id: UUID
) -> tuple[Assistant, Organization]:
    """As `get`, with the assistant's organization."""
    query = visible(caller).where(Assistant.id == assistant_id)
    return fetch_with_organization(session, caller, query, Assistant.organization_id, _not_found())


def _not_found() -> NotFound:
    return NotFound(gettext("There is no such assistant."), "agent_not_found")


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[Assistant]:
    """Return those of the assistants that the caller may use, by name."""
    rows = visible(caller).where(Assistant.id.in_(ids))
    return session.scalars(rows.order_by(Assistant.name_key, Assistant.id)).all()


def list_all(session: Session, caller: Caller) -> Sequence[Assistant]:
    """Return every assistant that the caller may use, in a stable order."""
    return session.scalars(visible(caller).order_by(Assistant.created_at, Assistant.id)).all()


def of_organization(session: Session, caller: Caller, organization_id: UUID) -> Sequence[Assistant]:
    """Return the organization's assistants that the caller may see, in a stable order."""
    query = visible(caller).where(Assistant.organization_id == organization_id)
    return session.scalars(query.order_by(Assistant.created_at, Assistant.id)).all()


def with_organizations(
    session: Session, caller: Caller, limit: int, *, also: UUID | str | None = None
) -> list[tuple[Assistant, Organization]]:
    """Return the first ``limit`` assistants by name, each with its organization, for a choice;
    none of an archived one. ``also`` is included in any case, if the caller may see it."""
    query = visible(caller).join(Organization, Organization.id == Assistant.organization_id)
    both = query.add_columns(Organization)
    first = both.where(Organization.status != OrganizationStatus.ARCHIVED)
    rows = session.execute(first.order_by(Assistant.name, Assistant.id).limit(limit)).all()
    extra_id = as_uuid(also) if also else None
    if extra_id is not None and all(row[0].id != extra_id for row in rows):
        rows = [*session.execute(both.where(Assistant.id == extra_id)).all(), *rows]
    for assistant, organization in rows:
        remember_with_organization(session, caller, assistant, organization)
    return [(row[0], row[1]) for row in rows]


def find_by_number(session: Session, caller: Caller, phone_number: str) -> Assistant:
    """Return the assistant that calls from this number. Raises `NotFound` (``agent_not_found``)."""
    missing = NotFound(
        gettext("No assistant of the organization has this number."), "agent_not_found"
    )
    return fetch(session, visible(caller).where(Assistant.phone_number == phone_number), missing)


def visible(caller: Caller) -> Select[Assistant]:
    return of_tenant(select(Assistant), caller, Assistant.partner_id, Assistant.organization_id)
