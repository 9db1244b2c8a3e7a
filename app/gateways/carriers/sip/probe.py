"""Is the trunk there? Asked before an INVITE, whose silence could not be told from a lost call."""

import socket

from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.asking import opened
from app.gateways.carriers.sip.hop import Hop

CONNECT_SECONDS = 4.0


def trunk_answers(account: SipAccount, hop: Hop) -> bool:
    """Whether it takes a connection, or over UDP answers OPTIONS with anything at all."""
    try:
        if account.transport != "udp":
            with socket.create_connection(hop, CONNECT_SECONDS):
                return True
        with opened(account, hop) as line:
            line.ask("OPTIONS", "portal")
    except OSError:
        return False
    return True
