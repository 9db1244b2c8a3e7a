"""Pause and resume all calls of a partner."""

from flask import redirect, url_for
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.languages import gettext
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import refuse_operators
from app.portal.web.messages import redirect_with
from app.services import pauses


@portal.get("/carriers/pause")
def calling_pause_confirm() -> str:
    refuse_operators()
    return pausing().page()


@portal.post("/carriers/pause")
def calling_pause() -> Response:
    with transaction() as session:
        pauses.pause_own(session, caller())
    return redirect(url_for("portal.carrier_status"), 303)


@portal.post("/carriers/resume")
def calling_resume() -> Response:
    with transaction() as session:
        was_paused = pauses.resume_own(session, caller())
    words = gettext("Calling resumed.") if was_paused else gettext("Calling wasn’t paused.")
    return redirect_with(words, url_for("portal.carrier_status"))


def pausing() -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.calling_pause"),
        title=gettext("Pause all calls?"),
        consequences=[
            gettext("Calls of all your organizations wait: campaigns, scripts and test calls."),
            gettext("Calls in progress continue."),
            gettext("Calls are accepted until you resume. A call that expires isn’t placed."),
        ],
        act=gettext("Pause all calls"),
        safe=gettext("Keep calling"),
        safe_url=url_for("portal.carrier_status"),
    )
