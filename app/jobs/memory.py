"""Keeps the memory of a worker from growing with its calls."""

import gc

from app import gc_tuning

NEW_OBJECTS = 20_000
"""The engine leaves a thousand objects in reference cycles each time it looks for work."""
OLDER_EVERY = 5
"""Calls last longer than a collection: every so many of them look at older objects, too."""


def limit() -> None:
    """Collect garbage early, and let all threads share the heaps; call it before they start."""
    gc.set_threshold(NEW_OBJECTS, OLDER_EVERY, OLDER_EVERY)
    gc_tuning.share_heaps()
