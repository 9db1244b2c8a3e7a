"""The first steps of each role, and which of them are done."""

from collections.abc import Callable
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.enums import Role
from app.models import (
    Assistant,
    BrandVersion,
    Call,
    Campaign,
    ContactImport,
    Organization,
    Outreach,
    Partner,
    User,
    utcnow,
)
from app.policy.caller import Caller
from app.services.tenancy import of_tenant


class SetupStep(StrEnum):
    """The steps, in no order: each role has its own."""

    BRAND = "brand"
    DOMAIN = "domain"
    ORGANIZATION = "organization"
    MEMBER = "member"
    COLLEAGUE = "colleague"
    ASSISTANT = "assistant"
    UPLOAD = "upload"
    CAMPAIGN = "campaign"
    CALL = "call"
    TIME_ZONE = "time-zone"


_OF_A_PARTNER = (SetupStep.ORGANIZATION, SetupStep.ASSISTANT, SetupStep.UPLOAD, SetupStep.CALL)
STEPS: dict[Role, tuple[SetupStep, ...]] = {
    Role.PARTNER_ADMIN: (SetupStep.BRAND, SetupStep.DOMAIN, *_OF_A_PARTNER),
    Role.PARTNER_EDITOR: (SetupStep.BRAND, *_OF_A_PARTNER),
    Role.ADMIN: (
        *(SetupStep.ORGANIZATION, SetupStep.MEMBER, SetupStep.ASSISTANT),
        *(SetupStep.UPLOAD, SetupStep.CAMPAIGN, SetupStep.CALL),
    ),
    Role.OWNER: (
        SetupStep.ASSISTANT,
        SetupStep.COLLEAGUE,
        SetupStep.CALL,
        SetupStep.UPLOAD,
        SetupStep.CAMPAIGN,
    ),
    Role.STANDARD: (SetupStep.TIME_ZONE, SetupStep.CALL, SetupStep.UPLOAD, SetupStep.CAMPAIGN),
}
"""By role, in their order."""


def steps_of(caller: Caller) -> dict[SetupStep, ColumnElement[bool]]:
    """Return each step of the caller's role and the condition that it is done; none for
    operators."""
    if caller.partner_id is None:
        return {}
    return {step: _CONDITIONS[step](caller) for step in STEPS.get(caller.role, ())}


def can_call(session: Session, caller: Caller) -> bool:
    """Return the condition that the caller has an assistant that is ready to call."""
    return bool(session.scalar(select(_has_ready_assistant(caller))))


def hide_first_steps(session: Session, caller: Caller, *, is_hidden: bool) -> None:
    """Hide the first steps from the caller, or show them again."""
    user = session.get_one(User, caller.user_id)
    user.first_steps_hidden_at = utcnow() if is_hidden else None
    session.flush()


def _of_tenant(
    caller: Caller,
    id_: InstrumentedAttribute[object],
    partner_id: InstrumentedAttribute[object],
    organization_id: InstrumentedAttribute[object],
    *conditions: ColumnElement[bool],
) -> ColumnElement[bool]:
    """Return the condition that the caller's partner or organization has such a row."""
    query = select(id_).where(partner_id == caller.partner_id, *conditions)
    return of_tenant(query, caller, partner_id, organization_id).exists()


def _has_brand(caller: Caller) -> ColumnElement[bool]:
    published = BrandVersion.published_at.is_not(None)
    of_partner = BrandVersion.partner_id == caller.partner_id
    return select(BrandVersion.id).where(of_partner, published).exists()


def _has_domain(caller: Caller) -> ColumnElement[bool]:
    verified = Partner.domain_verified_at.is_not(None)
    return select(Partner.id).where(Partner.id == caller.partner_id, verified).exists()


def _has_organization(caller: Caller) -> ColumnElement[bool]:
    return _of_tenant(caller, Organization.id, Organization.partner_id, Organization.id)


def _has_member(caller: Caller) -> ColumnElement[bool]:
    has_one = User.organization_id.is_not(None)
    return _of_tenant(caller, User.id, User.partner_id, User.organization_id, has_one)


def _has_colleague(caller: Caller) -> ColumnElement[bool]:
    another = User.id != caller.user_id
    return _of_tenant(caller, User.id, User.partner_id, User.organization_id, another)


def _has_ready_assistant(caller: Caller) -> ColumnElement[bool]:
    ready = and_(
        Assistant.active,
        Assistant.phone_enabled,
        Assistant.phone_configured,
        Assistant.phone_number.is_not(None),
    )
    return _of_tenant(caller, Assistant.id, Assistant.partner_id, Assistant.organization_id, ready)


def _has_upload(caller: Caller) -> ColumnElement[bool]:
    table, applied = ContactImport, ContactImport.rows_applied > 0
    return _of_tenant(caller, table.id, table.partner_id, table.organization_id, applied)


def _has_started_campaign(caller: Caller) -> ColumnElement[bool]:
    started = (
        select(Outreach.campaign_id)
        .where(Outreach.campaign_id == Campaign.id, Outreach.started_at.is_not(None))
        .exists()
    )
    return _of_tenant(caller, Campaign.id, Campaign.partner_id, Campaign.organization_id, started)


def _has_call(caller: Caller) -> ColumnElement[bool]:
    return _of_tenant(caller, Call.id, Call.partner_id, Call.organization_id)


def _has_time_zone(caller: Caller) -> ColumnElement[bool]:
    is_set = User.timezone.is_not(None)
    return select(User.id).where(User.id == caller.user_id, is_set).exists()


_CONDITIONS: dict[SetupStep, Callable[[Caller], ColumnElement[bool]]] = {
    SetupStep.BRAND: _has_brand,
    SetupStep.DOMAIN: _has_domain,
    SetupStep.ORGANIZATION: _has_organization,
    SetupStep.MEMBER: _has_member,
    SetupStep.COLLEAGUE: _has_colleague,
    SetupStep.ASSISTANT: _has_ready_assistant,
    SetupStep.UPLOAD: _has_upload,
    SetupStep.CAMPAIGN: _has_started_campaign,
    SetupStep.CALL: _has_call,
    SetupStep.TIME_ZONE: _has_time_zone,
}
