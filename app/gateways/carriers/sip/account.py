"""Which SIP trunk calls go out by, and how."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SipAccount:
    """``trunk`` and ``proxy`` are written ``host`` or ``host:port``. ``domain`` is the one of our
    own address, the trunk's host where it is empty; ``shows_number`` puts the assistant's number
    into it, else it is the ``user``. ``folder`` keeps the ledgers of the calls, ``sounds``
    recordings. The waits are in seconds."""

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
