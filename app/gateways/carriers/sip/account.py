"""The configuration of a SIP trunk."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Trunk:
    """A partner's own trunk. ``address`` and ``proxy`` are ``host`` or ``host:port``. ``domain`` is
    that of our own address, by default the trunk's host. ``shows_number`` uses the assistant's
    number as the user of that address, otherwise it is ``user``."""

    address: str
    user: str = ""
    domain: str = ""
    proxy: str = ""
    transport: str = "udp"
    registers: bool = False
    shows_number: bool = True


@dataclass(frozen=True, slots=True)
class SipAccount:
    """``trunk`` and ``proxy`` are ``host`` or ``host:port``. ``domain`` is that of our own address,
    by default the trunk's host; ``shows_number`` uses the assistant's number as the user of that
    address, otherwise it is ``user``. ``folder`` holds the ledgers of the calls, those of an
    account with a ``name`` in a folder of its own; ``sounds`` holds recordings. Timeouts are in
    seconds.

    A partner's account is ``is_pinned``, to protect this machine's network: the host is looked up
    for each call, and the call goes to the address that was checked. It may be private only with
    ``may_be_private``.
    """

    trunk: str
    folder: Path
    user: str = ""
    password: str = ""
    domain: str = ""
    proxy: str = ""
    transport: str = "udp"
    registers: bool = False
    probes: bool = True
    shows_number: bool = True
    rtp_ports: str = "16384-32767"
    voice: str = "en-us"
    sounds: Path | None = None
    baresip: str = "baresip"
    espeak: str = "espeak-ng"
    ring_seconds: float = 30.0
    request_seconds: float = 10.0
    poll_seconds: float = 2.0
    longest_call_seconds: float = 3600.0
    name: str = ""
    is_pinned: bool = False
    may_be_private: bool = False
