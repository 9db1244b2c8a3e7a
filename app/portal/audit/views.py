"""The history: who changed what, when and from where, with the values before and after."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

from app.extensions import transaction
from app.languages import gettext
from app.models import utcnow
from app.portal.audit.entries import table_of
from app.portal.audit.kinds import actions, kinds
from app.portal.audit.listing import HISTORY, shows_calls
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page, portal
from app.portal.web.fragments import render_checked
from app.portal.web.list_pages import list_page
from app.portal.web.user_timezone import zone


@portal.get("/audit", endpoint="audit")
def show_audit() -> Page:
    with transaction(read_only=True) as session:
        page = list_page(session, HISTORY)
        return render_checked(
            "portal/audit/page.html",
            HISTORY.problems(),
            list=page,
            table=table_of(session, page.rows),
            named=organization_picker.named_in_filter(session),
            shows_calls=shows_calls(),
            kinds=kinds(),
            actions=actions(lists.text_filter("kind")),
            presets=_presets(),
        )


def _presets() -> list[tuple[str, date, date]]:
    """Return the ranges of days that are asked for most, in the user's time zone."""
    today = utcnow().astimezone(ZoneInfo(zone())).date()
    yesterday = today - timedelta(days=1)
    return [
        (gettext("Today"), today, today),
        (gettext("Yesterday"), yesterday, yesterday),
        (gettext("7 days"), today - timedelta(days=6), today),
    ]
