"""Closed lists. Values are the words of the contract or, if it has none, of docs/decisions."""

from enum import StrEnum


class Role(StrEnum):
    """A user's role. ``operator`` is given only by the command line; ``owner`` is ``standard`` in
    JSON and in ``User.user_type``."""

    OPERATOR = "operator"
    PARTNER_ADMIN = "partnerAdmin"
    PARTNER_EDITOR = "partnerEditor"
    ADMIN = "admin"
    OWNER = "owner"
    STANDARD = "standard"


class UserStatus(StrEnum):
    ACTIVE = "active"
    INVITED = "invited"
    SUSPENDED = "suspended"
    DEACTIVATED = "deactivated"


class Proof(StrEnum):
    """How a user proved their identity, besides or instead of the password."""

    APP = "app"
    PASSKEY = "passkey"
    RECOVERY_CODE = "recovery_code"
    REMEMBERED = "remembered"
    """A second step in this browser during the last days."""
    COMPANY_ACCOUNT = "company_account"
    """The sign-in at an identity provider, with the factors that it requires."""


class SecondFactorFor(StrEnum):
    """The users of a partner who need a second factor."""

    NONE = "none"
    STAFF = "staff"
    ALL = "all"


class Tier(StrEnum):
    FREE = "customerFreePlan"
    BASIC = "customerBasicPlan"
    PLUS = "customerPlusPlan"
    BASIC_TRIAL = "customerBasicFreeTrialPlan"


TIER_NAMES: dict[Tier, str] = {
    Tier.FREE: "Free",
    Tier.BASIC: "Basic",
    Tier.PLUS: "Plus",
    Tier.BASIC_TRIAL: "Basic trial",
}
"""The plans' display names."""


class BillingInterval(StrEnum):
    MONTH = "month"
    YEAR = "year"


class UsageUnit(StrEnum):
    """The usage that a plan charges for beyond its fixed price."""

    MINUTE = "minute"
    CALL = "call"


class OrganizationStatus(StrEnum):
    ACTIVE = "active"
    SUSPENDED = "suspended"
    ARCHIVED = "archived"


class SocialType(StrEnum):
    FACEBOOK = "facebook"
    TWITTER = "twitter"
    LINKEDIN = "linkedin"
    INSTAGRAM = "instagram"
    YOUTUBE = "youtube"


class ImageType(StrEnum):
    LOGO = "logo"
    HERO = "hero"
    FAVICON = "favicon"


class DomainPurpose(StrEnum):
    """What a partner's domain is for."""

    PORTAL = "portal"
    MAIL = "mail"


class DnsRecordKind(StrEnum):
    """The DNS records that a partner sets."""

    OWNERSHIP = "ownership"
    ADDRESS = "address"
    SPF = "spf"
    DKIM = "dkim"
    DMARC = "dmarc"


class DnsRecordStatus(StrEnum):
    """The result of checking a record."""

    SEEN = "seen"
    MISSING = "missing"
    DIFFERENT = "different"
    UNANSWERED = "unanswered"


class CampaignStatus(StrEnum):
    PAUSED = "paused"
    ACTIVE = "active"
    ARCHIVED = "archived"


class ContactAction(StrEnum):
    UPSERT = "upsert"
    UPDATE_ONLY = "updateOnly"
    REMOVE = "remove"


class ImportStatus(StrEnum):
    UPLOADED = "uploaded"
    READING = "reading"
    CHECKED = "checked"
    APPLYING = "applying"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CallStatus(StrEnum):
    SCHEDULED = "scheduled"
    QUEUED = "queued"
    DIALING = "dialing"
    RINGING = "ringing"
    IN_PROGRESS = "in-progress"
    COMPLETED = "completed"
    BUSY = "busy"
    NO_ANSWER = "no-answer"
    FAILED = "failed"
    CANCELED = "canceled"
    EXPIRED = "expired"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        return self in FINAL_CALL_STATUSES


FINAL_CALL_STATUSES = frozenset(
    {
        CallStatus.COMPLETED,
        CallStatus.BUSY,
        CallStatus.NO_ANSWER,
        CallStatus.FAILED,
        CallStatus.CANCELED,
        CallStatus.EXPIRED,
        CallStatus.UNKNOWN,
    }
)


class AnsweredBy(StrEnum):
    HUMAN = "human"
    VOICEMAIL = "voicemail"
    UNKNOWN = "unknown"


class EndedReason(StrEnum):
    COMPLETED = "completed"
    VOICEMAIL = "voicemail"
    BUSY = "busy"
    NO_ANSWER = "no_answer"
    REJECTED = "rejected"
    CARRIER_ERROR = "carrier_error"
    NUMBER_INVALID = "number_invalid"
    CANCELED = "canceled"
    ORGANIZATION_SUSPENDED = "organization_suspended"
    ASSISTANT_INACTIVE = "agent_inactive"
    DO_NOT_CONTACT = "do_not_contact"
    CONSENT_MISSING = "consent_missing"
    REGION_NOT_ALLOWED = "region_not_allowed"
    TRIAL_MODE = "trial_mode"
    SPENDING_LIMIT_REACHED = "spend_cap_reached"
    CONTACT_ENDED = "contact_ended"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


class CallSource(StrEnum):
    """The face that requested the call."""

    API = "api"
    LEGACY = "legacy"
    TEST = "test"
    CAMPAIGN = "campaign"
    VERIFICATION = "verification"
    """It speaks a code that proves who answers the number."""


class VerificationPurpose(StrEnum):
    """What a verified number may be used for."""

    CALL_TRIAL = "call-trial"
    """It can be called in trial mode."""
    CALLER_ID = "caller-id"
    """Calls can be placed from it."""


class OutreachStatus(StrEnum):
    """The progress of a contact in the outreach of its campaign; called ones have a call of their
    own."""

    WAITING = "waiting"
    CALLED = "called"
    LEFT_OUT = "left-out"


class CarrierKind(StrEnum):
    SIMULATOR = "simulator"
    SIP = "sip"
    TWILIO = "twilio"


class SubscriptionStatus(StrEnum):
    """The state of a customer's subscription at the payment processor."""

    ACTIVE = "active"
    OVERDUE = "overdue"
    """A payment failed, and the processor retries it."""
    ENDED = "ended"
    """It pays for nothing: it was cancelled, was never paid, or all tries failed."""


class RecordingStatus(StrEnum):
    """The state of a call's recording."""

    WAITING = "waiting"
    """Known, and to be fetched by the worker."""
    STORED = "stored"
    FAILED = "failed"


class ExportFormat(StrEnum):
    CSV = "csv"
    XLSX = "xlsx"
    ZIP = "zip"
    """A format for data about a person; lists have the others."""


class ExportStatus(StrEnum):
    """The state of a list's export."""

    WAITING = "waiting"
    """Requested; the worker will write it."""
    READY = "ready"
    FAILED = "failed"


class ExportProblem(StrEnum):
    """Why an export failed."""

    NO_ACCESS = "no-access"
    """The user may no longer see the list, or it is gone."""
    TOO_MANY_ROWS = "too-many-rows"
    """More than an Excel file holds."""
    TOO_LARGE = "too-large"
    FAILED = "failed"


class RetentionKind(StrEnum):
    """What is deleted after its retention period, which a partner may shorten."""

    RECORDINGS = "recordings"
    TRANSCRIPTS = "transcripts"
    UPLOADS = "uploads"
    """The rows and the undo log of uploads that ended."""
    MAILS = "mails"
    WEBHOOKS = "webhooks"
    """Deliveries, with what was sent."""


class SubjectKind(StrEnum):
    """The kind of person whose data is exported or erased."""

    USER = "user"
    CONTACT = "contact"
    """In all campaigns of an organization."""


class ErasureStatus(StrEnum):
    """The state of a person's erasure."""

    WAITING = "waiting"
    """Confirmed, and to be carried out by the worker."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class NumberSource(StrEnum):
    """The evidence that calls may come from a number."""

    ASSIGNED = "assigned"
    """The operator assigned it."""
    CARRIER_LIST = "carrier-list"
    """The carrier account lists it."""
    VERIFICATION_CALL = "verification-call"
    """A call to the number was answered with its code."""
    SIMULATED = "simulated"
    """It was first used on the simulated carrier; there is no evidence."""


class Observed(StrEnum):
    """How a carrier responded to a request."""

    ANSWERED = "answered"
    SLOW = "slow"
    """It answered, but took long."""
    REFUSED = "refused"
    """It refused a call for good, with its own code."""
    DELAYED = "put-off"
    """It asked the portal to wait."""
    UNREACHED = "unreached"
    SILENT = "silent"
    """It was reached, but didn't answer or failed itself."""


class Area(StrEnum):
    """The three JSON areas of the contract; each refuses the tokens of the others."""

    PARTNER_ADMIN = "A"
    LEGACY_CALLS = "B"
    PUBLIC = "C"


class CallerKind(StrEnum):
    USER = "user"
    CLIENT = "client"
    LEGACY_CLIENT = "legacy_client"
    API_KEY = "api_key"
    DIRECTORY = "directory"
    """A directory that provisions users by SCIM."""
    SYSTEM = "system"
    VISITOR = "visitor"


class WebhookEvent(StrEnum):
    """The events of webhooks; the end of a call is named by its status."""

    CALL_STARTED = "call.started"
    CALL_COMPLETED = "call.completed"
    CALL_BUSY = "call.busy"
    CALL_NO_ANSWER = "call.no-answer"
    CALL_FAILED = "call.failed"
    CALL_CANCELED = "call.canceled"
    CALL_EXPIRED = "call.expired"
    CALL_UNKNOWN = "call.unknown"
    IMPORT_FINISHED = "import.finished"
    IMPORT_UNDONE = "import.undone"
    CONTACT_CREATED = "contact.created"
    CONTACT_UPDATED = "contact.updated"
    CONTACT_DELETED = "contact.deleted"
    CALLING_PAUSED = "calling.paused"
    ALERT_OPENED = "alert.opened"
    ALERT_RESOLVED = "alert.resolved"
    KEY_EXPIRING = "key.expiring"


class AlertMeasure(StrEnum):
    """The figure that an alert rule watches."""

    CONVERSATIONS = "conversations"
    MINUTES = "minutes"
    ANSWER_RATE = "answer-rate"
    FAILED_CALLS = "failed-calls"
    SPENDING = "spending"
    BUDGET = "budget"
    LIMITS = "limits"
    SILENCE = "silence"


class AlertScope(StrEnum):
    """The scope of the figures that an alert rule watches."""

    PARTNER = "partner"
    """The sum of all organizations."""
    EACH_ORGANIZATION = "each-organization"
    ORGANIZATION = "organization"


class AlertPeriod(StrEnum):
    """The UTC days that an alert rule counts, including today."""

    TODAY = "today"
    DAYS_7 = "7-days"
    DAYS_30 = "30-days"
    MONTH = "month"


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    HELD = "held"
    """Kept while the webhook is paused, or until the worker resumes it."""
    DELIVERED = "delivered"
    FAILED = "failed"


class PauseReason(StrEnum):
    USER = "person"
    FAILING = "failing"
    GONE = "gone"


ENDED_CONTACT_STATUSES = frozenset({"completed", "disqualified"})
"""Contact statuses that end outreach; compare them by `ends_outreach`."""


def ends_outreach(status: str | None) -> bool:
    """Return whether a contact's status ends outreach: compared trimmed, ignoring case
    (docs/decisions/contacts.md#status)."""
    return (status or "").strip().casefold() in ENDED_CONTACT_STATUSES
