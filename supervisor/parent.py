"""The parent process of the supervisor: `make`, which doesn't forward some signals."""

import os
import signal
from pathlib import Path


class ParentSignals:
    """Detects signals that the parent received and didn't forward.

    On SIGINT sent to it alone (Ctrl-C reaches every process) GNU make removes its handler and waits
    for its children in silence. Linux shows that; elsewhere nothing is detected.
    """

    def __init__(self, pid: int):
        self._pid = pid
        self._catches_interrupts = self._catches_interrupt()

    def _catches_interrupt(self) -> bool:
        try:
            status = Path(f"/proc/{self._pid}/status").read_text()
        except OSError:
            return False
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return bool(caught >> (signal.SIGINT - 1) & 1)

    def hand_on_interrupt(self) -> None:
        """Send this process the SIGINT that the parent received, once."""
        if self._catches_interrupts and not self._catches_interrupt():
            self._catches_interrupts = False
            os.kill(os.getpid(), signal.SIGINT)
