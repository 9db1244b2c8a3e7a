"""New organizations from a template: one from a form, many from a file."""

import io
from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from app.enums import CarrierKind
from app.errors import ValidationFailed
from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.phone import country_name
from app.portal.organization_templates import blueprint
from app.portal.organization_templates.forms import NewOrganizationForm, NewOrganizationsForm
from app.portal.organization_templates.labels import INVITATION_HINTS, content_label, zone_label
from app.portal.organization_templates.review_messages import review_of
from app.portal.organization_templates.views import bounds, opened
from app.portal.organizations.labels import added_message
from app.portal.organizations.limit_labels import region_names
from app.portal.web.blueprint import Page
from app.portal.web.checked_rows import corrected_lines, file_data, kept_lines, use_in_parts
from app.portal.web.editing import FormSubmission, run_once
from app.portal.web.forms import saving
from app.portal.web.lists import csv_file
from app.portal.web.messages import flash, redirect_with
from app.portal.web.region_choices import named_regions
from app.portal.web.zone_choices import zone_choices
from app.services import organization_templates, pasted_lines
from app.services.organization_templates import (
    MAX_BYTES,
    MAX_ROWS,
    PARTS,
    CheckedRow,
    OrganizationDetails,
    OrganizationFile,
    OrganizationFileRow,
    TemplateContent,
)


@blueprint.get("/organization-templates/<uuid:template_id>/use")
def new_organization_from_template(template_id: UUID) -> str:
    return _use_page(template_id, NewOrganizationForm())


@blueprint.post("/organization-templates/<uuid:template_id>/use")
def create_organization_from_template(template_id: UUID) -> Page:
    form = NewOrganizationForm()
    details = form.to_details()
    with saving(form, lambda: _use_page(template_id, form), validate=False) as session:
        submission = FormSubmission(session)
        made = organization_templates.create_organization(
            session, caller(), template_id, details, bounds(), **_installation()
        )
        url = submission.finish(
            url_for("portal.organizations.show_organization", organization_id=made.id)
        )
    return _to_added(template_id, details, made.name, url)


def _to_added(template_id: UUID, details: OrganizationDetails, name: str, url: str) -> Response:
    """Redirect to the new organization; warn if its time zone isn't one of its country."""
    content = opened(template_id).content
    invited = details.email if content.first_role is not None else None
    response = redirect_with(added_message(name, invited), url)
    if not organization_templates.zone_fits(content, details):
        flash(_elsewhere_message(content, details), "warning")
    return response


def _elsewhere_message(content: TemplateContent, details: OrganizationDetails) -> str:
    return gettext(
        "The time zone %(zone)s isn’t used in %(country)s. You can change it in each assistant.",
        zone=_zone_of(content, details),
        country=country_name(organization_templates.country_of(content, details)),
    )


@blueprint.get("/organization-templates/sample.csv")
def download_sample() -> Response:
    """Return a sample file of organizations."""
    return csv_file("organizations-sample", [organization_templates.sample_file()])


@blueprint.get("/organization-templates/<uuid:template_id>/use-many")
def new_organizations_from_template(template_id: UUID) -> str:
    return _many_page(template_id, NewOrganizationsForm())


@blueprint.post("/organization-templates/<uuid:template_id>/use-many/check")
def check_organizations(template_id: UUID) -> Page:
    """Show each row of the file, or of the page with its input, with its problems; nothing is
    written."""
    form = NewOrganizationsForm()
    try:
        if form.rows.data:
            return _check(template_id, form, _corrected_rows(form))
        sent = _rows_of_file(form.file.data)
        return _check(template_id, form, sent.rows, sent.unused)
    except ValidationFailed as error:
        return _refused_file(template_id, form, error)


@blueprint.post("/organization-templates/<uuid:template_id>/use-many")
def create_organizations_from_template(template_id: UUID) -> Page:
    """Create the organizations of the checked rows without problems. Input that has changed since
    the check is shown again first."""
    form = NewOrganizationsForm()
    try:
        before = _rows_of_page(form)
        rows = _corrected_rows(form)
    except ValidationFailed as error:
        return _refused_file(template_id, form, error)
    if not set(rows) <= set(before):
        flash(gettext("You have changed rows since the check. Review them, then add."), "info")
        return _check(template_id, form, rows)
    return _add(template_id, form, rows)


def _add(
    template_id: UUID, form: NewOrganizationsForm, rows: Sequence[OrganizationFileRow]
) -> Page:
    results = _create(template_id, rows)
    created = [result for result in results if result.organization_id]
    left_out = [result for result in results if not result.organization_id]
    if left_out:
        return _checked_page(template_id, form, left_out, created=created)
    words = [ngettext("%(num)s organization added.", "%(num)s organizations added.", len(created))]
    if opened(template_id).content.first_role is not None:
        words.append(
            ngettext("%(num)s user is invited.", "%(num)s users are invited.", len(created))
        )
    return redirect_with(" ".join(words), url_for("portal.organizations.list_organizations"))


def _create(template_id: UUID, rows: Sequence[OrganizationFileRow]) -> list[CheckedRow]:
    """Create the organizations, then mail the administrators once about all of their owners."""
    create = partial(_create_part, template_id, rows)
    kept = use_in_parts(rows, organization_templates.BATCH_SIZE, create)
    results = organization_templates.from_json(rows, kept)
    with transaction() as session:
        run_once(session, "mail", partial(_mail, session, results))
    return results


def _create_part(
    template_id: UUID,
    rows: Sequence[OrganizationFileRow],
    session: Session,
    part: Sequence[OrganizationFileRow],
) -> list[Any]:
    results = organization_templates.create_many(
        session, caller(), template_id, part, bounds(), of_file=rows, **_installation()
    )
    return organization_templates.as_json(results)


def _installation() -> dict[str, Any]:
    """Return the installation's limits for new organizations."""
    carrier = CarrierKind(settings().carrier)
    return {"in_trial": settings().new_organizations_in_trial, "carrier": carrier}


def _mail(session: Session, results: Sequence[CheckedRow]) -> dict[str, Any]:
    organization_templates.mail_owners(session, caller(), results)
    return {}


@blueprint.post("/organization-templates/<uuid:template_id>/use-many/corrected-file")
def download_corrected_file(template_id: UUID) -> Page:
    """Return the refused rows as a file, each with its problem, to be fixed and chosen again."""
    form = NewOrganizationsForm()
    try:
        rows = _rows_of_page(form)
    except ValidationFailed as error:
        return _refused_file(template_id, form, error)
    with transaction(read_only=True) as session:
        checked = organization_templates.check_many(session, caller(), template_id, rows, bounds())
    written = [(each.row, each.message) for each in checked]
    return csv_file("organizations-to-fix", [organization_templates.corrected_file(written)])


def _check(
    template_id: UUID,
    form: NewOrganizationsForm,
    rows: Sequence[OrganizationFileRow],
    unused: Sequence[str] = (),
) -> str:
    with transaction(read_only=True) as session:
        checked = organization_templates.check_many(session, caller(), template_id, rows, bounds())
    return _checked_page(template_id, form, checked, unused)


def _refused_file(template_id: UUID, form: NewOrganizationsForm, error: ValidationFailed) -> Page:
    form.file.errors = (error.message,)
    return _many_page(template_id, form), 422


def _rows_of_page(form: NewOrganizationsForm) -> list[OrganizationFileRow]:
    """Return the rows of the page. Raises `ValidationFailed`."""
    return organization_templates.from_lines(kept_lines(form.rows.data, PARTS))


def _corrected_rows(form: NewOrganizationsForm) -> list[OrganizationFileRow]:
    """Return the same with the input. Raises `ValidationFailed`."""
    return organization_templates.from_lines(corrected_lines(form.rows.data, PARTS))


def _rows_of_file(sent: FileStorage | None) -> OrganizationFile:
    """Return the rows of the file. Raises `ValidationFailed`."""
    if not sent:
        raise ValidationFailed.on("file", "required", gettext("Choose a file."))
    message = gettext(
        "The file is larger than 1 MB. A file has at most %(most)s rows.", most=MAX_ROWS
    )
    data = file_data(sent, MAX_BYTES, message)
    return organization_templates.read_organizations(io.BytesIO(data), sent.filename or "")


def _use_page(template_id: UUID, form: NewOrganizationForm) -> str:
    opened_template = opened(template_id)
    form.set_choices(opened_template.content)
    return render_template(
        "portal/organization_templates/use.html",
        template=opened_template.template,
        content=opened_template.content,
        content_label=content_label(opened_template.content),
        in_trial=settings().new_organizations_in_trial,
        email_hint=INVITATION_HINTS.get(opened_template.content.first_role),
        form=form,
    )


def _many_page(template_id: UUID, form: NewOrganizationsForm) -> str:
    opened_template = opened(template_id)
    return render_template(
        "portal/organization_templates/use_many.html",
        template=opened_template.template,
        content=opened_template.content,
        in_trial=settings().new_organizations_in_trial,
        form=form,
        max_rows=MAX_ROWS,
    )


def _checked_page(
    template_id: UUID,
    form: NewOrganizationsForm,
    checked: Sequence[CheckedRow],
    unused: Sequence[str] = (),
    *,
    created: Sequence[CheckedRow] = (),
) -> str:
    """Return the page. ``created`` are the rows whose organizations were just created, which
    ``checked`` excludes."""
    opened_template = opened(template_id)
    form.rows.data = _text_of([each.row for each in checked])
    valid = [each.row for each in checked if not each.problems]
    fits = partial(organization_templates.zone_fits, opened_template.content)
    return render_template(
        "portal/organization_templates/checked.html",
        template=opened_template.template,
        content=opened_template.content,
        form=form,
        review=review_of(opened_template, checked, created),
        unused=unused,
        valid=valid,
        misfit_count=sum(not fits(row.details) for row in valid),
        region_names=region_names,
        zone_fits=fits,
        zone_label=partial(_zone_of, opened_template.content),
        countries=[choice.label for choice in named_regions()],
        zones=[choice.value for choice in zone_choices()],
        refused_text=_text_of([each.row for each in checked if each.problems]),
    )


def _text_of(rows: Sequence[OrganizationFileRow]) -> str:
    return pasted_lines.as_text(PARTS, organization_templates.to_lines(rows))


def _zone_of(content: TemplateContent, details: OrganizationDetails) -> str:
    zone = organization_templates.zone_for(content, details)
    return zone.replace("_", " ") if zone else zone_label(content)
