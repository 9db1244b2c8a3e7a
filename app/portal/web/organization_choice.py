"""The organization of a new record, as a field of the form that creates it.

Staff of a partner choose it there. Members have one. Operators choose it on a separate page first
(`organization_picker.choose_page`): names repeat across partners.
"""

from collections.abc import Callable, Sequence
from typing import Self, TypeVar

from flask import abort, make_response, request
from sqlalchemy.orm import Session
from wtforms import StringField

from app.enums import OrganizationStatus
from app.errors import NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Organization
from app.portal.web.blueprint import portal
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm
from app.portal.web.organization_picker import choose_page, organization_of_url, suggested_names
from app.services import organizations, users
from app.services.tenancy import ARCHIVED, archived_message, refuse_archived

REFRESH = "refresh"
"""The parameter of a form that is sent only to show what depends on its organization."""


F = TypeVar("F", bound="OfOrganization")


class OfOrganization(PortalForm):
    """A form that creates a record of an organization. The field is removed for users without a
    choice."""

    organization = StringField(
        lazy_gettext("Organization"),
        filters=[without_nul],
        render_kw={"maxlength": 200, "autocomplete": "off"},
    )
    suggested: Sequence[str] = ()

    def prepare_organization(self, session: Session) -> Organization | None:
        """Suggest organizations, starting with that of the URL, or remove the field for users
        without a choice; return the organization if it is known already. Raises `NotFound`."""
        organization = organization_of_url(session)
        if not _chooses_in_form():
            del self.organization
            return organization
        self.suggested = suggested_names(session)
        if organization is not None and not self.organization.raw_data:
            self.organization.data = organization.name
        return organization

    def selected_organization(self) -> Organization | None:
        """Return the organization of a submitted form; None with the problem at the field. Raises
        `NotFound`."""
        with transaction(read_only=True) as session:
            organization = self.prepare_organization(session)
            if "organization" not in self or not self.organization.raw_data:
                if organization is None:
                    raise NotFound
                return organization
            try:
                return organization_called(session, self.organization.data or "", organization)
            except ValidationFailed as error:
                self.apply_errors(error)
                return None

    def organization_or_page(
        self,
        page: Callable[[Organization | None, Self], str],
        besides: Callable[[], bool] | None = None,
    ) -> Organization:
        """Return the organization of a submitted form. A form sent only to be refreshed, one
        without an organization, or one that ``besides`` refuses ends the request: its page is shown
        again. Raises `NotFound`."""
        if is_refreshed():
            abort(make_response(page(self.selected_organization(), self)))
        is_sound = besides is None or besides()
        organization = self.selected_organization()
        if organization is None or not is_sound:
            abort(make_response(page(organization, self), 422))
        return organization


def new_page(
    form: F,
    page: Callable[[Organization | None, F], str],
    title: str,
    crumb: tuple[str, str],
    *,
    for_assistant: bool = False,
) -> str:
    """Return the ``page`` of a blank form, or for operators the one on which they choose first; the
    arguments are those of `organization_picker.choose_page`. Raises `NotFound`, and `Conflict`
    (``archived``) for an archived organization in the URL."""
    with transaction(read_only=True) as session:
        organization = form.prepare_organization(session)
        if organization is not None:
            refuse_archived(organization)
        if organization is None and not form.suggested:
            return choose_page(session, title, crumb, for_assistant=for_assistant)
    return page(organization, form)


def organization_called(
    session: Session, submitted: str, preferred: Organization | None
) -> Organization:
    """Return the organization with this name; the one in the URL is preferred among several of the
    same name. Raises `ValidationFailed`."""
    name = submitted.strip()
    if not name:
        raise ValidationFailed.on("organization", "blank", gettext("Enter the organization."))
    if preferred is not None and preferred.name.lower() == name.lower():
        if preferred.status is OrganizationStatus.ARCHIVED:
            raise ValidationFailed.on("organization", ARCHIVED, archived_message())
        return preferred
    try:
        return users.organization_by_name(session, caller(), name)
    except ValidationFailed as error:
        if error.code == ARCHIVED:
            raise
        if error.code == "organization_ambiguous":
            message = gettext(
                "Several organizations are called “%(name)s”. Open the right one and begin there.",
                name=name,
            )
        elif nearest := organizations.nearest_name(session, caller(), name):
            message = gettext(
                "There is no organization called “%(name)s”. Did you mean “%(nearest)s”?",
                name=name,
                nearest=nearest,
            )
        else:
            raise
        raise ValidationFailed.on("organization", error.code, message) from error


def is_refreshed() -> bool:
    """Whether the form was sent only to show what depends on its organization."""
    return REFRESH in request.form


@portal.app_template_global()
def nearest_organization(name: str | None) -> str | None:
    """Return the name most similar to one that no organization has; None if there is none."""
    if not name or not name.strip() or not _chooses_in_form():
        return None
    with transaction(read_only=True) as session:
        return organizations.nearest_name(session, caller(), name.strip())


def _chooses_in_form() -> bool:
    return caller().partner_id is not None and caller().organization_id is None
