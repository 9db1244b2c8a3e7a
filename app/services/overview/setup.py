"""The setup steps of a new partner, and which of them are done."""

from enum import StrEnum

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from app.models import Assistant, BrandVersion, Call, ContactImport, Organization, Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners


class Step(StrEnum):
    """The steps in their order."""

    BRAND = "brand"
    DOMAIN = "domain"
    ORGANIZATION = "organization"
    ASSISTANT = "assistant"
    UPLOAD = "upload"
    CALL = "call"


def steps_left(session: Session, caller: Caller) -> dict[Step, bool]:
    """Return each step and whether it is done: one query. Empty once all are done, and for callers
    who don't set up a portal."""
    if caller.partner_id is None or not caller.may(Permission.BRANDING_WRITE):
        return {}
    partner_id = partners.own(caller)

    def exists(
        model: type[BrandVersion | Organization | Assistant | ContactImport | Call],
        *conditions: ColumnElement[bool],
    ) -> ColumnElement[bool]:
        return select(model.id).where(model.partner_id == partner_id, *conditions).exists()

    ready = and_(
        Assistant.active,
        Assistant.phone_enabled,
        Assistant.phone_configured,
        Assistant.phone_number.is_not(None),
    )
    verified = select(Partner.id).where(
        Partner.id == partner_id, Partner.domain_verified_at.is_not(None)
    )
    row = session.execute(
        select(
            exists(BrandVersion, BrandVersion.published_at.is_not(None)),
            verified.exists(),
            exists(Organization),
            exists(Assistant, ready),
            exists(ContactImport),
            exists(Call),
        )
    ).one()
    done = {step: bool(is_done) for step, is_done in zip(Step, row, strict=True)}
    if all(done.values()):
        return {}
    if not caller.may(Permission.PARTNER_WRITE):
        del done[Step.DOMAIN]
    return {} if all(done.values()) else done
