"""The words about DNS records."""

from app.enums import DnsRecordKind, DnsRecordState
from app.languages import gettext, lazy_gettext
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
_DIFFERENT = {
    DnsRecordKind.OWNERSHIP: lazy_gettext("There is another value. Add this one."),
    DnsRecordKind.ADDRESS: lazy_gettext("The domain points somewhere else."),
    DnsRecordKind.DKIM: lazy_gettext("There is another key. Replace it with this one."),
    DnsRecordKind.DMARC: lazy_gettext("The record can’t be used. Replace it."),
}


def hint(record: RequiredRecord) -> str:
    """Return the purpose of a record."""
    words = str(_HINTS[record.kind])
    if record.type != "CNAME":
        return words
    alias = gettext("If your DNS provider refuses a CNAME record here, add an ALIAS record.")
    return f"{words} {alias}"


def explanation(record: RequiredRecord, state: DnsRecordState | None) -> str:
    """Return what to do about a record in this state; empty if there is nothing to do."""
    match state:
        case DnsRecordState.MISSING:
            return gettext("Add this record at your DNS provider.")
        case DnsRecordState.UNANSWERED:
            return gettext("The DNS didn’t answer. Until it does, nothing changes.")
        case DnsRecordState.DIFFERENT if record.kind is DnsRecordKind.SPF:
            return gettext(
                "Add %(include)s to your SPF record. A domain can have only one.",
                include=record.value.split()[1],
            )
        case DnsRecordState.DIFFERENT:
            return str(_DIFFERENT[record.kind])
        case _:
            return ""
