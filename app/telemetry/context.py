"""The ids that every log line, trace and error report of a request or a piece of work carries."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from structlog.contextvars import bind_contextvars, bound_contextvars, get_contextvars

Source = Callable[[], Mapping[str, object]]

_sources: list[Source] = []


def add_source(source: Source) -> None:
    """Ask ``source`` for more ids whenever a line is written. Adding it again has no effect."""
    if source not in _sources:
        _sources.append(source)


@contextmanager
def working_on(**ids: object) -> Iterator[None]:
    """Everything logged in this block carries these ids; those that are None are left out."""
    with bound_contextvars(**_known(ids)):
        yield


def note(**ids: object) -> None:
    """What this request or piece of work logs from now on carries these ids, too."""
    bind_contextvars(**_known(ids))


def current() -> dict[str, str]:
    """Return the ids of the current request or piece of work."""
    found: dict[str, object] = {}
    for source in _sources:
        found.update(source())
    found.update(get_contextvars())
    return _known(found)


def _known(ids: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in ids.items() if value is not None}
