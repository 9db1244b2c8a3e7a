"""The retired calling API: which clients are served, and how a request maps to Area C."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Area, CallSource, OrganizationStatus, Tier
from app.errors import Forbidden, Gone, Unauthenticated, ValidationFailed
from app.models import OAuthClient, Organization, utcnow
from app.policy.caller import Caller
from app.schemas.legacy import LegacyCallInput
from app.services import assistants, calls
from app.services.calls.rules import PHONE_FIELD
from app.services.credentials import tokens

SUCCESSOR = "/api/v1/outbound/call"


@dataclass(frozen=True, slots=True)
class ClientTerms:
    """A client with a valid token and its conditions."""

    caller: Caller
    served_until: datetime
    """The end of the area, or the later end of the client's own extension."""
    plan: Tier | None
    is_active: bool
    """Whether the organization is neither suspended nor archived."""

    def require_service(self) -> None:
        """Raise `Forbidden` (``organization_suspended``), `Gone` (``retired``) after the end, and
        `Forbidden` (``plan_required``) for an organization without the Plus plan."""
        if not self.is_active:
            message = "The organization of this client is suspended."
            raise Forbidden(message, "organization_suspended")
        if utcnow() >= self.served_until:
            message = f"This API was retired. Use POST {SUCCESSOR}."
            raise Gone(message, "retired")
        if self.plan is not Tier.PLUS:
            message = "Calling needs the Plus plan."
            raise Forbidden(message, "plan_required")


def recognise(
    session: Session,
    token: str | None,
    *,
    settings: Settings,
    ip: str | None = None,
    request_id: str | None = None,
) -> ClientTerms:
    """Return the client of the token. Raises `Forbidden` (``token_missing``, ``invalid_token``):
    this area's contract has no 401."""
    try:
        caller = tokens.caller_from_bearer(
            session, token, Area.LEGACY_CALLS, settings=settings, ip=ip, request_id=request_id
        )
    except Unauthenticated as error:
        raise Forbidden(error.message, error.code) from None
    extension, plan, status = session.execute(
        select(OAuthClient.served_until, Organization.payment_tier, Organization.status)
        .join(Organization, Organization.id == OAuthClient.organization_id)
        .where(OAuthClient.id == caller.subject_id)
    ).one()
    is_active = status is OrganizationStatus.ACTIVE
    return ClientTerms(caller, end_of_service(extension, settings), plan, is_active)


def served_until(client: OAuthClient, settings: Settings) -> datetime | None:
    """Return the end of service of a client of this area; None for other clients."""
    if client.area is not Area.LEGACY_CALLS:
        return None
    return end_of_service(client.served_until, settings)


def end_of_service(extension: datetime | None, settings: Settings) -> datetime:
    """Return until when a client with this extension, if any, is served."""
    retirement = settings.legacy_retirement
    return max(extension or retirement, retirement)


def place(
    session: Session, caller: Caller, request: LegacyCallInput, settings: Settings
) -> calls.CallScheduled:
    """Pass the request to the call service.

    Raises `ValidationFailed` (``messaging_required``, ``messaging_incomplete``,
    ``messaging_conflict``, ``number_not_allowed``), `NotFound` (``agent_not_found``) and the other
    errors of `calls.schedule`.
    """
    _check_messages(request)
    assistant = assistants.find_by_number(session, caller, request.from_phone_number)
    first_name, last_name = request.first_and_last()
    call_request = calls.CallRequest(
        assistant_id=assistant.id,
        phone_number=request.to_phone_number,
        first_name=first_name,
        last_name=last_name,
        metadata=request.metadata(),
        intro_message=request.intro_message,
        voicemail_message=request.intro_voicemail,
        call_instructions=request.intro_notes,
    )
    try:
        return calls.schedule(
            session,
            caller,
            call_request,
            settings.call_settings,
            source=CallSource.LEGACY,
            live=True,
        )
    except ValidationFailed as error:
        raise _rename_fields(error) from None


def _check_messages(request: LegacyCallInput) -> None:
    notes, intro, voicemail = request.intro_notes, request.intro_message, request.intro_voicemail
    if notes and (intro or voicemail):
        message = "Send introNotes alone, or introMessage and introVoicemail together."
        raise ValidationFailed.on("introNotes", "messaging_conflict", message)
    if bool(intro) != bool(voicemail):
        missing = "introVoicemail" if intro else "introMessage"
        message = "introMessage and introVoicemail are sent together or not at all."
        raise ValidationFailed.on(missing, "messaging_incomplete", message)
    if not notes and not intro:
        message = "Send introNotes, or introMessage and introVoicemail together."
        raise ValidationFailed.on("introNotes", "messaging_required", message)


def _rename_fields(error: ValidationFailed) -> ValidationFailed:
    """Return the call service's error with the field names of this area."""
    names = {PHONE_FIELD: "toPhoneNumber"}
    problems = [replace(p, field=names.get(p.field, p.field)) for p in error.problems]
    return ValidationFailed(error.message, error.code, problems)
