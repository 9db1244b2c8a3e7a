"""The names of the tables with personal data, and of their treatment."""

from collections.abc import Iterable

from app.enums import ErasureStatus, RetentionKind, SubjectKind
from app.languages import lazy_gettext, lazy_pgettext
from app.services.personal_data.inventory import OnErasure
from app.services.personal_data.preview import ErasureLine

TABLE_LABELS: dict[str, str] = {
    "audit_entries": lazy_gettext("History entries"),
    "call_attempts": lazy_gettext("Call attempts"),
    "call_events": lazy_gettext("Call events"),
    "call_recordings": lazy_gettext("Recordings"),
    "call_transcripts": lazy_gettext("Transcripts and summaries"),
    "calls": lazy_gettext("Calls"),
    "contact_external_ids": lazy_gettext("External IDs"),
    "contact_imports": lazy_gettext("Files and rows of uploads"),
    "contacts": lazy_gettext("Contacts, in all campaigns of the organization"),
    "do_not_call": lazy_gettext("Do-not-call entries"),
    "email_changes": lazy_gettext("Email changes"),
    "idempotency_records": lazy_gettext("Stored API answers"),
    "kept_mails": lazy_gettext("Emails in the outbox"),
    "list_exports": lazy_gettext("Exports"),
    "mails": lazy_gettext("Emails"),
    "passkeys": lazy_gettext("Passkeys"),
    "portal_sessions": lazy_gettext("Sessions"),
    "saved_views": lazy_gettext("Saved views"),
    "scim_users": lazy_gettext("Data from the directory"),
    "texts": lazy_gettext("Names in other texts"),
    "user_identities": lazy_gettext("Linked company accounts"),
    "users": lazy_gettext("Account"),
    "webhook_deliveries": lazy_gettext("Webhook deliveries"),
}
OTHER = lazy_gettext("Other records")
MENTIONS: dict[str, str] = {
    "agents": lazy_gettext("Messages of an assistant"),
    "calls": lazy_gettext("Call to someone else"),
    "campaigns": lazy_gettext("Name of a campaign"),
    "contacts": lazy_gettext("Another contact"),
    "do_not_call": lazy_gettext("Reason on the do-not-call list"),
    "outreaches": lazy_gettext("Messages of a campaign"),
}
"""Names of texts that mention a name, by table."""
MENTION_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "agents": ("portal.assistants.show_assistant", {"assistant_id": "id"}),
    "calls": ("portal.calls.show_call", {"call_id": "id"}),
    "campaigns": ("portal.campaigns.show_campaign", {"campaign_id": "id"}),
    "contacts": (
        "portal.contacts.show_contact",
        {"campaign_id": "campaign_id", "contact_id": "id"},
    ),
    "do_not_call": ("portal.do_not_call.list_numbers", {"organization_id": "organization_id"}),
    "outreaches": ("portal.campaigns.show_outreach", {"campaign_id": "campaign_id"}),
}
"""Pages where texts are edited: an endpoint, and its parameters by the ids of the text."""
FATES: dict[OnErasure, str] = {
    OnErasure.DELETED: lazy_pgettext("erasure", "Deleted"),
    OnErasure.PSEUDONYMIZED: lazy_pgettext("erasure", "Pseudonymized"),
    OnErasure.REPLACED: lazy_pgettext("erasure", "Pseudonymized"),
    OnErasure.REDACTED: lazy_pgettext("erasure", "Pseudonymized"),
    OnErasure.KEPT: lazy_pgettext("erasure", "Kept"),
}
STATUSES: dict[ErasureStatus, tuple[str, str]] = {
    ErasureStatus.WAITING: (lazy_gettext("Waiting"), "info"),
    ErasureStatus.RUNNING: (lazy_gettext("Running"), "info"),
    ErasureStatus.DONE: (lazy_gettext("Done"), "success"),
    ErasureStatus.FAILED: (lazy_gettext("Failed"), "danger"),
}
SUBJECTS: dict[SubjectKind, str] = {
    SubjectKind.USER: lazy_gettext("User"),
    SubjectKind.CONTACT: lazy_gettext("Contact or person called"),
}
ERASURES: dict[SubjectKind, str] = {
    SubjectKind.USER: lazy_gettext("Erasure of a user"),
    SubjectKind.CONTACT: lazy_gettext("Erasure of a person’s data"),
}
KINDS: dict[RetentionKind, str] = {
    RetentionKind.RECORDINGS: lazy_gettext("Recordings"),
    RetentionKind.TRANSCRIPTS: lazy_gettext("Transcripts and summaries"),
    RetentionKind.UPLOADS: lazy_gettext("Rows of uploads"),
    RetentionKind.MAILS: lazy_gettext("Emails"),
    RetentionKind.WEBHOOKS: lazy_gettext("Webhook deliveries"),
}


def rows_of(lines: Iterable[ErasureLine]) -> list[tuple[str, int, str, str]]:
    """Return name, number, treatment and table of each line of a person's data."""
    return [
        (TABLE_LABELS.get(line.table, OTHER), line.rows, FATES[line.fate], line.table)
        for line in lines
    ]


OF_CONTACTS = (
    lazy_gettext("Waiting calls are cancelled. The erasure waits for calls in progress."),
    lazy_gettext("Calls stay with a pseudonym, so that figures and billing stay exact."),
    lazy_gettext(
        "For uploads that name the person, the file, its rows and its undo log are deleted. Other "
        "contacts and the figures of the upload stay."
    ),
    lazy_gettext("Numbers on a do-not-call list are kept: the law requires it."),
    lazy_gettext("Backups keep the data until they expire."),
)
OF_USERS = (
    lazy_gettext(
        "The user is signed out immediately. Keys and other items they created end, as when you "
        "deactivate the account."
    ),
    lazy_gettext("The account stays deactivated under a pseudonym, so that figures stay exact."),
    lazy_gettext("Names and addresses in the history are replaced by the pseudonym."),
    lazy_gettext("Backups keep the data until they expire."),
)
