"""Settings of signing in: the second factor, and how long sessions last."""

from dataclasses import replace
from typing import Any

from flask import render_template, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from wtforms import RadioField, StringField

from app.enums import SecondFactorFor, UserStatus
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext
from app.portal.settings import blueprint
from app.portal.web.blueprint import Page
from app.portal.web.fields import VersionField, typed_number
from app.portal.web.forms import PortalForm, saving
from app.portal.web.messages import redirect_with
from app.services import partners, users
from app.services.auth.sessions import STAFF
from app.services.partners import sign_in_policy as policies
from app.services.partners.sign_in_policy import SignInPolicy

WHO = {
    SecondFactorFor.NONE: lazy_gettext("No one"),
    SecondFactorFor.STAFF: lazy_gettext("Your staff"),
    SecondFactorFor.ALL: lazy_gettext("All users"),
}


class SignInPolicyForm(PortalForm):
    """Blank numbers are the limits of the installation."""

    version = VersionField()
    second_factor_for = RadioField(lazy_gettext("Second factor required for"))
    session_hours = StringField(
        lazy_gettext("Sign in again after"), render_kw={"inputmode": "numeric"}
    )
    idle_minutes = StringField(
        lazy_gettext("Sign out after no use for"), render_kw={"inputmode": "numeric"}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.second_factor_for.choices = [(group.value, name) for group, name in WHO.items()]

    def policy(self) -> SignInPolicy:
        """Return the input; None for a blank number, -1 for an invalid one."""
        return SignInPolicy(
            SecondFactorFor(self.second_factor_for.data),
            typed_number(self.session_hours.data),
            typed_number(self.idle_minutes.data),
        )


@blueprint.get("/settings/sign-in")
def edit_sign_in_policy() -> str:
    with transaction(read_only=True) as session:
        form = _stored(session)
    return _page(form)


@blueprint.post("/settings/sign-in")
def save_sign_in_policy() -> Page:
    form, partner_id = SignInPolicyForm(), partners.own(caller())
    with saving(
        form, lambda: _page(form), stored=_stored, target=("partner", partner_id)
    ) as session:
        policy, version = form.policy(), form.version.data
        policies.save(session, caller(), partner_id, policy, settings(), expected_version=version)
    message = gettext("Sign-in settings saved. They are in effect now.")
    return redirect_with(message, url_for("portal.settings.edit_sign_in_policy"))


def _stored(session: Session) -> SignInPolicyForm:
    partner = partners.get_own(session, caller())
    policy = policies.of_partner(partner)
    return SignInPolicyForm.from_object(
        version=partner.version,
        second_factor_for=policy.second_factor_for.value,
        session_hours="" if policy.session_hours is None else str(policy.session_hours),
        idle_minutes="" if policy.idle_minutes is None else str(policy.idle_minutes),
    )


def _page(form: SignInPolicyForm) -> str:
    without_factor = users.UserFilter(status=UserStatus.ACTIVE, has_factor=False)
    with transaction(read_only=True) as session:
        lacking = {
            "staff": sum(
                users.count(session, caller(), replace(without_factor, user_type=role))
                for role in STAFF
            ),
            "all": users.count(session, caller(), without_factor),
        }
    return render_template(
        "portal/settings/sign_in.html",
        form=form,
        lacks_own=current_user.second_factor_at is None,
        lacking=lacking,
        max_hours=settings().session_hours,
        max_minutes=settings().session_idle_minutes,
    )
