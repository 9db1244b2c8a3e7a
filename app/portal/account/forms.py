"""Forms of the user's own account."""

from typing import Any, Self

from flask_login import current_user
from wtforms import BooleanField, SelectField, StringField
from wtforms.validators import Length

from app.languages import LANGUAGES, gettext, lazy_gettext
from app.models import User
from app.portal.auth.password_forms import CurrentPasswordForm, NewPasswordForm
from app.portal.web.fields import VersionField, without_nul
from app.portal.web.forms import PortalForm
from app.portal.web.zone_choices import zone_choices
from app.services import notifications


class DetailsForm(PortalForm):
    version = VersionField()
    name = StringField(
        lazy_gettext("Name"),
        [Length(max=200, message=lazy_gettext("Too long. Use at most 200 characters."))],
        filters=[without_nul],
        render_kw={"autocomplete": "name"},
    )
    timezone = SelectField(lazy_gettext("Time zone"))
    language = SelectField(lazy_gettext("Language"), validate_choice=False)

    def __init__(self, *args: Any, present: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timezone.choices = zone_choices(present, utc="")
        self.language.choices = [("", gettext("Automatic")), *LANGUAGES.items()]

    @classmethod
    def showing(cls, user: User) -> "DetailsForm":
        return cls.from_object(
            name=user.name,
            timezone="" if user.timezone in (None, "UTC") else user.timezone,
            language=user.language or "",
            version=user.version,
            present=user.timezone,
        )

    def to_details(self) -> dict[str, str | None]:
        """Return the value to save; a user with a time zone who chooses none gets UTC."""
        timezone = self.timezone.data or (current_user.timezone and "UTC")
        return {"name": self.name.data, "timezone": timezone, "language": self.language.data}


class OwnPasswordForm(NewPasswordForm, CurrentPasswordForm):
    """The current password, then the new one twice."""

    limited_field = "current_password"


class MailsForm(PortalForm):
    import_finished = BooleanField(lazy_gettext("Uploads that take longer than a minute"))
    alert_opened = BooleanField(lazy_gettext("Alerts"))
    news = BooleanField(lazy_gettext("News and offers"))

    @classmethod
    def showing(cls, user: User) -> Self:
        choices = {
            "import_finished": notifications.wants_mail(user, notifications.IMPORT_FINISHED),
            "alert_opened": notifications.wants_mail(user, notifications.ALERT_OPENED),
        }
        return cls.from_object(**choices, news=not user.unsubscribe)

    def to_preferences(self) -> dict[str, bool]:
        return {
            notifications.IMPORT_FINISHED: bool(self.import_finished.data),
            notifications.ALERT_OPENED: bool(self.alert_opened.data),
        }
