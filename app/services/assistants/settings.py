"""The settings of an assistant: checked together, every problem named at its field."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import (
    NotFound,
    Problem,
    ValidationFailed,
    check_length,
    check_version,
    raise_problems,
)
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Assistant, Campaign, ContactExternalId, ExternalIdKey, Organization
from app.phone import PhoneError, normalise
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.fields import can_be_seen
from app.services import assistants, audit, destinations
from app.services.assistants.creating import (
    add_assistant,
    configure_assistant,
    define_external_id_key,
)
from app.validation.texts import trim
from app.validation.time_zones import time_zones, unknown_zone

MAX_NAME = 200
MAX_TEXT = 1000
MAX_KEY = 100


@dataclass(frozen=True, slots=True)
class AssistantFields:
    """Every setting of an assistant. Blank texts are absent; ``phone_number`` may have any notation
    of the organization's region."""

    name: str
    service: str | None = None
    timezone: str | None = None
    active: bool = True
    phone_number: str | None = None
    phone_enabled: bool = False
    phone_configured: bool = False
    default_intro: str | None = None
    default_voicemail: str | None = None
    voice_address: str | None = None


def create_assistant(
    session: Session,
    caller: Caller,
    organization: Organization,
    fields: AssistantFields,
    *,
    stored: Collection[AssistantFields] = (),
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    allow_private: bool = False,
) -> Assistant:
    """Add an assistant to an organization that came from its loader. ``stored`` is as in
    `validate_fields`, ``carrier`` the installation's; ``allow_private`` lets its voice address have
    a private host.

    Raises `Forbidden`, `Conflict` (``archived``) and `ValidationFailed` (each field's problem, or
    ``agent_limit_reached``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    checked = asdict(validate_fields(session, fields, organization, stored, allow_private))
    return add_assistant(session, caller, organization, carrier=carrier, **checked)


def update_assistant(
    session: Session,
    caller: Caller,
    assistant_id: UUID,
    fields: AssistantFields,
    *,
    expected_version: int | None = None,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    allow_private: bool = False,
) -> Assistant:
    """Write what differs. Raises as `create_assistant`, and `Conflict` (``changed_meanwhile``)."""
    caller.require(Permission.ASSISTANTS_WRITE)
    assistant = assistants.get(session, caller, assistant_id, for_change=True)
    check_version(expected_version, assistant.version, "assistant")
    organization = session.get_one(Organization, assistant.organization_id)
    checked = asdict(validate_fields(session, fields, organization, [assistant], allow_private))
    changes = {name: value for name, value in checked.items() if getattr(assistant, name) != value}
    if not changes:
        return assistant
    return configure_assistant(session, caller, assistant, carrier=carrier, **changes)


def toggle(session: Session, caller: Caller, assistant_id: UUID, *, on: bool) -> Assistant:
    """Switch an assistant on or off. Raises `Forbidden` and `NotFound`."""
    caller.require(Permission.ASSISTANTS_WRITE)
    assistant = assistants.get(session, caller, assistant_id, for_change=True)
    if assistant.active == on:
        return assistant
    return configure_assistant(session, caller, assistant, active=on)


def add_external_id_key(
    session: Session, caller: Caller, assistant_id: UUID, key: str, *, identifies: bool
) -> ExternalIdKey:
    """Add a key. Raises `Forbidden`, `NotFound` and `ValidationFailed` (``blank``, ``too_long``,
    ``key_exists``)."""
    caller.require(Permission.ASSISTANTS_WRITE)
    assistant = assistants.get(session, caller, assistant_id, for_change=True)
    key = trim(key)
    if not key:
        raise ValidationFailed.on("key", "blank", gettext("This can't be left blank."))
    check_length("key", key, MAX_KEY)
    if session.get(ExternalIdKey, (assistant.id, key)) is not None:
        message = gettext("The assistant already has this key.")
        raise ValidationFailed.on("key", "key_exists", message)
    return define_external_id_key(session, caller, assistant, key, identifies=identifies)


def remove_external_id_key(session: Session, caller: Caller, assistant_id: UUID, key: str) -> None:
    """Remove a key; contacts keep their values. Raises `Forbidden` and `NotFound`
    (``agent_not_found``, ``key_not_found``)."""
    caller.require(Permission.ASSISTANTS_WRITE)
    assistant = assistants.get(session, caller, assistant_id, for_change=True)
    definition = get_key(session, assistant, key)
    session.delete(definition)
    session.flush()
    audit.record_change(
        session,
        caller,
        "agent.external_id_key_removed",
        assistant,
        before={"key": key, "identifies": definition.identifies},
    )


def get_key(session: Session, assistant: Assistant, key: str) -> ExternalIdKey:
    """Return a key of an assistant that came from its loader. Raises `NotFound`
    (``key_not_found``)."""
    definition = session.get(ExternalIdKey, (assistant.id, key))
    if definition is None:
        message = gettext("There is no such key.")
        raise NotFound(message, "key_not_found")
    return definition


def contacts_with_key(session: Session, assistant: Assistant, key: str) -> int:
    """Return how many contacts of the organization have a value for the key."""
    query = (
        select(func.count())
        .select_from(ContactExternalId)
        .join(Campaign, Campaign.id == ContactExternalId.campaign_id)
        .where(Campaign.organization_id == assistant.organization_id, ContactExternalId.key == key)
    )
    return session.scalar(query) or 0


def defined_elsewhere(session: Session, assistant: Assistant, key: str) -> int:
    """Return how many other assistants of the organization define the same key."""
    query = select(func.count()).where(
        ExternalIdKey.organization_id == assistant.organization_id,
        ExternalIdKey.key == key,
        ExternalIdKey.assistant_id != assistant.id,
    )
    return session.scalar(query) or 0


def validate_fields(
    session: Session,
    fields: AssistantFields,
    organization: Organization,
    stored: Collection[AssistantFields | Assistant],
    allow_private: bool,
) -> AssistantFields:
    """Return the fields as they are stored. The voice address and the messages of ``stored`` are
    accepted unchecked: they may be older than a rule. Raises `ValidationFailed` with every
    problem."""
    problems: list[Problem] = []
    texts = _own_texts(fields, stored, problems)
    voice = (fields.voice_address or "").strip() or None
    if voice is not None and all(voice != each.voice_address for each in stored):
        allowed = destinations.destinations_of(session, organization)
        if problem := _voice_problem(voice, allowed, allow_private):
            problems.append(problem)
    checked = AssistantFields(
        **texts,
        active=fields.active,
        phone_number=_parse_number(fields.phone_number, organization.default_region, problems),
        phone_enabled=fields.phone_enabled,
        phone_configured=fields.phone_configured,
        voice_address=voice,
    )
    raise_problems(problems)
    return checked


def check_texts(fields: AssistantFields) -> None:
    """Raise `ValidationFailed` with the problems that don't depend on the organization: those of a
    number only if its country doesn't matter or is known."""
    problems: list[Problem] = []
    _own_texts(fields, (), problems)
    voice = (fields.voice_address or "").strip()
    if voice and (refusal := destinations.shape_refusal(voice)):
        problems.append(Problem("voiceAddress", "invalid_url", refusal))
    if number := (fields.phone_number or "").strip():
        try:
            normalise(number, None)
        except PhoneError as error:
            if error.code != "country_missing":
                problems.append(Problem("phoneNumber", "invalid_phone", error.message))
    raise_problems(problems)


def _own_texts(
    fields: AssistantFields,
    stored: Collection[AssistantFields | Assistant],
    problems: list[Problem],
) -> dict[str, Any]:
    """Return the name, service, time zone and messages as they are stored; add their problems."""
    name = _clean_text("name", fields.name, MAX_NAME, problems)
    if not (name and can_be_seen(name)):
        problems.append(Problem("name", "blank", gettext("Enter a name.")))
    timezone = (fields.timezone or "").strip() or None
    if timezone is not None and timezone not in time_zones():
        message = unknown_zone(timezone)
        problems.append(Problem("timezone", "unknown_timezone", message))
    intro = _clean_text("defaultIntro", fields.default_intro, MAX_TEXT, problems)
    voicemail = _clean_text("defaultVoicemail", fields.default_voicemail, MAX_TEXT, problems)
    if all((intro, voicemail) != (each.default_intro, each.default_voicemail) for each in stored):
        if voicemail and not intro:
            message = gettext("Enter an intro too, or leave both blank.")
            problems.append(Problem("defaultIntro", "required", message))
        if intro and not voicemail:
            message = gettext("Enter a voicemail message too, or leave both blank.")
            problems.append(Problem("defaultVoicemail", "required", message))
    return {
        "name": name or "",
        "service": _clean_text("service", fields.service, MAX_NAME, problems),
        "timezone": timezone,
        "default_intro": intro,
        "default_voicemail": voicemail,
    }


def _voice_problem(
    address: str, allowed: destinations.CallDestinations, allow_private: bool
) -> Problem | None:
    """Return what is wrong with a new voice address; its name is resolved when a call is placed."""
    refusal = destinations.hand_over_refusal(address, allowed)
    is_checked = refusal is None and not allow_private
    if is_checked and destinations.is_private_host(destinations.host_of(address)):
        refusal = gettext("Enter an address with a public host.")
    return Problem("voiceAddress", "invalid_url", refusal) if refusal else None


def _clean_text(field: str, value: str | None, limit: int, problems: list[Problem]) -> str | None:
    text = (value or "").replace("\0", "").replace("\r\n", "\n").strip()
    if len(text) > limit:
        max_length = localize_number(limit)
        message = gettext("Too long. Use at most %(most)s characters.", most=max_length)
        problems.append(Problem(field, "too_long", message))
    return text or None


def _parse_number(value: str | None, region: str | None, problems: list[Problem]) -> str | None:
    if not (value or "").strip():
        return None
    try:
        return normalise((value or "").strip(), region)
    except PhoneError as error:
        problems.append(Problem("phoneNumber", "invalid_phone", error.message))
        return None
