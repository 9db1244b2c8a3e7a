"""Load templates: another partner's template is treated like a missing one."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.models import OrganizationTemplate
from app.policy import Permission
from app.policy.caller import Caller
from app.services.organization_templates.content import TemplateContent, content_of
from app.services.tenancy import fetch


@dataclass(frozen=True, slots=True)
class OpenedTemplate:
    """A template with its content."""

    template: OrganizationTemplate
    content: TemplateContent


def get(
    session: Session, caller: Caller, template_id: UUID, *, for_change: bool = False
) -> OrganizationTemplate:
    """Return the template. Raises `Forbidden` and `NotFound`
    (``organization_template_not_found``)."""
    query = _visible_templates(caller).where(OrganizationTemplate.id == template_id)
    return fetch(session, query, _not_found(), for_change=for_change)


def get_with_content(session: Session, caller: Caller, template_id: UUID) -> OpenedTemplate:
    """Return the template with its content. Raises as `get`."""
    template = get(session, caller, template_id)
    return OpenedTemplate(template, content_of(template))


def listing(session: Session, caller: Caller) -> Sequence[OpenedTemplate]:
    """Return the templates of the caller's partner by name. Raises `Forbidden`, and `NotFound` for
    an operator, who has none."""
    query = _visible_templates(caller).order_by(
        OrganizationTemplate.name_key, OrganizationTemplate.id
    )
    return [OpenedTemplate(row, content_of(row)) for row in session.scalars(query)]


def _visible_templates(caller: Caller) -> Select[OrganizationTemplate]:
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if caller.partner_id is None:
        raise _not_found()
    return select(OrganizationTemplate).where(OrganizationTemplate.partner_id == caller.partner_id)


def _not_found() -> NotFound:
    return NotFound(code="organization_template_not_found")
