"""Which SIP trunk calls go out by, and how."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Trunk:
    """What a partner says of a trunk of its own. ``address`` and ``proxy`` are written ``host`` or
    ``host:port``; ``domain`` is the one of our own address, the trunk's host where it is empty.
    ``shows_number`` puts the assistant's number into it, else it is the ``user``."""

    address: str
    user: str = ""
    domain: str = ""
    proxy: str = ""
    transport: str = "udp"
    registers: bool = False
    shows_number: bool = True


@dataclass(frozen=True, slots=True)
class SipAccount:
    """``trunk`` and ``proxy`` are written ``host`` or ``host:port``. ``domain`` is the one of our
    own address, the trunk's host where it is empty; ``shows_number`` puts the assistant's number
    into it, else it is the ``user``. ``folder`` keeps the ledgers of the calls, those of an account
    with a ``name`` in a folder of their own within it; ``sounds`` keeps recordings. The waits are
    in seconds.

    A partner's account is ``is_pinned``, to protect this machine's network: the name is looked up
    for each call, and the call goes to the address that was found. It may be private only with
    ``may_be_private``."""

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
    name: str = ""
    is_pinned: bool = False
    may_be_private: bool = False
