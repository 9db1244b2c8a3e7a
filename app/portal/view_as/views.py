"""Start and stop viewing the portal as another user; it ends on the page where it started."""

from uuid import UUID

from flask import redirect, request, url_for
from flask import session as browser_session
from flask_login import current_user
from werkzeug.wrappers import Response
from wtforms import StringField
from wtforms.validators import InputRequired

from app.database.scope import INSTALLATION
from app.errors import Conflict, NotFound
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import User
from app.portal.operator.partner_views import crumbs_of
from app.portal.view_as import blueprint
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import session_token
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm, saving
from app.portal.web.messages import flash, redirect_with
from app.services import partners, users
from app.services.users import viewing

FROM_PARTNER = "from_partner"
"""The parameter of a confirmation that was opened from the page of the partner."""
_BEGUN_AT_PARTNER = "view_begun_at_partner"
CONSEQUENCES = (
    lazy_gettext("You see every page as this user does, in your own language."),
    lazy_gettext("You can’t change anything."),
    lazy_gettext("It ends after 30 minutes, or when you stop it."),
    lazy_gettext("The partner’s admins get an email and a notification with your reason."),
    lazy_gettext("It is recorded in the partner’s history and in yours."),
)


class ViewReasonForm(PortalForm):
    reason = StringField(
        lazy_gettext("Reason"),
        description=lazy_gettext("The partner reads it, for example the number of a request."),
        validators=[InputRequired()],
        filters=[without_nul],
        render_kw={"maxlength": viewing.MAX_REASON_LENGTH, "autocomplete": "off"},
    )


@blueprint.get("/users/<uuid:user_id>/view-as")
def confirm_view_as_user(user_id: UUID) -> str:
    return _page(user_id, ViewReasonForm())


@blueprint.post("/users/<uuid:user_id>/view-as")
def view_as_user(user_id: UUID) -> Page:
    form = ViewReasonForm()
    try:
        with saving(form, lambda: _page(user_id, form), validate=False) as session:
            viewing.view_as(session, caller(), session_token(), user_id, form.reason.data or "")
    except Conflict as error:
        return redirect_with(
            error.message, url_for("portal.users.show_user", user_id=user_id), "danger"
        )
    _end_open_forms()
    browser_session[_BEGUN_AT_PARTNER] = FROM_PARTNER in request.args
    return redirect(url_for("portal.overview.show_overview"), 303)


@blueprint.post("/view-as/stop")
def stop_view_as() -> Response:
    signed_in = current_user.signed_in
    if signed_in.operator is None:
        return redirect(url_for("portal.overview.show_overview"), 303)
    with transaction(scope=INSTALLATION) as session:
        # nosemgrep: query-in-a-face - the viewed user of the operator's own session
        viewed = session.get(User, signed_in.record.viewed_user_id)
        viewing.stop(session, signed_in.operator, session_token())
        next_url = _start_url(viewed) if viewed else url_for("portal.overview.show_overview")
    _end_open_forms()
    flash(gettext("You see your own portal again. Nothing was changed."), "success")
    return redirect(next_url, 303)


def _start_url(viewed: User) -> str:
    if browser_session.pop(_BEGUN_AT_PARTNER, False):
        return url_for("portal.operator.show_partner", partner_id=viewed.partner_id)
    return url_for("portal.users.show_user", user_id=viewed.id)


def _end_open_forms() -> None:
    """Invalidate the forms that are open in other windows: their pages were shown to another
    user."""
    browser_session.pop("csrf_token", None)


def _page(user_id: UUID, form: ViewReasonForm) -> str:
    with transaction(read_only=True) as session:
        user = users.get(session, caller(), user_id)
        if user.partner_id is None or not viewing.may_view_as(session, caller(), user):
            message = gettext(
                "This user can’t sign in. Choose an active user of an active partner."
            )
            raise NotFound(message, "user_not_found")
        partner = partners.get(session, caller(), user.partner_id)
    is_from_partner = FROM_PARTNER in request.args
    crumbs = crumbs_of(partner)
    user_page = url_for("portal.users.show_user", user_id=user_id)
    return ConfirmationPage(
        action=url_for(
            "portal.view_as.view_as_user", user_id=user_id, from_partner=is_from_partner or None
        ),
        title=gettext("View the portal as %(name)s?", name=user.name or user.email),
        consequences=CONSEQUENCES,
        action_label=gettext("View as user"),
        keep_label=gettext("Cancel"),
        keep_url=crumbs[-1][1] if is_from_partner else user_page,
        danger=False,
        crumbs=crumbs if is_from_partner else [*crumbs, (user.name or user.email, user_page)],
    ).page(form.reason)
