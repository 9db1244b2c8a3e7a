"""The latest changes in an organization: a tab of its page."""

from uuid import UUID

from flask import render_template

from app.extensions import caller, transaction
from app.portal.audit.entries import table_of
from app.portal.audit.listing import CALL_REQUESTS
from app.portal.organizations.views import about
from app.portal.web.blueprint import portal
from app.services import organizations
from app.services.audit import search as audit_search

SHOWN = 20


@portal.get("/organizations/<uuid:organization_id>/activity")
def organization_activity(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        chosen = audit_search.HistoryFilter(organization=found.id, without=CALL_REQUESTS)
        entries = audit_search.search(session, caller(), chosen, limit=SHOWN).items
        return render_template(
            "portal/audit/activity.html",
            **about(session, found, "portal.organization_activity"),
            entries=entries,
            table=table_of(session, entries) | {"names": {}},
        )
