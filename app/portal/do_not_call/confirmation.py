"""The question before a number is added to a do-not-call list, and its field for a reason."""

from collections.abc import Sequence

from sqlalchemy.orm import Session
from wtforms import StringField

from app.languages import gettext, lazy_gettext, ngettext
from app.models import Organization
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import phone
from app.portal.web.forms import PortalForm
from app.services import do_not_call

MOST_REASON = 500


class ReasonForm(PortalForm):
    reason = StringField(
        lazy_gettext("Reason"), render_kw={"maxlength": MOST_REASON, "autocomplete": "off"}
    )


def never_calling(
    session: Session,
    organization: Organization,
    number: str,
    action: str,
    crumbs: Sequence[tuple[str, str]],
) -> ConfirmationPage:
    """The last of ``crumbs`` is the way back."""
    waiting = do_not_call.waiting_calls_to(session, organization.id, [number])
    return ConfirmationPage(
        action=action,
        title=gettext("Add %(number)s to the do-not-call list?", number=phone(number)),
        consequences=[
            gettext(
                "The number is added to the do-not-call list of %(organization)s.",
                organization=organization.name,
            ),
            ngettext(
                "%(num)s waiting call is not placed.",
                "%(num)s waiting calls are not placed.",
                waiting,
            )
            if waiting
            else gettext("No calls to it are waiting."),
            gettext("Contacts with it stay in their campaigns."),
        ],
        act=gettext("Add to do-not-call list"),
        safe=gettext("Keep callable"),
        safe_url=crumbs[-1][1],
        crumbs=crumbs,
    )


def added_words(number: str) -> str:
    return gettext("%(number)s is on the do-not-call list.", number=phone(number))
