"""The folder in which web processes share their metrics.

prometheus_client reads the folder's path when it is imported, so this module doesn't import it.
"""

import atexit
import os
import shutil
import tempfile

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def create() -> None:
    """Create the folder, unless it exists, for the processes that this one starts from now on. It
    is removed when this process ends."""
    if VARIABLE in os.environ:
        return
    memory = "/dev/shm"  # noqa: S108 - mkdtemp makes a folder there that only this account can read
    where = memory if os.access(memory, os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="portal-metrics-", dir=where)
    os.environ[VARIABLE] = folder
    atexit.register(_remove_folder, folder, os.getpid())


def _remove_folder(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a web process
        shutil.rmtree(folder, ignore_errors=True)
