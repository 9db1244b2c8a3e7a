"""The organization of a new record: a partner has many organizations, a member one."""

from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus
from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext, ngettext, pgettext
from app.models import Organization
from app.policy import Permission
from app.portal.web import lists
from app.portal.web.formats import number
from app.portal.web.plan_names import plan_name, read_plan_names
from app.services import organizations, partners
from app.services.organizations import OrganizationUsage

SHOWN, SUGGESTED = 25, 50


def organization_of_url(session: Session) -> Organization | None:
    """Return the organization of the URL, or the caller's only one; None if the user has to choose.
    Raises `NotFound`."""
    organization_id = caller().organization_id
    text = request.args.get("organization", "") or (str(organization_id) if organization_id else "")
    if not text:
        return None
    try:
        identifier = UUID(text)
    except ValueError as error:
        raise NotFound from error
    return organizations.get(session, caller(), identifier)


def organization_in_filter(session: Session) -> Organization | None:
    """Return the organization whose id a filter of the URL has; None for other filters. Raises
    `NotFound`."""
    value = lists.id_or_text("organization")
    return organizations.get(session, caller(), value) if isinstance(value, UUID) else None


def named_in_filter(session: Session) -> dict[str, str]:
    """Return the name of the organization whose id is in a filter of the URL, to show it there.
    Raises `NotFound`."""
    organization = organization_in_filter(session)
    return {"organization": organization.name} if organization else {}


def required_organization_of_url() -> Organization:
    """Return the organization in the URL of a form that was sent. Raises `NotFound`."""
    with transaction(read_only=True) as session:
        organization = organization_of_url(session)
    if organization is None:
        raise NotFound
    return organization


def suggested_names(session: Session, query: str | None = None) -> list[str]:
    """Return names of organizations as suggestions for a field."""
    filters = organizations.OrganizationFilter(query=query)
    page = organizations.search(session, caller(), filters, sort="name", limit=SUGGESTED)
    return sorted({row.name for row in page.items})


def choose_page(
    session: Session,
    title: str,
    back: tuple[str, str],
    *,
    for_assistant: bool = False,
    has_it: UUID | None = None,
    sentence: str = "",
) -> str:
    """Return the page for choosing the organization; ``back`` is the (label, URL) of the list
    above. For an assistant it shows how many each organization has. The organization ``has_it``,
    which has the record now, can't be chosen."""
    query = lists.text_filter("q")
    filters = organizations.OrganizationFilter(query=query)
    page = organizations.search(session, caller(), filters, sort="name", limit=SHOWN)
    use_by_id = (
        organizations.usage_of(session, [row.id for row in page.items]) if for_assistant else {}
    )
    served = {row.partner_id for row in page.items}
    read_plan_names(session, page.items)
    owners = {} if caller().partner_id else partners.names_of(session, caller(), served)
    suspended = partners.suspended_of(session, caller(), served)
    endpoint, named = request.endpoint or "", request.view_args or {}
    return render_template(
        "portal/choose.html",
        title=title,
        sentence=sentence or gettext("Choose the organization it is for."),
        back=back,
        action=url_for(endpoint, **named),
        search_label=gettext("Name or referral code"),
        rows=[
            (row.name, gettext("Has it now"), None)
            if row.id == has_it
            else (
                row.name,
                organization_hint(
                    row,
                    use_by_id.get(row.id),
                    owners.get(row.partner_id),
                    is_partner_suspended=row.partner_id in suspended,
                ),
                url_for(endpoint, **named, organization=row.id),
            )
            for row in page.items
        ],
        symbol="building",
        more=page.next_cursor is not None,
        query=query,
        no_match=gettext("No organization matches."),
        empty_title=gettext("No organizations yet"),
        empty_text=gettext("An organization is one of your customers. Add one first."),
        create=(gettext("Add organization"), url_for("portal.organizations.new_organization"))
        if caller().may(Permission.ORGANIZATIONS_WRITE)
        else None,
    )


def organization_hint(
    row: Organization,
    use: OrganizationUsage | None = None,
    owner: str | None = None,
    *,
    is_partner_suspended: bool = False,
) -> str:
    """Return what helps to choose: the partner for operators, the plan, a suspension, the
    assistants if counted."""
    details = [owner, plan_name(row)] if owner else [plan_name(row)]
    if row.status is OrganizationStatus.SUSPENDED:
        details.append(pgettext("organization", "Suspended"))
    elif is_partner_suspended:
        details.append(gettext("Partner suspended"))
    if use is not None:
        details.append(_assistants_label(use.assistants, row.assistant_limit))
    return " · ".join(details)


def _assistants_label(used: int, most: int) -> str:
    if not most:
        return ngettext("%(num)s assistant, no limit", "%(num)s assistants, no limit", used)
    return ngettext(
        "%(used)s of %(num)s assistant",
        "%(used)s of %(num)s assistants",
        most,
        used=number(used),
        num=number(most),
    )
