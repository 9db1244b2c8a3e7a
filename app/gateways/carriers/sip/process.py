"""The process of one call, started by the worker and independent of it: ``process DESCRIPTOR``.

It reads its task from standard input. The locked file of the attempt is its only inherited file, by
that descriptor. One timer limits the whole call.
"""

import signal
import sys
from types import FrameType
from typing import NoReturn

from app.gateways.carriers.sip.call_session import CallSession
from app.gateways.carriers.sip.ledger import AttemptFile
from app.gateways.carriers.sip.task import SipCallTask

MAX_REST_SECONDS = 240.0
"""Seconds, more than all limits of a call together, without its ringing and its messages."""
SECONDS_A_LETTER = 0.2


def main() -> None:
    """Run the call to its end."""
    task = SipCallTask.read(sys.stdin.buffer.read())
    longest = task.account.ring_seconds + MAX_REST_SECONDS
    longest += (len(task.intro) + len(task.voicemail)) * SECONDS_A_LETTER
    signal.signal(signal.SIGALRM, _stop)
    signal.signal(signal.SIGTERM, _stop)
    signal.alarm(int(longest))
    CallSession(task, AttemptFile(int(sys.argv[1]))).run()


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    message = f"signal {number}"
    raise InterruptedError(message)


if __name__ == "__main__":
    main()
