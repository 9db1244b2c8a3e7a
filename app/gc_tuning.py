"""The pace of Python's garbage collector in processes that serve.

Importing this module sets it. Where it is imported before the others, a process starts a quarter
quicker: what importing makes stays, and was looked through again and again.
"""

import gc

NEW_OBJECTS = 300_000
"""A request of 10,000 contacts makes some 60,000 objects that all end by reference count: at the
usual pace of 700, collecting took as long as everything else."""


def settle() -> None:
    """Leaves what the start made out of every later collection."""
    gc.collect()
    gc.freeze()


gc.set_threshold(NEW_OBJECTS, 20, 100)
