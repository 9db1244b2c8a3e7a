"""The forms of webhooks."""

from wtforms import SelectChoice, StringField
from wtforms.widgets import DateInput, URLInput

from app.enums import WebhookEvent
from app.models import WebhookEndpoint
from app.portal.web.fields import Checkboxes, OnceField, VersionField
from app.portal.web.forms import PortalForm
from app.services.webhooks.endpoints import seen_version

EVENT_WORDS: dict[str, str] = {
    WebhookEvent.CALL_STARTED: "Call started",
    WebhookEvent.CALL_COMPLETED: "Call completed",
    WebhookEvent.CALL_BUSY: "Call busy",
    WebhookEvent.CALL_NO_ANSWER: "Call not answered",
    WebhookEvent.CALL_FAILED: "Call failed",
    WebhookEvent.CALL_CANCELED: "Call cancelled",
    WebhookEvent.CALL_EXPIRED: "Call expired",
    WebhookEvent.CALL_UNKNOWN: "Call of unknown outcome",
    WebhookEvent.IMPORT_FINISHED: "Contact file applied",
    WebhookEvent.IMPORT_UNDONE: "Contact file undone",
    WebhookEvent.CONTACT_CREATED: "Contacts added",
    WebhookEvent.CONTACT_UPDATED: "Contacts changed",
    WebhookEvent.CONTACT_DELETED: "Contacts removed",
    WebhookEvent.CALLING_PAUSED: "Calling paused",
    WebhookEvent.ALERT_OPENED: "Alert opened",
    WebhookEvent.ALERT_RESOLVED: "Alert resolved",
}


class WebhookFields(PortalForm):
    url = StringField(
        "Address", widget=URLInput(), render_kw={"maxlength": 2000, "autocomplete": "off"}
    )
    events = Checkboxes(
        "Events",
        choices=[SelectChoice(str(event), words) for event, words in EVENT_WORDS.items()],
        default=[str(WebhookEvent.CALL_COMPLETED)],
    )


class WebhookForm(WebhookFields):
    once = OnceField()


class EditWebhookForm(WebhookFields):
    version = VersionField()

    @classmethod
    def showing(cls, endpoint: WebhookEndpoint) -> "EditWebhookForm":
        return cls.from_object(
            data={
                "url": endpoint.url,
                "events": endpoint.events,
                "version": seen_version(endpoint),
            }
        )


class ReplayForm(PortalForm):
    since = StringField("Failed since", widget=DateInput())
