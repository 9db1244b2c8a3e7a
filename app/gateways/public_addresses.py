"""Resolve host names that customers have chosen, refusing addresses of private networks.

A name may resolve differently each time. So it is resolved once, every address must be public, and
the connection uses the address that was checked.
"""

import ipaddress
import socket
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, NamedTuple

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

MAX_CALL_LOOKUPS = 100
MAX_OTHER_LOOKUPS = 400
"""The operating system may take half a minute to give a name up, six times as long as callers wait:
more names than all webhooks that are delivered at once (`app.jobs.engine`) abandon in that time."""

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


class _Lookups:
    """Lookups in threads of their own, so that none waits for another: the operating system can't
    end one that its caller has given up. Those of the same name share one thread."""

    def __init__(self, max_concurrent: int):
        self._max_concurrent = max_concurrent
        self._lock = Lock()
        self._running: dict[tuple[str, int], Future[list[Any]]] = {}

    def addresses_of(self, host: str, port: int, seconds: float) -> list[Any]:
        """Return what ``socket.getaddrinfo`` returns. Raises its errors, and `TimeoutError`, also
        if too many lookups are running."""
        return self._joined(host, port).result(timeout=seconds)

    def _joined(self, host: str, port: int) -> Future[list[Any]]:
        with self._lock:
            lookup = self._running.get((host, port))
            if lookup is not None:
                return lookup
            if len(self._running) >= self._max_concurrent:
                raise TimeoutError
            lookup = Future()
            Thread(target=self._run, args=(host, port, lookup), name="lookup", daemon=True).start()
            self._running[host, port] = lookup
        return lookup

    def _run(self, host: str, port: int, lookup: Future[list[Any]]) -> None:
        try:
            lookup.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - raised again in the threads that wait
            lookup.set_exception(error)
        finally:
            with self._lock:
                del self._running[host, port]


_call_lookups = _Lookups(MAX_CALL_LOOKUPS)
_other_lookups = _Lookups(MAX_OTHER_LOOKUPS)


def resolve_addresses(
    host: str, port: int, *, seconds: float, allow_private: bool, for_calls: bool = False
) -> list[SocketAddress]:
    """Return all addresses of the name, or the address itself. Raises `LookupFailed`, also if the
    lookup takes too many seconds, and `PrivateAddress` if one of them is private.

    Lookups ``for_calls`` don't count towards the maximum of the others.
    """
    lookups = _call_lookups if for_calls else _other_lookups
    try:
        addresses = [
            SocketAddress(*address) for address in lookups.addresses_of(host, port, seconds)
        ]
    except (OSError, UnicodeError):
        raise LookupFailed(_NOT_FOUND(host=host)) from None
    if not allow_private and not all(_is_allowed(each.address[0]) for each in addresses):
        raise PrivateAddress(_NOT_PUBLIC(host=host))
    return addresses


def _is_allowed(address: str | int) -> bool:
    return is_public(ipaddress.ip_address(str(address).partition("%")[0]))
