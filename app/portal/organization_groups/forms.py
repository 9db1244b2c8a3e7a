"""The forms of a group, and of a limit to groups."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from wtforms import RadioField, SelectChoice, StringField, TextAreaField

from app.languages import lazy_gettext
from app.models import Organization, OrganizationGroup
from app.portal.web.fields import Checkboxes, OnceField, VersionField, lines_of, without_nul
from app.portal.web.forms import PortalForm
from app.services.organization_groups import Listed
from app.validation.uuids import as_uuid

ALL, SOME = "all", "some"
_NAME = {"maxlength": 200, "autocomplete": "off"}


class GroupFields(PortalForm):
    wire_fields: ClassVar = {"organization": "added"}

    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME)
    added = TextAreaField(lazy_gettext("Add organizations"), filters=[without_nul])

    @property
    def lines(self) -> list[str]:
        """The names or ids of the organizations to add."""
        return lines_of(self.added)


class NewGroupForm(GroupFields):
    once = OnceField()


class OrganizationGroupForm(GroupFields):
    version = VersionField()
    kept = Checkboxes(lazy_gettext("Organizations"))

    def offer(self, organizations: Sequence[Organization]) -> None:
        self.kept.choices = [SelectChoice(str(each.id), each.name) for each in organizations]

    @classmethod
    def showing(
        cls, group: OrganizationGroup, organizations: Sequence[Organization]
    ) -> "OrganizationGroupForm":
        kept = [str(each.id) for each in organizations]
        data = {"name": group.name, "kept": kept, "version": group.version}
        form = cls.from_object(data=data)
        form.offer(organizations)
        return form

    @property
    def kept_ids(self) -> set[UUID]:
        return {found for each in self.kept.data or () if (found := as_uuid(each))}


class LimitForm(PortalForm):
    """All organizations, or those of some groups."""

    reach = RadioField(
        lazy_gettext("Access"),
        choices=[
            SelectChoice(ALL, lazy_gettext("All organizations")),
            SelectChoice(SOME, lazy_gettext("Only organizations of some groups")),
        ],
        default=ALL,
    )
    groups = Checkboxes(lazy_gettext("Groups"))

    def offer(self, listed: Sequence[Listed]) -> None:
        self.groups.choices = [SelectChoice(str(each.group.id), each.group.name) for each in listed]

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.groups.choices = self.groups.choices or []

    @property
    def chosen(self) -> set[UUID] | None:
        """The groups; None for all organizations."""
        if self.reach.data == ALL:
            return None
        return {found for each in self.groups.data or () if (found := as_uuid(each))}
