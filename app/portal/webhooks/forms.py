"""The forms of webhooks."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Self

from wtforms import RadioField, SelectChoice, StringField
from wtforms.widgets import URLInput

from app.calendar_months import midnight
from app.enums import WebhookEvent
from app.extensions import settings, transaction
from app.languages import lazy_gettext
from app.models import Organization, Webhook
from app.portal.web.fields import CheckboxesField, DayField, OnceField, VersionField
from app.portal.web.forms import PortalForm
from app.portal.web.organization_choice import OfOrganization
from app.services import webhooks
from app.services.webhooks import seen_version

EVENT_LABELS: dict[str, str] = {
    WebhookEvent.CALL_STARTED: lazy_gettext("Call started"),
    WebhookEvent.CALL_COMPLETED: lazy_gettext("Call completed"),
    WebhookEvent.CALL_BUSY: lazy_gettext("Call busy"),
    WebhookEvent.CALL_NO_ANSWER: lazy_gettext("Call not answered"),
    WebhookEvent.CALL_FAILED: lazy_gettext("Call failed"),
    WebhookEvent.CALL_CANCELED: lazy_gettext("Call cancelled"),
    WebhookEvent.CALL_EXPIRED: lazy_gettext("Call expired"),
    WebhookEvent.CALL_UNKNOWN: lazy_gettext("Call of unknown outcome"),
    WebhookEvent.IMPORT_FINISHED: lazy_gettext("Contact file applied"),
    WebhookEvent.IMPORT_UNDONE: lazy_gettext("Contact file undone"),
    WebhookEvent.CONTACT_CREATED: lazy_gettext("Contacts added"),
    WebhookEvent.CONTACT_UPDATED: lazy_gettext("Contacts changed"),
    WebhookEvent.CONTACT_DELETED: lazy_gettext("Contacts removed"),
    WebhookEvent.CALLING_PAUSED: lazy_gettext("Calling paused"),
    WebhookEvent.ALERT_OPENED: lazy_gettext("Alert opened"),
    WebhookEvent.ALERT_RESOLVED: lazy_gettext("Alert resolved"),
    WebhookEvent.KEY_EXPIRING: lazy_gettext("API key expires soon"),
}


EVENT_HINTS: dict[str, str] = {
    WebhookEvent.CALL_STARTED: lazy_gettext("The first attempt of a call begins."),
    WebhookEvent.CALL_COMPLETED: lazy_gettext("A person or voicemail answered; the call is over."),
    WebhookEvent.CALL_BUSY: lazy_gettext("The last attempt was busy."),
    WebhookEvent.CALL_NO_ANSWER: lazy_gettext("No one answered the last attempt."),
    WebhookEvent.CALL_FAILED: lazy_gettext("The carrier couldn’t place the last attempt."),
    WebhookEvent.CALL_CANCELED: lazy_gettext("Cancelled or stopped before it was placed."),
    WebhookEvent.CALL_EXPIRED: lazy_gettext("It couldn’t be placed in time."),
    WebhookEvent.CALL_UNKNOWN: lazy_gettext("The carrier can’t say whether it was placed."),
    WebhookEvent.IMPORT_FINISHED: lazy_gettext(
        "The rows of a file were applied, or it was stopped."
    ),
    WebhookEvent.IMPORT_UNDONE: lazy_gettext("The changes of a file were undone."),
    WebhookEvent.CONTACT_CREATED: lazy_gettext("By a user, a file or the API; with their IDs."),
    WebhookEvent.CONTACT_UPDATED: lazy_gettext("By a user, a file or the API; with their IDs."),
    WebhookEvent.CONTACT_DELETED: lazy_gettext("By a user, a file or the API; with their IDs."),
    WebhookEvent.CALLING_PAUSED: lazy_gettext("Unusual calls paused the organization’s calling."),
    WebhookEvent.ALERT_OPENED: lazy_gettext("The limit of an alert rule is reached."),
    WebhookEvent.ALERT_RESOLVED: lazy_gettext("The limit is no longer reached."),
    WebhookEvent.KEY_EXPIRING: lazy_gettext("14 days and 1 day before an API key expires."),
}
"""When each event is sent, in one line."""


def _events_about(*subjects: str) -> tuple[str, ...]:
    return tuple(str(event) for event in EVENT_LABELS if event.startswith(subjects))


EVENT_GROUPS: list[tuple[str, tuple[str, ...]]] = [
    (
        lazy_gettext("Calls"),
        _events_about("call.", "calling."),
    ),
    (lazy_gettext("Uploads"), _events_about("import.")),
    (lazy_gettext("Contacts"), _events_about("contact.")),
    (lazy_gettext("Alerts"), _events_about("alert.")),
    (lazy_gettext("API keys"), _events_about("key.")),
]
"""The events by subject, as the form shows them."""


USUAL_EVENTS = (
    WebhookEvent.CALL_COMPLETED,
    WebhookEvent.CALL_BUSY,
    WebhookEvent.CALL_NO_ANSWER,
    WebhookEvent.CALL_FAILED,
)
"""How calls end: the choice of a new webhook."""


PORTAL = "portal"
"""The choice of the whole portal instead of an organization."""


class WebhookFields(PortalForm):
    url = StringField(
        lazy_gettext("Address"),
        widget=URLInput(),
        render_kw={"maxlength": 2000, "autocomplete": "off"},
    )
    events = CheckboxesField(
        lazy_gettext("Events"),
        choices=[SelectChoice(str(event), words) for event, words in EVENT_LABELS.items()],
        default=[str(event) for event in USUAL_EVENTS],
    )

    def to_fields(self) -> dict[str, Any]:
        """Return the input, as the services' arguments."""
        return {"url": (self.url.data or "").strip(), "events": self.events.data or []}


class WebhookForm(WebhookFields, OfOrganization):
    once = OnceField()
    scope = RadioField(
        lazy_gettext("For"),
        choices=[
            SelectChoice("organization", lazy_gettext("One organization")),
            SelectChoice(PORTAL, lazy_gettext("The whole portal")),
        ],
        default="organization",
    )

    def owner_or_page(
        self, page: Callable[[Organization | None, Self], str]
    ) -> Organization | None:
        """As `organization_or_page`; None for the whole portal."""
        if self.scope.data != PORTAL:
            return self.organization_or_page(page)
        with transaction(read_only=True) as session:
            self.prepare_organization(session)
        return None

    def selected_organization(self) -> Organization | None:
        """As the base class; without an organization, the problems of the other fields are also
        reported."""
        organization = super().selected_organization()
        if organization is None:
            url, events = (self.url.data or "").strip(), self.events.data or []
            self.passes(lambda: webhooks.check(settings(), url, events))
        return organization


class EditWebhookForm(WebhookFields):
    version = VersionField()

    @classmethod
    def showing(cls, webhook: Webhook) -> "EditWebhookForm":
        return cls.from_object(
            url=webhook.url, events=webhook.events, version=seen_version(webhook)
        )


class SendAgainForm(PortalForm):
    since = DayField(lazy_gettext("Failed since"))

    @property
    def moment(self) -> datetime | None:
        """Return the start of the day (UTC)."""
        return midnight(self.since.data) if self.since.data else None
