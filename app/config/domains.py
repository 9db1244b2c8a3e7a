"""Partners' domains: DNS, and who may ask for their certificates."""

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Self

from pydantic import Field, model_validator

from app.config.base import CommonSettings
from app.validation.emails import is_email


class DomainSettings(CommonSettings):
    """DNS servers, grace periods and the proxies that may ask about domains."""

    dns_servers: str = ""
    """DNS servers for checks of partners' domains, such as ``10.0.0.2, 10.0.0.3:5353``. Without
    it: those of the operating system."""
    domain_grace_days: int = Field(3, ge=0)
    """How long the DNS records of a verified domain may be missing before it is unverified."""
    internal_networks: str = "127.0.0.0/8, ::1/128"
    """Networks from which ``GET /internal/domains/ask`` is answered. Requests that a proxy passed
    on are never answered."""
    mail_spf_include: str = ""
    """Name whose SPF record lists your mail servers, such as ``spf.example.com``. Partners include
    it to send from their own domain. Without it: all mail has the installation's sender."""

    @model_validator(mode="after")
    def _refuse_unusable_domains(self) -> Self:
        try:
            _ = self.dns_server_addresses
        except ValueError as error:
            message = "PORTAL_DNS_SERVERS is a list of IP addresses, each with or without a port."
            raise ValueError(message) from error
        try:
            _ = self.internal_network_list
        except ValueError as error:
            message = "PORTAL_INTERNAL_NETWORKS is a list of networks such as 10.0.0.0/8."
            raise ValueError(message) from error
        if self.mail_spf_include and not is_email(f"a@{self.mail_spf_include}"):
            message = "PORTAL_MAIL_SPF_INCLUDE must be a host name such as spf.example.com."
            raise ValueError(message)
        return self

    @property
    def dns_server_addresses(self) -> list[tuple[str, int]]:
        """Return the servers' IP addresses and ports. Raises ValueError."""
        return [
            _parse_address(entry.strip()) for entry in self.dns_servers.split(",") if entry.strip()
        ]

    @property
    def internal_network_list(self) -> list[IPv4Network | IPv6Network]:
        """Return the internal networks. Raises ValueError."""
        entries = (entry.strip() for entry in self.internal_networks.split(","))
        return [ip_network(entry) for entry in entries if entry]


def _parse_address(entry: str) -> tuple[str, int]:
    if entry.startswith("["):
        host, _, port = entry[1:].partition("]")
        port = port.removeprefix(":")
    elif entry.count(":") == 1:
        host, _, port = entry.partition(":")
    else:
        host, port = entry, ""
    return str(ip_address(host)), int(port or 53)
