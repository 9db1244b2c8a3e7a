"""The DNS records that a partner sets, and what the DNS has instead."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from app.enums import DnsRecordKind, DnsRecordStatus, DomainPurpose
from app.gateways.dns_lookups import DnsResolver, NoDnsAnswer
from app.models import PartnerDomain

SELECTOR = "portal"
"""The DKIM selector: the name of the key below ``_domainkey``."""
MAX_SHOWN = 3
MAX_SHOWN_LENGTH = 300
_POLICY = re.compile(r"\s*(none|quarantine|reject)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequiredRecord:
    """A record to set: its type and name, and the value that it needs."""

    kind: DnsRecordKind
    type: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RecordFinding:
    """The finding for a record; ``found`` are values in the DNS that don't fit."""

    kind: DnsRecordKind
    status: DnsRecordStatus
    found: Sequence[str] = ()


def records_of(domain: PartnerDomain, public_host: str, spf_include: str) -> list[RequiredRecord]:
    """Return the records that the domain needs. ``public_host`` is the installation's own host,
    ``spf_include`` the name that lists its mail servers."""
    name = domain.domain
    ownership = RequiredRecord(
        DnsRecordKind.OWNERSHIP, "TXT", f"_portal-challenge.{name}", domain.token
    )
    if domain.purpose is DomainPurpose.PORTAL:
        leads_to = RequiredRecord(
            DnsRecordKind.ADDRESS, _address_type(public_host), name, public_host
        )
        return [ownership, leads_to]
    key = f"v=DKIM1; k=rsa; p={domain.dkim_public}"
    return [
        ownership,
        RequiredRecord(DnsRecordKind.SPF, "TXT", name, f"v=spf1 include:{spf_include} ~all"),
        RequiredRecord(DnsRecordKind.DKIM, "TXT", f"{SELECTOR}._domainkey.{name}", key),
        RequiredRecord(DnsRecordKind.DMARC, "TXT", f"_dmarc.{name}", "v=DMARC1; p=none"),
    ]


def _address_type(host: str) -> str:
    """Return the type of a record that leads to the host; a CNAME can only hold a name."""
    try:
        return "A" if ip_address(host).version == 4 else "AAAA"
    except ValueError:
        return "CNAME"


def examine(records: Iterable[RequiredRecord], resolver: DnsResolver) -> list[RecordFinding]:
    """Look up each record. Slow: never inside a transaction."""
    return [_examine(record, resolver) for record in records]


def _examine(record: RequiredRecord, resolver: DnsResolver) -> RecordFinding:
    try:
        fits, other_values = _EXAMINERS[record.kind](record, resolver)
    except NoDnsAnswer:
        return RecordFinding(record.kind, DnsRecordStatus.UNANSWERED)
    if fits:
        return RecordFinding(record.kind, DnsRecordStatus.SEEN)
    excerpts = tuple(value[:MAX_SHOWN_LENGTH] for value in other_values[:MAX_SHOWN])
    return RecordFinding(
        record.kind,
        DnsRecordStatus.DIFFERENT if other_values else DnsRecordStatus.MISSING,
        excerpts,
    )


def _check_ownership(record: RequiredRecord, resolver: DnsResolver) -> tuple[bool, list[str]]:
    texts = resolver.texts(record.name)
    return record.value in (text.strip() for text in texts), texts


def _check_address(record: RequiredRecord, resolver: DnsResolver) -> tuple[bool, list[str]]:
    """Check for a CNAME, or the same IP addresses: a domain without a subdomain can't have a
    CNAME."""
    alias = resolver.alias(record.name)
    if alias == record.value:
        return True, []
    addresses = resolver.addresses(record.name)
    fits = bool(set(addresses) & set(resolver.addresses(record.value)))
    return fits, [alias] if alias else addresses


def _check_spf(record: RequiredRecord, resolver: DnsResolver) -> tuple[bool, list[str]]:
    """One record with our include; of two records receivers use none (RFC 7208, section 4.5)."""
    policies = [
        text
        for text in resolver.texts(record.name)
        if re.match(r"v=spf1( |$)", text, re.IGNORECASE)
    ]
    include = record.value.split()[1]
    terms = [term.lower().removeprefix("+") for text in policies for term in text.split()]
    return len(policies) == 1 and include.lower() in terms, policies


def _check_dkim(record: RequiredRecord, resolver: DnsResolver) -> tuple[bool, list[str]]:
    texts = resolver.texts(record.name)
    public_key = _parse_tags(record.value)["p"]
    keys = [_parse_tags(text).get("p", "") for text in texts]
    return any("".join(key.split()) == public_key for key in keys), texts


def _check_dmarc(record: RequiredRecord, resolver: DnsResolver) -> tuple[bool, list[str]]:
    """Check the record of the domain, or of the nearest parent domain that has one."""
    labels = record.name.split(".")[1:]
    while len(labels) > 1:
        texts = resolver.texts(f"_dmarc.{'.'.join(labels)}")
        policies = [text for text in texts if re.match(r"v=DMARC1\s*(;|$)", text)]
        if policies:
            has_policy = _POLICY.fullmatch(_parse_tags(policies[0]).get("p", ""))
            return len(policies) == 1 and has_policy is not None, policies
        labels = labels[1:]
    return False, []


def _parse_tags(text: str) -> Mapping[str, str]:
    pairs = (tag.partition("=") for tag in text.split(";"))
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


_EXAMINERS: dict[DnsRecordKind, Callable[[RequiredRecord, DnsResolver], tuple[bool, list[str]]]] = {
    DnsRecordKind.OWNERSHIP: _check_ownership,
    DnsRecordKind.ADDRESS: _check_address,
    DnsRecordKind.SPF: _check_spf,
    DnsRecordKind.DKIM: _check_dkim,
    DnsRecordKind.DMARC: _check_dmarc,
}
