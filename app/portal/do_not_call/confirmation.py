"""The confirmation before a number is added to a do-not-call list, and its field for a reason."""

from collections.abc import Sequence

from wtforms import StringField

from app.languages import gettext, lazy_gettext, ngettext
from app.models import Organization
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import phone
from app.portal.web.forms import PortalForm

MAX_REASON_LENGTH = 500


class DoNotCallReasonForm(PortalForm):
    reason = StringField(
        lazy_gettext("Reason"), render_kw={"maxlength": MAX_REASON_LENGTH, "autocomplete": "off"}
    )


def never_calling(
    organization: Organization,
    number: str,
    waiting: int,
    action: str,
    crumbs: Sequence[tuple[str, str]],
) -> ConfirmationPage:
    """Return the confirmation. ``waiting`` is how many calls to the number are not placed yet. The
    last of ``crumbs`` is the way back."""
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
        action_label=gettext("Add to do-not-call list"),
        keep_label=gettext("Keep callable"),
        keep_url=crumbs[-1][1],
        crumbs=crumbs,
    )


def added_message(number: str) -> str:
    return gettext("%(number)s is on the do-not-call list.", number=phone(number))
