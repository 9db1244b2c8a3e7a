"""Memory of processes that serve: the pace of Python's garbage collector, and the heaps.

Importing this module stops collecting until `resume_collection`. Where it is imported before the
others, a process starts a quarter quicker: what importing makes stays, and was looked through again
and again.
"""

import ctypes
import gc

NEW_OBJECTS = 20_000
"""A request of 10,000 contacts makes some 60,000 objects that all end by reference count: at the
usual pace of 700, collecting took as long as everything else. Cycles wait for it, too, those of
pages and those that the engine leaves each time it looks for work: at 100,000 they took 7 MB more
in each web process."""
OLDER_EVERY = 5
"""Calls last longer than a collection: every so many of them look at older objects, too."""
HEAPS = 2
"""Of the C library, which gives threads up to eight for each core: memory that one thread frees
would seldom be used by another."""
M_ARENA_MAX = -8
"""The number of this setting in glibc's malloc.h."""


def resume_collection() -> None:
    """Leaves what the start made out of every collection, and begins to collect."""
    gc.freeze()
    gc.enable()


def limit_worker() -> None:
    """Keep the memory of a worker from growing with its calls; call it before threads start."""
    gc.set_threshold(NEW_OBJECTS, OLDER_EVERY, OLDER_EVERY)
    limit_heaps()


def limit_heaps() -> None:
    """Let all threads share the heaps; call it before they start."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # other libraries than glibc have one heap anyway
        libc.mallopt(M_ARENA_MAX, HEAPS)


def return_free_memory() -> None:
    """Return free memory to the operating system. The C library keeps it in pieces, which become
    more with every thousand pieces of work."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


gc.set_threshold(NEW_OBJECTS, 20, 100)
gc.disable()
