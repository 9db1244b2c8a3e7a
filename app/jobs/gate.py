"""Lets a stopping worker finish what must not be cut in two, and begin nothing more."""

import threading
from types import TracebackType


class Gate:
    """A block entered while the gate is open counts as under way. Once it is closed, entering
    waits for the end of the process: the work is taken over by the next one."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._open = True

    def __enter__(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._open)
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    def close(self, timeout: float) -> bool:
        """Closes the gate; True where everything under way ended in time."""
        with self._condition:
            self._open = False
            return self._condition.wait_for(lambda: self._inside == 0, timeout)


dialling = Gate()
"""Around the carrier's answer, from the attempt that is written to the answer that is."""
mailing = Gate()
"""Around the mail server's answer, from the mail that is written to the answer that is kept."""
delivering = Gate()
"""Around the receiver's answer to a webhook, until that answer is kept."""
