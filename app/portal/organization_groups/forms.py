"""The forms of a group, and of a limit to groups."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from wtforms import RadioField, SelectChoice, StringField, TextAreaField

from app.languages import lazy_gettext
from app.models import Organization, OrganizationGroup
from app.portal.web.fields import CheckboxesField, OnceField, VersionField, lines_of, without_nul
from app.portal.web.forms import PortalForm
from app.services.organization_groups import GroupRow
from app.validation.uuids import as_uuid

ALL, SOME = "all", "some"
_NAME_ATTRIBUTES = {"maxlength": 200, "autocomplete": "off"}


class GroupFields(PortalForm):
    """``has_more``: there are more organizations than are offered."""

    wire_fields: ClassVar = {"organization": "added"}
    has_more = False

    name = StringField(lazy_gettext("Name"), filters=[without_nul], render_kw=_NAME_ATTRIBUTES)
    kept = CheckboxesField(lazy_gettext("Organizations"))
    added = TextAreaField(lazy_gettext("Add organizations"), filters=[without_nul])

    def set_choices(self, organizations: Sequence[Organization], *, has_more: bool) -> None:
        self.kept.choices = [SelectChoice(str(each.id), each.name) for each in organizations]
        self.has_more = has_more

    @property
    def lines(self) -> list[str]:
        """Return the names or ids of the organizations to add."""
        return lines_of(self.added)

    @property
    def kept_ids(self) -> set[UUID]:
        return {
            organization_id for each in self.kept.data or () if (organization_id := as_uuid(each))
        }


class NewGroupForm(GroupFields):
    once = OnceField()


class OrganizationGroupForm(GroupFields):
    version = VersionField()

    @classmethod
    def showing(
        cls, group: OrganizationGroup, organizations: Sequence[Organization]
    ) -> "OrganizationGroupForm":
        organization_ids = [str(each.id) for each in organizations]
        return cls.from_object(name=group.name, kept=organization_ids, version=group.version)


class GroupLimitForm(PortalForm):
    """All organizations, or those of some groups."""

    version = VersionField()
    reach = RadioField(
        lazy_gettext("Access"),
        choices=[
            SelectChoice(ALL, lazy_gettext("All organizations")),
            SelectChoice(SOME, lazy_gettext("Only organizations of some groups")),
        ],
        default=ALL,
    )
    groups = CheckboxesField(lazy_gettext("Groups"))

    def set_choices(self, rows: Sequence[GroupRow]) -> None:
        self.groups.choices = [SelectChoice(str(each.group.id), each.group.name) for each in rows]

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.groups.choices = self.groups.choices or []

    @property
    def group_ids(self) -> set[UUID] | None:
        """Return the groups; None for all organizations."""
        if self.reach.data == ALL:
            return None
        return {group_id for each in self.groups.data or () if (group_id := as_uuid(each))}
