"""What a check of ``flask doctor`` reports."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.config import Settings
from app.database import Database


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, in sentences; the last says what to do unless all is well."""

    state: State
    text: str


Check = Callable[[Settings, Database], Finding]


def ok(text: str) -> Finding:
    return Finding(State.OK, text)


def warn(text: str) -> Finding:
    return Finding(State.WARN, text)


def fail(text: str) -> Finding:
    return Finding(State.FAIL, text)
