"""The form that extends a client's use of the legacy API."""

from datetime import datetime, timedelta
from typing import ClassVar

from pydantic_core import PydanticCustomError
from wtforms import StringField, ValidationError
from wtforms.validators import DataRequired
from wtforms.widgets import DateInput

from app.calendar_months import midnight
from app.extensions import settings
from app.languages import gettext, lazy_gettext
from app.models import utcnow
from app.portal.web.formats import last_day
from app.portal.web.forms import PortalForm
from app.schemas.checks import parse_date


class ExtensionForm(PortalForm):
    """The last day of an extension, in UTC; ``until`` is its end."""

    wire_fields: ClassVar = {"until": "last_day"}

    last_day = StringField(
        lazy_gettext("Last day (UTC)"),
        [DataRequired(message=lazy_gettext("Enter a day like 2026-02-28."))],
        widget=DateInput(),
    )

    until: datetime

    def validate_last_day(self, field: StringField) -> None:
        try:
            day = parse_date((field.data or "").strip())
            self.until = midnight(day) + timedelta(days=1)
        except PydanticCustomError as error:
            raise ValidationError(error.message()) from None
        except OverflowError:
            raise ValidationError(gettext("This day is too far away.")) from None
        if utcnow() < settings().legacy_retirement >= self.until:
            end = last_day(settings().legacy_retirement, "UTC")
            message = gettext(
                "Every client is served through %(day)s. Choose a later day.", day=end
            )
            raise ValidationError(message)
