"""The do-not-call lists: an overview, the numbers of one list, adding, removing, exporting."""

from uuid import UUID

from babel.lists import format_list
from flask import render_template, request, url_for
from flask_wtf.file import FileField
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response
from wtforms import HiddenField, TextAreaField

from app.errors import NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, locale, ngettext
from app.phone import PhoneError, country_name
from app.portal.do_not_call import blueprint
from app.portal.do_not_call.confirmation import ReasonForm
from app.portal.do_not_call.listing import DO_NOT_CALL, as_number
from app.portal.organizations.views import organization_page_data
from app.portal.web import lists
from app.portal.web.author_names import author_names
from app.portal.web.blueprint import Page
from app.portal.web.checked_rows import file_data
from app.portal.web.formats import number, phone
from app.portal.web.list_pages import list_page
from app.portal.web.messages import redirect_with
from app.portal.web.process_names import author_label
from app.services import do_not_call, organizations
from app.services.do_not_call import AddedNumbers, ParsedNumbers
from app.services.number_search import numbers_in_regions
from app.services.pasted_lines import decoded

MAX_SHOWN, MAX_COLUMNS_NAMED = 200, 3


class NumbersForm(ReasonForm):
    numbers = TextAreaField(lazy_gettext("Numbers"))
    file = FileField(lazy_gettext("Or a file"))
    from_file = HiddenField()
    """Whether the numbers are the text of a file that is shown for correction."""


@blueprint.get("/do-not-call")
def list_organizations() -> Page:
    """List the do-not-call lists of the caller's organizations, or those that hold a number.

    A caller with one organization gets its list.
    """
    only = caller().organization_id
    return list_numbers(only) if only is not None else _overview_page()


def _overview_page() -> str:
    position, query = lists.current_position(), lists.text_filter("q")
    with transaction(read_only=True) as session:
        numbers = _searched_numbers(session, query)
        page, sizes = do_not_call.sizes(
            session, caller(), query=None if numbers else query, numbers=numbers, **position.wanted
        )
    return render_template(
        "portal/organizations/do_not_call_lists.html",
        rows=page.items,
        sizes=sizes,
        wanted=format_list([phone(number) for number in numbers], "or", locale()),
        searched=numbers[0] if len(numbers) == 1 else None,
        **position.pager(page.next_cursor, "q"),
    )


def _searched_numbers(session: Session, query: str | None) -> list[str]:
    """Return the searched numbers; one without a country code as those that it means in the regions
    of the caller's organizations. Empty if the text is no number."""
    phone_number = as_number(query)
    if phone_number is not None or not query:
        return [phone_number] if phone_number else []
    return sorted(numbers_in_regions(session, caller(), query))


@blueprint.get("/organizations/<uuid:organization_id>/do-not-call")
def list_numbers(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        page = list_page(session, DO_NOT_CALL)
        return render_template(
            "portal/organizations/do_not_call.html",
            **organization_page_data(session, organization, "portal.do_not_call.list_numbers"),
            list=page,
            names=author_names(session, {row.added_by for row in page.rows}),
        )


@blueprint.get("/organizations/<uuid:organization_id>/do-not-call/add")
def new_numbers(organization_id: UUID) -> Page:
    return _add_page(organization_id, NumbersForm())


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/add")
def add_numbers(organization_id: UUID) -> Page:
    """Add the numbers if every line is valid; else report the invalid lines and add none."""
    return _submit(organization_id, good_only=False)


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/add-good")
def add_valid_numbers(organization_id: UUID) -> Page:
    """Add the valid numbers and skip the others."""
    return _submit(organization_id, good_only=True)


@blueprint.get("/organizations/<uuid:organization_id>/do-not-call/remove")
def confirm_remove_number(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        entry = do_not_call.entry(
            session, caller(), organization.id, request.args.get("number", "")
        )
        names = author_names(session, [entry.added_by])
    return render_template(
        "portal/organizations/do_not_call_remove.html",
        organization=organization,
        entry=entry,
        actor=author_label(entry.added_by, names),
    )


@blueprint.post("/organizations/<uuid:organization_id>/do-not-call/remove")
def remove_number(organization_id: UUID) -> Response:
    phone_number = request.form.get("number", "")
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


def _submit(organization_id: UUID, *, good_only: bool) -> Page:
    form = NumbersForm()
    upload: FileStorage | None = form.file.data
    with transaction(read_only=True) as session:
        region = organizations.get(session, caller(), organization_id).default_region
    try:
        text = _file_text(upload) if upload else form.numbers.data or ""
        sheet = do_not_call.read_numbers(text, region)
    except ValidationFailed as error:
        if upload:
            form.file.errors = (error.message,)
        else:
            form.apply_errors(error)
        return _add_page(organization_id, form), 422
    if upload:
        form.from_file.data = "yes"
    if not sheet.good or (sheet.bad and not good_only):
        form.numbers.data = text.removeprefix("\ufeff")  # its lines keep their numbers
        return _add_page(organization_id, form, sheet), 422
    source = "file" if form.from_file.data else "portal"
    with transaction() as session:
        added = do_not_call.add_many(
            session,
            caller(),
            organization_id,
            sheet.good,
            reason=form.reason.data,
            source=source,
        )
    return redirect_with(
        _added_message(added, sheet),
        url_for("portal.do_not_call.list_numbers", organization_id=organization_id),
    )


def _add_page(organization_id: UUID, form: NumbersForm, sheet: ParsedNumbers | None = None) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
    return render_template(
        "portal/organizations/do_not_call_add.html",
        organization=organization,
        form=form,
        sheet=sheet,
        shown=sheet.bad[:MAX_SHOWN] if sheet else [],
        left_out=" ".join(_left_out_messages(sheet)) if sheet else "",
        most=do_not_call.MAX_NUMBERS,
        country=country_name(organization.default_region),
    )


def _file_text(upload: FileStorage) -> str:
    """Return the file's text. Raises `ValidationFailed`."""
    message = gettext("The file is larger than 2 MB. Keep only the column with the numbers.")
    return decoded(file_data(upload, do_not_call.MAX_FILE_BYTES, message))


def _left_out_messages(sheet: ParsedNumbers) -> list[str]:
    """Return what was left out without being wrong: the heading, columns and repeated numbers."""
    messages = []
    if sheet.heading:
        messages.append(
            gettext("Line %(number)s was skipped as a heading.", number=number(sheet.heading))
        )
    if sheet.unused:
        names = ", ".join(sheet.unused[:MAX_COLUMNS_NAMED])
        if len(sheet.unused) > MAX_COLUMNS_NAMED:
            names += ", …"
        messages.append(
            ngettext(
                "Column not used: %(names)s.",
                "Columns not used: %(names)s.",
                len(sheet.unused),
                names=names,
            )
        )
    if sheet.repeated:
        messages.append(
            ngettext(
                "%(num)s line repeated a number.",
                "%(num)s lines repeated a number.",
                sheet.repeated,
            )
        )
    return messages


def _added_message(added: AddedNumbers, sheet: ParsedNumbers) -> str:
    count = added.added
    messages = [ngettext("%(num)s number added.", "%(num)s numbers added.", count)]
    if added.known:
        messages.append(gettext("%(number)s already on the list.", number=number(added.known)))
    messages += _left_out_messages(sheet)
    if sheet.bad:
        left_out = len(sheet.bad)
        messages.append(ngettext("%(num)s line left out.", "%(num)s lines left out.", left_out))
    if added.calls:
        messages.append(
            ngettext(
                "%(num)s queued call to them ends cancelled, not placed.",
                "%(num)s queued calls to them end cancelled, not placed.",
                added.calls,
            )
        )
    return " ".join(messages)
