"""Resolve host names that customers have chosen, refusing addresses of private networks.

A name may resolve differently each time. So it is resolved once, every address must be public, and
the connection uses the address that was checked.
"""

import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from app.errors import Sentence

_NOT_FOUND = Sentence.gettext("DNS lookup failed for %(host)s")
_NOT_PUBLIC = Sentence.gettext("the address of %(host)s is not public")
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "2002::/16",  # contains an IPv4 address
            "192.0.0.0/24",  # for protocols, and the metadata of one cloud
            "168.63.129.16/32",  # public, but answered by the host of a virtual machine
        ),
    )
)

_lookups = ThreadPoolExecutor(max_workers=32, thread_name_prefix="lookup")

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class HostRefused(Exception):
    """Why nothing can be sent to the address, as the end of a sentence."""


class LookupFailed(HostRefused):
    pass


class PrivateAddress(HostRefused):
    pass


class SocketAddress(NamedTuple):
    """One IP address to connect to, as the operating system describes it."""

    family: socket.AddressFamily
    kind: socket.SocketKind
    protocol: int
    name: str
    address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


def is_public(address: IPAddress) -> bool:
    """Return whether the IP address is reachable from anywhere on the internet."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address not in _GLOBAL_UNICAST:
            return False
    if address.is_multicast or not address.is_global:
        return False
    return not any(address in network for network in _REFUSED)


def resolve_addresses(
    host: str, port: int, *, seconds: float, allow_private: bool
) -> list[SocketAddress]:
    """Return all addresses of the name, or the address itself. Raises `LookupFailed`, also if the
    lookup takes too many seconds, and `PrivateAddress` if one of them is private."""
    lookup = _lookups.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        addresses = [SocketAddress(*address) for address in lookup.result(timeout=seconds)]
    except (OSError, UnicodeError):
        raise LookupFailed(_NOT_FOUND(host=host)) from None
    if not allow_private and not all(_is_allowed(each.address[0]) for each in addresses):
        raise PrivateAddress(_NOT_PUBLIC(host=host))
    return addresses


def _is_allowed(address: str | int) -> bool:
    return is_public(ipaddress.ip_address(str(address).partition("%")[0]))
