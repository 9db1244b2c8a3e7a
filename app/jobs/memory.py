"""Keeps the memory of a worker from growing with its calls."""

import ctypes
import gc

NEW_OBJECTS = 20_000
"""The engine leaves a thousand objects in reference cycles each time it looks for work."""
OLDER_EVERY = 5
"""Calls last longer than a collection: every so many of them look at older objects, too."""
HEAPS = 2
"""Of the C library, which gives threads up to eight for each core: memory that one thread frees
would seldom be used by another."""
M_ARENA_MAX = -8
"""The number of this setting in glibc's malloc.h."""


def limit() -> None:
    """Collect garbage early, and let all threads share the heaps; call it before they start."""
    gc.set_threshold(NEW_OBJECTS, OLDER_EVERY, OLDER_EVERY)
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # other libraries than glibc have one heap anyway
        libc.mallopt(M_ARENA_MAX, HEAPS)
