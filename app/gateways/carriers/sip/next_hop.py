"""The first hop of a call's SIP messages: the outbound proxy, else the trunk."""

import socket

from app.gateways.carriers.sip.account import SipAccount
from app.gateways.public_addresses import LookupFailed, resolve_addresses

PORTS = {"udp": 5060, "tcp": 5060, "tls": 5061}
LOOKUP_SECONDS = 4.0

Hop = tuple[str, int]
"""A host, by name or address, and a port."""


class NoIPv4Address(LookupFailed):
    pass


def first_hop(account: SipAccount) -> Hop:
    host, _, port = (account.proxy or account.trunk).partition(":")
    return host, int(port) if port else PORTS[account.transport]


def pinned_hop(account: SipAccount) -> Hop:
    """Return the hop with the address that its name has now. Raises `LookupFailed`, and
    `PrivateAddress` if the account may not use that address."""
    host, port = first_hop(account)
    allowed = account.may_be_private
    addresses = resolve_addresses(
        host, port, seconds=LOOKUP_SECONDS, allow_private=allowed, for_calls=True
    )
    over_ipv4 = [address for address in addresses if address.family is socket.AF_INET]
    if not over_ipv4:  # the only one that baresip is told to speak
        message = f"DNS lookup for {host} found no IPv4 address"
        raise NoIPv4Address(message)
    return str(over_ipv4[0].address[0]), port
