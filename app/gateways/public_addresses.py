"""Resolve host names that customers have chosen, refusing addresses of private networks.

A name may lead elsewhere at each look. So it is looked up once, every address that it leads to
must be a public one, and the connection is made to the very address that was checked.
"""

import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "2002::/16",  # carries an address of the other kind, whatever that is
            "192.0.0.0/24",  # for protocols, and the metadata of one cloud
            "168.63.129.16/32",  # public by its number, answered by the host of a virtual machine
        ),
    )
)

_lookups = ThreadPoolExecutor(max_workers=32, thread_name_prefix="lookup")

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class NoPlace(Exception):
    """Why nothing can be sent there, in the words of a sentence's end."""


class LeadsNowhere(NoPlace):
    pass


class NotPublic(NoPlace):
    pass


class Place(NamedTuple):
    """One way to connect, as the operating system names it."""

    family: socket.AddressFamily
    kind: socket.SocketKind
    protocol: int
    name: str
    address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


def is_public(address: IPAddress) -> bool:
    """Whether anybody on the internet would reach the same host there."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address not in _GLOBAL_UNICAST:
            return False
    if address.is_multicast or not address.is_global:
        return False
    return not any(address in network for network in _REFUSED)


def places(host: str, port: int, *, seconds: float, allow_private: bool) -> list[Place]:
    """Everywhere that the name leads, or the address itself. Raises `LeadsNowhere`, also where
    that isn't known after so many seconds, and `NotPublic` where one of them is private."""
    lookup = _lookups.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        found = [Place(*place) for place in lookup.result(timeout=seconds)]
    except (OSError, UnicodeError):
        message = f"DNS lookup failed for {host}"
        raise LeadsNowhere(message) from None
    if not allow_private and not all(_is_allowed(place.address[0]) for place in found):
        message = f"the address of {host} is not public"
        raise NotPublic(message)
    return found


def _is_allowed(address: str | int) -> bool:
    return is_public(ipaddress.ip_address(str(address).partition("%")[0]))
