"""The operator assigns numbers to an organization."""

from collections.abc import Sequence

from flask import render_template, url_for
from wtforms import TextAreaField

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Organization
from app.portal.phone_numbers import blueprint
from app.portal.web import organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.editing import FormSubmission
from app.portal.web.fields import OnceField, lines_of
from app.portal.web.forms import PortalForm, saving
from app.portal.web.messages import redirect_with
from app.services import phone_numbers
from app.services.tenancy import refuse_archived


class AssignForm(PortalForm):
    once = OnceField()
    numbers = TextAreaField(lazy_gettext("Phone numbers"), render_kw={"spellcheck": "false"})

    @property
    def submitted_numbers(self) -> Sequence[str]:
        return lines_of(self.numbers)


@blueprint.get("/numbers/assign")
def choose_numbers() -> Page:
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_of_url(session)
        if organization is None:
            back_link = (gettext("Phone numbers"), url_for("portal.phone_numbers.list_numbers"))
            sentence = gettext("Choose the organization they are for.")
            return organization_picker.choose_page(
                session, gettext("Assign numbers"), back_link, sentence=sentence
            )
        refuse_archived(organization)
    return _page(organization, AssignForm())


@blueprint.post("/numbers/assign")
def assign_numbers() -> Page:
    form, organization = AssignForm(), organization_picker.required_organization_of_url()
    with saving(form, lambda: _page(organization, form)) as session:
        submission = FormSubmission(session)
        assigned = phone_numbers.assign(session, caller(), organization.id, form.submitted_numbers)
        url = submission.finish(
            url_for("portal.phone_numbers.list_numbers", organization=organization.id)
        )
    return redirect_with(_assigned_message(len(assigned), organization.name), url)


def _assigned_message(count: int, organization: str) -> str:
    return ngettext(
        "%(num)s number assigned to %(organization)s.",
        "%(num)s numbers assigned to %(organization)s.",
        count,
        organization=organization,
    )


def _page(organization: Organization, form: AssignForm) -> str:
    return render_template("portal/phone_numbers/assign.html", organization=organization, form=form)
