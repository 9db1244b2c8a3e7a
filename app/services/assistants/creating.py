"""Add assistants to an organization, within its limit."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import Assistant, ExternalIdKey, Organization, new_id
from app.policy.caller import Caller
from app.services import audit, phone_numbers
from app.services.tenancy import refuse_archived
from app.services.uniqueness import unless_taken

DEFAULT_NAME = "Assistant"


def add_assistant(
    session: Session,
    caller: Caller,
    organization: Organization,
    *,
    name: str | None,
    service: str | None = None,
    timezone: str | None = None,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    **values: Any,
) -> Assistant:
    """Add an assistant with further fields (names of `Assistant`). Raises `ValidationFailed`
    (``agent_limit_reached``), `Conflict` (``archived``) and as `configure_assistant`.

    The organization must come from its loader, which authorizes the caller.
    """
    _check_limit(session, organization.id)
    assistant = Assistant(
        id=new_id(),
        partner_id=organization.partner_id,
        organization_id=organization.id,
        name=name or DEFAULT_NAME,
        service=service,
        timezone=timezone,
    )
    session.add(assistant)
    session.flush()
    changed = {name: value for name, value in values.items() if getattr(assistant, name) != value}
    if changed:
        _configure(session, caller, assistant, carrier, changed)
    after = {"name": assistant.name, "service": service, "timezone": timezone, **changed}
    audit.record_change(session, caller, "agent.created", assistant, after=after)
    return assistant


def _check_limit(session: Session, organization_id: UUID) -> None:
    """Check that one more assistant fits; a limit of 0 means no limit.

    The organization's row stays locked until the transaction ends, so that only one of several
    requests gets the last place. Raises `ValidationFailed` (``agent_limit_reached``) and
    `Conflict` (``archived``).
    """
    organization = session.get_one(
        Organization, organization_id, with_for_update=True, populate_existing=True
    )
    refuse_archived(organization)
    used = session.scalar(
        select(func.count())
        .select_from(Assistant)
        .where(Assistant.organization_id == organization_id)
    )
    if organization.assistant_limit and (used or 0) >= organization.assistant_limit:
        message = gettext(
            "%(organization)s has %(taken)s of %(most)s assistants. Raise its assistant limit "
            "first.",
            organization=organization.name,
            taken=used,
            most=organization.assistant_limit,
        )
        raise ValidationFailed(message, "agent_limit_reached")


def configure_assistant(
    session: Session,
    caller: Caller,
    assistant: Assistant,
    *,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    **values: Any,
) -> Assistant:
    """Set fields of an assistant (names of `Assistant`). The assistant must come from its loader;
    ``carrier`` is the installation's.

    Raises `ValidationFailed` (``number_not_assigned`` where the number isn't the organization's,
    ``phone_number_taken`` where another assistant of the organization has it).
    """
    before = {name: getattr(assistant, name) for name in values}
    _configure(session, caller, assistant, carrier, values)
    audit.record_change(session, caller, "agent.updated", assistant, before=before, after=values)
    return assistant


def _configure(
    session: Session,
    caller: Caller,
    assistant: Assistant,
    carrier: CarrierKind,
    values: Mapping[str, Any],
) -> None:
    number, old_number = values.get("phone_number"), assistant.phone_number
    if number is not None and number != old_number:
        organization = session.get_one(Organization, assistant.organization_id)
        phone_numbers.require(session, caller, organization, number, carrier)
    for name, value in values.items():
        setattr(assistant, name, value)
    assistant.version += 1
    message = gettext("Another assistant of the organization has this number.")
    with unless_taken(session, ValidationFailed.on("phoneNumber", "phone_number_taken", message)):
        session.flush()
    if old_number is not None and old_number != assistant.phone_number:
        phone_numbers.release_unused(session, assistant.organization_id, old_number)


def define_external_id_key(
    session: Session, caller: Caller, assistant: Assistant, key: str, *, identifies: bool = False
) -> ExternalIdKey:
    """Add a key to the assistant's external-id settings, or replace its meaning."""
    definition = session.get(ExternalIdKey, (assistant.id, key))
    if definition is None:
        definition = ExternalIdKey(
            assistant_id=assistant.id, key=key, organization_id=assistant.organization_id
        )
        session.add(definition)
    definition.identifies = identifies
    session.flush()
    audit.record_change(
        session,
        caller,
        "agent.external_id_key_defined",
        assistant,
        after={"key": key, "identifies": identifies},
    )
    return definition
