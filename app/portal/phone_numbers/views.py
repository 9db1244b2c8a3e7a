"""The list of numbers, and moving a number to another organization."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import CarrierKind, NumberSource
from app.errors import Conflict
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext
from app.models import Assistant, Organization, PhoneNumber
from app.portal.phone_numbers import blueprint
from app.portal.phone_numbers.list_views import accounts_shown
from app.portal.web import lists, organization_picker
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import phone
from app.portal.web.messages import changing, redirect_with
from app.portal.web.readiness import READINESS_LABELS
from app.services import partners, phone_numbers
from app.services.assistants.queries import Readiness
from app.services.paging import Page
from app.services.phone_numbers import ListedNumber
from app.services.tenancy import inactive_message, refuse_archived

SOURCE_LABELS = {
    NumberSource.ASSIGNED: lazy_gettext("Operator"),
    NumberSource.CARRIER_LIST: lazy_gettext("Carrier account"),
    NumberSource.VERIFICATION_CALL: lazy_gettext("Verification call"),
    NumberSource.SIMULATED: lazy_gettext("Simulated carrier"),
}


def status_of(
    number: PhoneNumber, refusal: str | None, users: Sequence[Assistant]
) -> tuple[str, Readiness | None, str | None]:
    """Return the status of a number: a word, the readiness and the reason; the words are those of
    the assistants that have the number."""
    if number.organization_id is None:
        return gettext("No organization yet"), None, None
    if refusal:
        return str(READINESS_LABELS[Readiness.NOT_READY]), Readiness.NOT_READY, refusal
    if users and not any(each.active for each in users):
        return gettext("Assistant switched off"), Readiness.OFF, None
    return str(READINESS_LABELS[Readiness.READY]), Readiness.READY, None


@blueprint.get("/numbers")
def list_numbers() -> str:
    position = lists.current_position()
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_of_url(session)
        page = _load_page(session, organization, position)
        return render_template(
            "portal/phone_numbers/list.html",
            organization=organization,
            **_list_context(session, page.items),
            **position.pager(page.next_cursor, "q", "organization"),
        )


def _list_context(session: Session, numbers: Sequence[ListedNumber]) -> dict[str, Any]:
    return {
        "rows": _number_rows(session, numbers),
        "sources": SOURCE_LABELS,
        "accounts": accounts_shown(session),
        "is_operator": caller().partner_id is None,
    }


def _load_page(
    session: Session, organization: Organization | None, position: lists.ListPosition
) -> Page[ListedNumber]:
    """Return a page of numbers; its URL has the cursor, a number, without the plus sign."""
    page = phone_numbers.listing(
        session,
        caller(),
        organization_id=organization.id if organization else None,
        query=lists.text_filter("q"),
        cursor=f"+{position.cursor}" if position.cursor else None,
        limit=lists.PAGE_SIZE,
    )
    return Page(page.items, page.next_cursor and page.next_cursor.removeprefix("+"))


@blueprint.get("/numbers/<digits>/move")
def confirm_move_number(digits: str) -> str:
    with transaction(read_only=True) as session:
        number = _get_number(session, digits)
        organization = organization_picker.organization_of_url(session)
        if organization is None or organization.id == number.organization_id:
            back_link = (gettext("Phone numbers"), url_for("portal.phone_numbers.list_numbers"))
            title = gettext("Move %(number)s", number=phone(number.number))
            has_it = number.organization_id
            return organization_picker.choose_page(
                session,
                title,
                back_link,
                has_it=has_it,
                sentence=gettext("Choose the organization the number moves to."),
            )
        refuse_archived(organization)
        return _move_confirmation(session, number, organization).page()


def _move_confirmation(
    session: Session, number: PhoneNumber, target: Organization
) -> ConfirmationPage:
    formatted, name = phone(number.number), target.name
    return ConfirmationPage(
        action=url_for(
            "portal.phone_numbers.move_number",
            digits=number.number.removeprefix("+"),
            organization=target.id,
            version=number.version,
        ),
        title=gettext("Move %(number)s to %(organization)s?", number=formatted, organization=name),
        consequences=[
            *_loss_consequences(session, number, target.id),
            gettext("Assistants of %(organization)s can call from it.", organization=name),
        ],
        action_label=gettext("Move number"),
        keep_label=gettext("Keep as it is"),
        keep_url=url_for("portal.phone_numbers.list_numbers"),
        danger=False,
    )


@blueprint.post("/numbers/<digits>/move")
def move_number(digits: str) -> Response:
    organization, url = (
        organization_picker.required_organization_of_url(),
        url_for("portal.phone_numbers.list_numbers"),
    )
    version, number = request.args.get("version", type=int), f"+{digits}"
    with changing(url, Conflict) as session:
        phone_numbers.move(session, caller(), number, organization.id, expected_version=version)
    names = {"number": phone(number), "organization": organization.name}
    return redirect_with(gettext("%(number)s moved to %(organization)s.", **names), url)


@blueprint.get("/numbers/<digits>/release")
def confirm_release_number(digits: str) -> str:
    with transaction(read_only=True) as session:
        return _release_confirmation(session, _get_number(session, digits)).page()


def _release_confirmation(session: Session, number: PhoneNumber) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for(
            "portal.phone_numbers.release_number",
            digits=number.number.removeprefix("+"),
            version=number.version,
        ),
        title=gettext("Release %(number)s?", number=phone(number.number)),
        consequences=[
            *_loss_consequences(session, number, None),
            gettext("Any organization can be given the number again."),
        ],
        action_label=gettext("Release number"),
        keep_label=gettext("Keep number"),
        keep_url=url_for("portal.phone_numbers.list_numbers"),
    )


@blueprint.post("/numbers/<digits>/release")
def release_number(digits: str) -> Response:
    url, version = (
        url_for("portal.phone_numbers.list_numbers"),
        request.args.get("version", type=int),
    )
    with changing(url, Conflict) as session:
        phone_numbers.release(session, caller(), f"+{digits}", expected_version=version)
    return redirect_with(gettext("%(number)s released.", number=phone(f"+{digits}")), url)


def _number_rows(session: Session, listed_numbers: Sequence[ListedNumber]) -> list[tuple[Any, ...]]:
    """Return the numbers, each with its assistants and its status."""
    numbers = [row.number for row in listed_numbers]
    users = phone_numbers.assistants_with(session, caller(), numbers)
    refusals = phone_numbers.refusals_of_numbers(session, numbers, CarrierKind(settings().carrier))
    refusals |= _inactive_owners(session, listed_numbers)
    return [
        (row, using, status_of(row.number, refusals.get(row.number.number), using))
        for row in listed_numbers
        for using in [users.get(row.number.number, [])]
    ]


def _inactive_owners(session: Session, listed_numbers: Sequence[ListedNumber]) -> dict[str, str]:
    """Return, by number, why its organization places no calls at all."""
    partner_ids = {row.number.partner_id for row in listed_numbers}
    suspended = partners.suspended_of(session, caller(), partner_ids)
    return {
        row.number.number: words
        for row in listed_numbers
        if row.owner is not None
        for words in [inactive_message(row.owner, suspended.get(row.number.partner_id))]
        if words
    }


def _get_number(session: Session, digits: str) -> PhoneNumber:
    return phone_numbers.get(session, caller(), f"+{digits}")


def _loss_consequences(session: Session, number: PhoneNumber, target_id: UUID | None) -> list[str]:
    """Return what the current organization loses."""
    if number.organization_id in {None, target_id}:
        return []
    using = phone_numbers.assistants_with(session, caller(), [number]).get(number.number, [])
    if not using:
        return [gettext("No assistant uses it now.")]
    names = ", ".join(each.name for each in using)
    return [
        gettext("%(names)s can’t call until it gets another number.", names=names),
        gettext("Calls that wait to come from this number are cancelled."),
    ]
