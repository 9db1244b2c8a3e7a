"""The findings of the checks of ``flask doctor``."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.config import Settings
from app.database import Database


class FindingStatus(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A finding, in sentences; the last says what to do unless all is well."""

    status: FindingStatus
    text: str


Check = Callable[[Settings, Database], DoctorFinding]


def ok(text: str) -> DoctorFinding:
    return DoctorFinding(FindingStatus.OK, text)


def warn(text: str) -> DoctorFinding:
    return DoctorFinding(FindingStatus.WARN, text)


def fail(text: str) -> DoctorFinding:
    return DoctorFinding(FindingStatus.FAIL, text)
