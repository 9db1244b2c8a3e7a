"""Lookups in the DNS: texts, aliases and addresses of a name.

Web processes look nothing up, so what this needs is imported at the first lookup.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

LIFETIME_SECONDS = 5.0
"""Seconds for one look-up, including all servers and repetitions."""
MAX_FOUND = 50


class NoDnsAnswer(Exception):
    """No server answered, or the answer can't be used: nothing is known about the name."""


class DnsResolver:
    """Queries the given DNS servers (address, port), or those of the operating system."""

    def __init__(
        self, servers: Sequence[tuple[str, int]] = (), lifetime_seconds: float = LIFETIME_SECONDS
    ):
        import dns.nameserver
        import dns.resolver

        try:
            self._resolver = dns.resolver.Resolver(configure=not servers)
        except dns.exception.DNSException as error:
            message = "the operating system has no DNS servers"
            raise NoDnsAnswer(message) from error
        if servers:
            self._resolver.nameservers = [
                dns.nameserver.Do53Nameserver(address, port) for address, port in servers
            ]
        self._resolver.lifetime = lifetime_seconds
        self._resolver.cache = None

    def texts(self, name: str) -> list[str]:
        """Return the TXT records of a name; empty if it has none. Raises `NoDnsAnswer`."""
        return [
            b"".join(record.strings).decode("utf-8", "replace") for record in self._ask(name, "TXT")
        ]

    def alias(self, name: str) -> str | None:
        """Return the name that a CNAME record leads to, in lower case. Raises `NoDnsAnswer`."""
        aliases = [
            record.target.to_text(omit_final_dot=True) for record in self._ask(name, "CNAME")
        ]
        return aliases[0].lower() if aliases else None

    def addresses(self, name: str) -> list[str]:
        """Return the IP addresses of a name or address, after all aliases. Raises
        `NoDnsAnswer`."""
        try:
            return [str(ip_address(name))]
        except ValueError:
            records = [*self._ask(name, "A"), *self._ask(name, "AAAA")]
        return sorted(str(ip_address(record.address)) for record in records)

    def _ask(self, name: str, kind: str) -> list[Any]:
        import dns.resolver

        try:
            answer = self._resolver.resolve(f"{name}.", kind, search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except (dns.exception.DNSException, OSError, UnicodeError) as error:
            message = f"{name}: {type(error).__name__}"
            raise NoDnsAnswer(message) from error
        return list(answer)[:MAX_FOUND]
