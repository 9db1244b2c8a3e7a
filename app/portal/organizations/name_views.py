"""Names of organizations that match what is typed into a field for one."""

from flask import render_template

from app.extensions import transaction
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.organization_picker import suggested_names


@portal.get("/organizations/names")
def organization_names() -> str:
    """Return the suggestions of the field, which sends what it contains."""
    with transaction(read_only=True) as session:
        names = suggested_names(session, lists.text_filter("organization"))
    return render_template("portal/organizations/_names.html", names=names)
