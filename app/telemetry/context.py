"""The ids that every log line, trace and error report of a request or a job carries."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

Source = Callable[[], Mapping[str, object]]

_sources: list[Source] = []
_ids: ContextVar[dict[str, str] | None] = ContextVar("ids", default=None)


def add_source(source: Source) -> None:
    """Call ``source`` for more ids whenever a line is written. Adding it again has no effect."""
    if source not in _sources:
        _sources.append(source)


@contextmanager
def working_on(**ids: object) -> Iterator[None]:
    """Log everything in this block with these ids, except those that are None."""
    token = _ids.set({**(_ids.get() or {}), **_present_ids(ids)})
    try:
        yield
    finally:
        _ids.reset(token)


def set_context(**ids: object) -> None:
    """Add ids that became known inside a `working_on` block, until its end. Outside of one this
    does nothing: a loop over many calls belongs to none of them."""
    noted = _ids.get()
    if noted is not None:
        noted.update(_present_ids(ids))


def current() -> dict[str, str]:
    """Return the ids of the current request or piece of work."""
    ids: dict[str, str] = {}
    for source in _sources:
        ids.update(_present_ids(source()))
    ids.update(_ids.get() or {})
    return ids


def _present_ids(ids: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in ids.items() if value is not None}
