"""How many connections to PostgreSQL the processes of an installation open.

Each number is the size of a pool, which opens as many again at a peak.
"""

WEB_PROCESS = 8
WORKER_CALLS = 16
WORKER_RELAXED = 16
WORKER_LEDGER = 8
WORKER_UPLOADS = 4
WORKER_QUEUE = 20

_LISTENING = 1
"""A worker's connection for wake-ups, outside of its pool."""
_COMMANDS = 5
"""Connections reserved for commands, migrations and backups."""


def max_of_worker() -> int:
    pools = WORKER_CALLS + WORKER_RELAXED + WORKER_LEDGER + WORKER_UPLOADS + WORKER_QUEUE
    return 2 * pools + _LISTENING


def budget(web_processes: int, workers: int) -> int:
    """Return how many connections all processes may have open at a peak."""
    return 2 * WEB_PROCESS * web_processes + max_of_worker() * workers + _COMMANDS
