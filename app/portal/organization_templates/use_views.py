"""New organizations from a template: one from a form, many from a file."""

import io
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from flask import flash, redirect, render_template, request, url_for
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from app.enums import CarrierKind
from app.errors import ValidationFailed
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.portal.organization_templates.forms import CustomerForm, CustomersForm
from app.portal.organization_templates.labels import INVITATION_HINTS, content_words
from app.portal.organization_templates.views import bounds, opened
from app.portal.organizations.views import region_names
from app.portal.web.blueprint import Page, portal
from app.portal.web.editing import Submission
from app.portal.web.forms import refused
from app.portal.web.lists import csv_file
from app.services import organization_templates
from app.services.organization_templates import MOST_BYTES, MOST_ROWS, CheckedRow, CustomerFile

CELLS = {
    "name": lazy_gettext("Name"),
    "email": lazy_gettext("Email"),
    "user_name": lazy_gettext("First user"),
    "country": lazy_gettext("Country"),
    "timezone": lazy_gettext("Time zone"),
}
"""The parts of a customer that are fixed on the page, with their columns."""


@portal.get("/organization-templates/<uuid:template_id>/use")
def organization_template_use(template_id: UUID) -> str:
    return _use_page(template_id, CustomerForm())


@portal.post("/organization-templates/<uuid:template_id>/use")
def organization_template_use_create(template_id: UUID) -> Page:
    form = CustomerForm()
    customer = form.to_customer()
    try:
        with transaction() as session:
            submission = Submission(session)
            made = organization_templates.create_organization(
                session,
                caller(),
                template_id,
                customer,
                bounds(),
                in_trial=settings().new_organizations_in_trial,
                carrier=CarrierKind(settings().carrier),
            )
            url = submission.led_to(url_for("portal.organization", organization_id=made.id))
    except ValidationFailed as error:
        return refused(error, form, lambda: _use_page(template_id, form))
    words = gettext("%(name)s added.", name=made.name)
    if opened(template_id).content.first_role is not None:
        words = gettext(
            "%(name)s added. %(email)s is invited.", name=made.name, email=customer.email
        )
    flash(words, "success")
    return redirect(url, 303)


@portal.get("/organization-templates/sample.csv")
def organization_template_sample() -> Response:
    """A file of customers to start from."""
    return csv_file("organizations-sample", [organization_templates.sample_file()])


@portal.get("/organization-templates/<uuid:template_id>/use-many")
def organization_template_use_many(template_id: UUID) -> str:
    return _many_page(template_id, CustomersForm())


@portal.post("/organization-templates/<uuid:template_id>/use-many/check")
def organization_template_check_many(template_id: UUID) -> Page:
    """Show each row of the file, or of the page with what was typed there, with its problems;
    nothing is written."""
    form = CustomersForm()
    if form.rows.data:
        form.rows.data = _with_fixes(form.rows.data)
    sent = _sent(template_id, form, were_checked=bool(form.rows.data))
    if sent is None:
        return _many_page(template_id, form), 422
    with transaction(read_only=True) as session:
        checked = organization_templates.check_many(
            session, caller(), template_id, sent.rows, bounds()
        )
    form.rows.data = organization_templates.as_text(sent.rows)
    return _checked_page(template_id, form, checked, sent.unused)


@portal.post("/organization-templates/<uuid:template_id>/use-many")
def organization_template_create_many(template_id: UUID) -> Page:
    """Create the organizations of the rows that were checked and still have no problem."""
    form = CustomersForm()
    sent = _sent(template_id, form, were_checked=True)
    if sent is None:
        return _many_page(template_id, form), 422
    with transaction() as session:
        submission = Submission(session, notice=gettext("These organizations were created before."))
        results = organization_templates.create_many(
            session,
            caller(),
            template_id,
            sent.rows,
            bounds(),
            in_trial=settings().new_organizations_in_trial,
            carrier=CarrierKind(settings().carrier),
        )
        submission.led_to(url_for("portal.organizations"))
    created = [result for result in results if result.organization_id]
    left_out = [result for result in results if not result.organization_id]
    if not left_out:
        words = ngettext(
            "%(num)s organization added.", "%(num)s organizations added.", len(created)
        )
        flash(words, "success")
        return redirect(url_for("portal.organizations"), 303)
    return render_template(
        "portal/organization_templates/created.html",
        template=opened(template_id).template,
        created=created,
        refused=left_out,
        refused_text=_text_of(left_out),
    )


@portal.post("/organization-templates/<uuid:template_id>/use-many/corrected-file")
def organization_template_corrected_file(template_id: UUID) -> Page:
    """Return the rows that were refused as a file, each with its problem, to fix and choose."""
    form = CustomersForm()
    sent = _sent(template_id, form, were_checked=True)
    if sent is None:
        return _many_page(template_id, form), 422
    with transaction(read_only=True) as session:
        checked = organization_templates.check_many(
            session, caller(), template_id, sent.rows, bounds()
        )
    written = [(each.row, " ".join(each.problems)) for each in checked]
    return csv_file("organizations-to-fix", [organization_templates.corrected_file(written)])


def _text_of(refused: list[CheckedRow]) -> str:
    return organization_templates.as_text([each.row for each in refused])


def _sent(
    template_id: UUID, form: CustomersForm, *, were_checked: bool = False
) -> CustomerFile | None:
    """Return the rows of the file, or those of the page if they ``were_checked`` before; None, with
    the reason at the field of the file, if they can't be read. Raises `NotFound`."""
    opened(template_id)
    try:
        if were_checked:
            return organization_templates.from_text(form.rows.data or "")
        return _rows_of_file(form.file.data)
    except ValidationFailed as error:
        form.file.errors = (error.message,)
        return None


def _with_fixes(text: str) -> str:
    """Return the rows of the page with the cells that were typed there. Text that can't be read
    stays as it is."""
    try:
        rows = organization_templates.from_text(text).rows
    except ValidationFailed:
        return text
    fixed = []
    for at, row in enumerate(rows):
        typed = {
            name: request.form[f"{name}-{at}"].replace("\0", "").strip()
            for name in CELLS
            if f"{name}-{at}" in request.form
        }
        fixed.append(replace(row, customer=replace(row.customer, **typed)))
    return organization_templates.as_text(fixed)


def _rows_of_file(sent: FileStorage | None) -> CustomerFile:
    """Raises `ValidationFailed`."""
    if not sent:
        raise ValidationFailed.on("file", "required", gettext("Choose a file."))
    data = sent.stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        message = gettext(
            "The file is larger than 1 MB. A file has at most %(most)s rows.", most=MOST_ROWS
        )
        raise ValidationFailed.on("file", "too_large", message)
    return organization_templates.read_customers(io.BytesIO(data), sent.filename or "")


def _use_page(template_id: UUID, form: CustomerForm) -> str:
    found = opened(template_id)
    form.offer(found.content)
    return render_template(
        "portal/organization_templates/use.html",
        template=found.template,
        content=found.content,
        words=content_words(found.content),
        in_trial=settings().new_organizations_in_trial,
        email_hint=INVITATION_HINTS.get(found.content.first_role),
        form=form,
    )


def _many_page(template_id: UUID, form: CustomersForm) -> str:
    found = opened(template_id)
    return render_template(
        "portal/organization_templates/use_many.html",
        template=found.template,
        content=found.content,
        in_trial=settings().new_organizations_in_trial,
        form=form,
        most=MOST_ROWS,
    )


def _checked_page(
    template_id: UUID, form: CustomersForm, checked: list[CheckedRow], unused: Sequence[str]
) -> str:
    found = opened(template_id)
    return render_template(
        "portal/organization_templates/checked.html",
        template=found.template,
        content=found.content,
        form=form,
        unused=unused,
        rows=checked,
        cells=CELLS,
        region_names=region_names,
        good=sum(not each.problems for each in checked),
        refused_text=_text_of([each for each in checked if each.problems]),
    )
