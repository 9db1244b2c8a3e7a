"""The health of the installation in four figures, each with the page of its details."""

from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.extensions import settings
from app.languages import gettext, ngettext
from app.models import utcnow
from app.portal.operator.system_checks import QueuedWork
from app.portal.operator.views import keeps_mails
from app.portal.web.formats import number
from app.services import installation
from app.services.installation import is_late


def health(session: Session, work: QueuedWork) -> list[dict[str, Any]]:
    """Return the arguments of one tile (`components/stat.html`) for each figure."""
    page = url_for("portal.operator.show_installation")
    online = len(work.workers.online)
    oldest_at = min((each.oldest_at for each in work.queues if each.oldest_at), default=None)
    minutes = 0 if oldest_at is None else max(0, int((utcnow() - oldest_at).total_seconds() // 60))
    waiting = sum(each.waiting for each in work.queues)
    mails = installation.mails(session)
    if settings().smtp_url:
        mails_note = gettext("%(failed)s failed in 24 hours", failed=number(mails.failed))
    elif keeps_mails():
        mails_note = gettext("Kept in the outbox")
    else:
        mails_note = gettext("Not sent: no mail server")
    is_sent = bool(settings().smtp_url) or keeps_mails()
    is_wrong = not is_sent or mails.failed or is_late(mails.oldest_at)
    return [
        {
            "label": gettext("Workers online"),
            "figure": number(online),
            "note": gettext("Running now") if online else gettext("Work waits for one."),
            "tone": "" if online else "danger",
            "url": f"{page}#workers",
        },
        {
            "label": gettext("Longest wait"),
            "figure": number(minutes),
            "unit": gettext("min"),
            "note": ngettext("%(num)s job waits now", "%(num)s jobs wait now", waiting)
            if waiting
            else gettext("Nothing waits now"),
            "tone": "warning" if is_late(oldest_at) else "",
            "url": page,
        },
        {
            "label": gettext("Failed jobs"),
            "figure": number(work.failed),
            "note": gettext("Last 7 days"),
            "tone": "warning" if work.failed else "",
            "url": f"{page}#failed-jobs",
        },
        {
            "label": gettext("Emails, 24 h") if keeps_mails() else gettext("Emails waiting"),
            "figure": number(mails.sent if keeps_mails() else mails.waiting),
            "note": mails_note,
            "tone": "warning" if is_wrong else "",
            "url": url_for("portal.operator.list_mails") if keeps_mails() else page,
        },
    ]
