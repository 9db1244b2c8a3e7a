"""The do-not-call lists: an overview, the numbers of one list, adding, removing, exporting."""

from uuid import UUID

from babel.lists import format_list
from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from app.errors import NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext, locale
from app.phone import PhoneError, country_name
from app.portal.do_not_call import blueprint
from app.portal.do_not_call.forms import NumbersForm
from app.portal.do_not_call.listing import DO_NOT_CALL, as_number
from app.portal.do_not_call.review_messages import (
    MAX_SHOWN,
    left_out_messages,
    numbers_added_message,
    review_of,
    trail_of,
)
from app.portal.organizations.tabs import organization_page_data
from app.portal.web import lists
from app.portal.web.author_names import author_names
from app.portal.web.blueprint import Page
from app.portal.web.checked_rows import (
    apply_row_errors,
    corrected_lines,
    file_text,
    kept_lines,
)
from app.portal.web.formats import phone
from app.portal.web.list_pages import list_page
from app.portal.web.messages import flash, redirect_with
from app.portal.web.process_names import author_label
from app.services import do_not_call, organizations, pasted_lines
from app.services.do_not_call import COLUMNS, ParsedNumbers
from app.services.number_search import numbers_in_regions
from app.validation.texts import trim


@blueprint.get("/do-not-call")
def list_do_not_call_lists() -> Page:
    """List the do-not-call lists of the caller's organizations, or those that hold a number.

    A caller with one organization gets its list.
    """
    only = caller().organization_id
    return _list_page(only) if only is not None else _overview_page()


def _overview_page() -> str:
    position, query = lists.current_position(), lists.text_filter("q")
    with transaction(read_only=True) as session:
        numbers = _searched_numbers(session, query)
        page, sizes = do_not_call.sizes(
            session,
            caller(),
            query=None if numbers else query,
            numbers=numbers,
            **position.query_args,
        )
    return render_template(
        "portal/do_not_call/overview.html",
        rows=page.items,
        sizes=sizes,
        numbers_label=format_list([phone(number) for number in numbers], "or", locale()),
        searched=numbers[0] if len(numbers) == 1 else None,
        **position.pager(page.next_cursor, "q"),
    )


def _searched_numbers(session: Session, query: str | None) -> list[str]:
    """Return the searched numbers; one without a country code as those that it means in the regions
    of the caller's organizations. Empty if the text isn't a number."""
    phone_number = as_number(query)
    if phone_number is not None or not query:
        return [phone_number] if phone_number else []
    return sorted(numbers_in_regions(session, caller(), query))


@blueprint.get("/organizations/<uuid:organization_id>/do-not-call")
def list_numbers(organization_id: UUID) -> str:
    return _list_page(organization_id)


def _list_page(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        page = list_page(session, DO_NOT_CALL)
        return render_template(
            "portal/do_not_call/list.html",
            **organization_page_data(session, organization, "portal.do_not_call.list_numbers"),
            list=page,
            names=author_names(session, {row.added_by for row in page.rows}),
        )


@blueprint.get("/organizations/<uuid:organization_id>/do-not-call/add")
def new_numbers(organization_id: UUID) -> Page:
    return _add_page(organization_id, NumbersForm())


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/add")
def add_numbers(organization_id: UUID) -> Page:
    """Add the numbers if every line is valid; else show the invalid lines and add none."""
    form = NumbersForm()
    sent: FileStorage | None = form.file.data
    form.from_file.data = "yes" if sent else ""
    try:
        text = _file_text(sent) if sent else form.numbers.data or ""
        parsed = do_not_call.read_numbers(text, _region(organization_id))
    except ValidationFailed as error:
        return _refused(organization_id, form, error)
    if parsed.invalid:
        return _checked_page(organization_id, form, parsed), 422
    return _add(organization_id, form, parsed)


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/add/check")
def check_numbers(organization_id: UUID) -> Page:
    """Show the lines of the page with its input again; nothing is added."""
    form = NumbersForm()
    try:
        parsed = _corrected(organization_id, form)
    except ValidationFailed as error:
        return _refused(organization_id, form, error)
    return _checked_page(organization_id, form, parsed)


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/add-valid")
def add_valid_numbers(organization_id: UUID) -> Page:
    """Add the valid numbers of the page and skip the others. Input that has changed since the check
    is shown again first."""
    form = NumbersForm()
    try:
        parsed = _corrected(organization_id, form)
    except ValidationFailed as error:
        return _refused(organization_id, form, error)
    if not set(do_not_call.to_lines(parsed)) <= set(kept_lines(form.rows.data, COLUMNS)):
        flash(gettext("You have changed rows since the check. Review them, then add."), "info")
        return _checked_page(organization_id, form, parsed)
    return _add(organization_id, form, parsed)


@blueprint.get("/organizations/<uuid:organization_id>/do-not-call/remove")
def confirm_remove_number(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        entry = do_not_call.entry(
            session, caller(), organization.id, request.args.get("number", "")
        )
        names = author_names(session, [entry.added_by])
    return render_template(
        "portal/do_not_call/remove.html",
        organization=organization,
        entry=entry,
        actor=author_label(entry.added_by, names),
    )


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/remove")
def remove_number(organization_id: UUID) -> Response:
    phone_number = trim(request.form.get("number"))
    try:
        with transaction() as session:
            do_not_call.remove(session, caller(), organization_id, phone_number)
    except PhoneError as error:
        raise NotFound from error
    message = gettext(
        "%(number)s was removed from the list and may be called again.", number=phone(phone_number)
    )
    return redirect_with(
        message, url_for("portal.do_not_call.list_numbers", organization_id=organization_id)
    )


def _region(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        return organizations.get(session, caller(), organization_id).default_region


def _corrected(organization_id: UUID, form: NumbersForm) -> ParsedNumbers:
    """Return the lines of the page with its input. Raises `ValidationFailed`."""
    lines = corrected_lines(form.rows.data, COLUMNS)
    return do_not_call.from_lines(lines, _region(organization_id))


def _refused(organization_id: UUID, form: NumbersForm, error: ValidationFailed) -> Page:
    apply_row_errors(form, error)
    return _add_page(organization_id, form), 422


def _add(organization_id: UUID, form: NumbersForm, parsed: ParsedNumbers) -> Response:
    with transaction() as session:
        added = do_not_call.add_many(
            session,
            caller(),
            organization_id,
            parsed.valid,
            reason=form.reason.data,
            source="file" if form.from_file.data else "portal",
        )
    return redirect_with(
        numbers_added_message(added, parsed),
        url_for("portal.do_not_call.list_numbers", organization_id=organization_id),
    )


def _add_page(organization_id: UUID, form: NumbersForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
    return render_template(
        "portal/do_not_call/add.html",
        organization=organization,
        form=form,
        most=do_not_call.MAX_NUMBERS,
        country=country_name(organization.default_region),
        trail=trail_of(organization),
    )


def _checked_page(organization_id: UUID, form: NumbersForm, parsed: ParsedNumbers) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
    form.rows.data = pasted_lines.as_text(COLUMNS, do_not_call.to_lines(parsed))
    return render_template(
        "portal/do_not_call/checked.html",
        form=form,
        review=review_of(organization, parsed),
        left_out=" ".join(left_out_messages(parsed)),
        valid=parsed.valid[:MAX_SHOWN],
    )


def _file_text(upload: FileStorage) -> str:
    """Return the file's text. Raises `ValidationFailed`."""
    message = gettext("The file is larger than 2 MB. Keep only the column with the numbers.")
    return file_text(upload, do_not_call.MAX_FILE_BYTES, message)
