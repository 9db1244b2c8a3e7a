"""Memory tuning of server processes: the pace of Python's garbage collector, and the heaps.

Importing this module stops garbage collection until `resume_collection`. A process that imports it
first starts a quarter faster: imported objects stay alive, and were scanned again and again.
"""

import ctypes
import gc

NEW_OBJECTS = 20_000
"""New objects before a collection. A request of 10,000 contacts creates some 60,000 objects that
are all freed by reference counting; at Python's default of 700, collecting took as long as
everything else. A higher number delays the collection of cycles, of pages and of each poll of the
job engine: at 100,000 they took 7 MB more in each web process."""
OLDER_EVERY = 5
"""Every how many collections older objects are scanned, too: calls live longer than one
collection."""
HEAPS = 2
"""Maximum heaps of the C library. By default threads get up to eight per core, and memory freed by
one thread is seldom reused by another."""
M_ARENA_MAX = -8
"""The number of this setting in glibc's malloc.h."""


def resume_collection() -> None:
    """Exclude everything allocated during the start from collections, and start collecting."""
    gc.freeze()
    gc.enable()


def limit_worker() -> None:
    """Keep the memory of a worker from growing with its calls; call it before threads start."""
    gc.set_threshold(NEW_OBJECTS, OLDER_EVERY, OLDER_EVERY)
    limit_heaps()


def limit_heaps() -> None:
    """Make all threads share the heaps; call it before they start."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # C libraries other than glibc have one heap anyway
        libc.mallopt(M_ARENA_MAX, HEAPS)


def return_free_memory() -> None:
    """Return free memory to the operating system. The C library keeps it in fragments, which
    multiply with every thousand jobs."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


gc.set_threshold(NEW_OBJECTS, 20, 100)
gc.disable()
