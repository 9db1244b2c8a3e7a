"""The networks for which IP addresses are counted."""

from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address, ip_network


def networks(ip: str | None) -> Sequence[str]:
    """Return the address itself for IPv4, its /64 and its /48 for IPv6.

    An IPv4 address written as IPv6 counts as IPv4; any other text is returned as it is.
    """
    try:
        address = ip_address((ip or "").partition("%")[0])
    except ValueError:
        return [(ip or "")[:100]]
    if not isinstance(address, IPv6Address):
        return [str(address)]
    if address.ipv4_mapped is not None:
        return [str(address.ipv4_mapped)]
    return [str(ip_network((int(address), size), strict=False)) for size in (64, 48)]


def network_of(ip: str | None) -> str:
    """Return the smallest of the address's `networks`."""
    return networks(ip)[0]
