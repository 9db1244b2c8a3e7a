"""The words about DNS records."""

from app.enums import DnsRecordKind, DnsRecordStatus
from app.languages import gettext, lazy_gettext
from app.models import PartnerDomain
from app.services.domains import RequiredRecord

NAMES = {
    DnsRecordKind.OWNERSHIP: lazy_gettext("Ownership"),
    DnsRecordKind.ADDRESS: lazy_gettext("Portal"),
    DnsRecordKind.SPF: "SPF",
    DnsRecordKind.DKIM: "DKIM",
    DnsRecordKind.DMARC: "DMARC",
}
_HINTS = {
    DnsRecordKind.OWNERSHIP: lazy_gettext("Proves that the domain is yours."),
    DnsRecordKind.ADDRESS: lazy_gettext("Leads your customers to the portal."),
    DnsRecordKind.SPF: lazy_gettext("Lists the servers that may send emails of the domain."),
    DnsRecordKind.DKIM: lazy_gettext("Lets receivers check the signature of your emails."),
    DnsRecordKind.DMARC: lazy_gettext(
        "Tells receivers what to do with emails that fail SPF and DKIM. A stricter policy is fine."
    ),
}
_DIFFERENCE_HINTS = {
    DnsRecordKind.OWNERSHIP: lazy_gettext("There is another value. Add this one."),
    DnsRecordKind.ADDRESS: lazy_gettext("The domain points somewhere else."),
    DnsRecordKind.DKIM: lazy_gettext("There is another key. Replace it with this one."),
    DnsRecordKind.DMARC: lazy_gettext("The record can’t be used. Replace it."),
}


def hint(record: RequiredRecord) -> str:
    """Return the purpose of a record."""
    text = str(_HINTS[record.kind])
    if record.type != "CNAME":
        return text
    alias = gettext("If your DNS provider refuses a CNAME record here, add an ALIAS record.")
    return f"{text} {alias}"


def record_badge(status: DnsRecordStatus | None, *, is_needed: bool) -> tuple[str, str | None]:
    """Return the word for the status of a record and its tone, None for a hollow badge."""
    if status is not None and status is not DnsRecordStatus.SEEN and not is_needed:
        return gettext("Not needed"), None
    match status:
        case DnsRecordStatus.SEEN:
            return gettext("Found"), "success"
        case DnsRecordStatus.MISSING:
            return gettext("Missing"), "warning"
        case DnsRecordStatus.DIFFERENT:
            return gettext("Different"), "warning"
        case DnsRecordStatus.UNANSWERED:
            return gettext("No answer"), "neutral"
        case _:
            return gettext("Not checked yet"), None


def domain_badge(
    domain: PartnerDomain, *, is_verified: bool, is_ending: bool, is_local: bool
) -> tuple[str, str | None]:
    """Return the word for the status of a portal's domain and its tone, None for a hollow badge."""
    if is_ending:
        return gettext("Records missing"), "warning"
    if is_verified:
        return gettext("Verified"), "success"
    if domain.is_taken:
        return gettext("In use"), "warning"
    if is_local:
        return gettext("Not checked here"), None
    if domain.lost_at:
        return gettext("Not verified any more"), "warning"
    return gettext("Not verified yet"), "warning"


def explanation(record: RequiredRecord, status: DnsRecordStatus | None) -> str:
    """Return what to do about a record in this status; empty if there is nothing to do."""
    match status:
        case DnsRecordStatus.MISSING:
            return gettext("Add this record at your DNS provider.")
        case DnsRecordStatus.UNANSWERED:
            return gettext("The DNS didn’t answer. Until it does, nothing changes.")
        case DnsRecordStatus.DIFFERENT if record.kind is DnsRecordKind.SPF:
            return gettext(
                "Add %(include)s to your SPF record. A domain can have only one.",
                include=record.value.split()[1],
            )
        case DnsRecordStatus.DIFFERENT:
            return str(_DIFFERENCE_HINTS[record.kind])
        case _:
            return ""
