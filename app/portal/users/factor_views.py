"""Reset a user's second factor, and sign a user out everywhere."""

from uuid import UUID

from flask import url_for
from werkzeug.wrappers import Response

from app.errors import Forbidden, NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import User
from app.portal.users.views import actions_of
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import changing, redirect_with
from app.services import users
from app.services.users import factor_reset


@portal.get("/users/<uuid:user_id>/reset-factors")
def user_reset_factors_confirm(user_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = users.get(session, caller(), user_id)
    if not actions_of(found)["may_sign_out"]:
        raise NotFound
    return _resetting(found).page()


def _resetting(user: User) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.user_reset_factors", user_id=user.id),
        title=gettext("Reset the second factor of %(name)s?", name=_name(user)),
        consequences=(
            gettext("Make sure that you are really talking to this user, not by email alone."),
            gettext("The password alone signs in, until they add a second factor again."),
            gettext("Signed out at once, in every browser."),
            gettext("The user gets an email about it."),
        ),
        act=gettext("Reset second factor"),
        safe=gettext("Keep it"),
        safe_url=url_for("portal.user", user_id=user.id),
    )


@portal.post("/users/<uuid:user_id>/reset-factors")
def user_reset_factors(user_id: UUID) -> Response:
    url = url_for("portal.user", user_id=user_id)
    with changing(url, Forbidden, category="error") as session:
        found = factor_reset.reset(session, caller(), user_id)
    return redirect_with(gettext("Second factor of %(name)s reset.", name=_name(found)), url)


@portal.post("/users/<uuid:user_id>/sign-out")
def user_sign_out(user_id: UUID) -> Response:
    url = url_for("portal.user", user_id=user_id)
    with changing(url, Forbidden, category="error") as session:
        found = factor_reset.sign_out(session, caller(), user_id)
    return redirect_with(gettext("%(name)s signed out everywhere.", name=_name(found)), url)


def _name(user: User) -> str:
    return user.name or user.email
