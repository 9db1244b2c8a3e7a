"""The findings of the checks of ``flask doctor``."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.config import Settings
from app.database import Database


class FindingState(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A finding, in sentences; the last says what to do unless all is well."""

    state: FindingState
    text: str


Check = Callable[[Settings, Database], DoctorFinding]


def ok(text: str) -> DoctorFinding:
    return DoctorFinding(FindingState.OK, text)


def warn(text: str) -> DoctorFinding:
    return DoctorFinding(FindingState.WARN, text)


def fail(text: str) -> DoctorFinding:
    return DoctorFinding(FindingState.FAIL, text)
