"""Checks of this machine: settings, files, disk, open files and the clock."""

import ctypes
import os
import resource

from app.commands.doctor_findings import Check, DoctorFinding, FindingStatus, fail, ok, warn
from app.config import Settings
from app.database import Database
from app.disk_space import FileSystem, file_systems
from app.private_files import open_to_others

MIN_OPEN_FILES = 1024

_TIME_ERROR = 5
"""Result of adjtimex while the clock isn't synchronized (adjtimex(2))."""
_TIMEX_BYTES = 512
"""Bytes, more than `struct timex` takes; zeros only read the clock's state."""


def settings_used(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether the settings are valid; invalid ones have ended the program before."""
    if settings.env != "production":
        return warn(f"PORTAL_ENV is {settings.env}. Set PORTAL_ENV=production to serve users.")
    return ok(f"production at {settings.public_url}")


def files(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether this account, and no other, can use the instance folder."""
    folder = settings.instance_dir.resolve()
    if not folder.is_dir():
        return fail(f"{folder} is not a folder. Set PORTAL_INSTANCE_DIR, or create it.")
    if folder.stat().st_uid != os.geteuid():
        return fail(f"{folder} belongs to another account. Run this under its account.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return fail(f"{folder} can't be written. Mount it for writing. Run: chmod 700 {folder}")
    opened = open_to_others(settings)
    if opened:
        return fail(" ".join(opened))
    return ok(f"{folder} is private and can be written")


def disk(settings: Settings, _database: Database) -> DoctorFinding:
    """Free space of each file system with a folder that the portal writes to, backups included."""
    findings = [_check_space(each) for each in file_systems(settings)]
    for status in (FindingStatus.FAIL, FindingStatus.WARN):
        if texts := [each.text for each in findings if each.status is status]:
            return DoctorFinding(status, " ".join(texts))
    return ok(", ".join(each.text for each in findings))


def _check_space(file_system: FileSystem) -> DoctorFinding:
    if file_system.takes_few_files:
        return fail(
            f"Only {file_system.free_files} more files fit at {file_system.folder}. Remove files."
        )
    text = f"{_gigabytes(file_system.free)} free at {file_system.folder}"
    if file_system.is_almost_full:
        return fail(f"{text}. Free space, or move the folder to a larger disk.")
    if file_system.is_low:
        return warn(f"{text}. Plan a larger disk.")
    return ok(text)


def open_files(_settings: Settings, _database: Database) -> DoctorFinding:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit != resource.RLIM_INFINITY and limit < MIN_OPEN_FILES:
        return warn(
            f"A process may open {limit} files. Allow {MIN_OPEN_FILES} or more "
            "(systemd: LimitNOFILE=, shell: ulimit -n)."
        )
    return ok("no limit" if limit == resource.RLIM_INFINITY else f"{limit} for each process")


def clock(_settings: Settings, _database: Database) -> DoctorFinding:
    """Whether the kernel considers its clock synchronized. `database_clock` compares two clocks."""
    answer = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    if answer < 0:
        return warn("The kernel doesn't say whether the clock is synchronized. Check it yourself.")
    if answer == _TIME_ERROR:
        return warn("The clock isn't synchronized. Install chrony or systemd-timesyncd.")
    return ok("synchronized")


def _gigabytes(count: int) -> str:
    return f"{count / 10**9:,.1f} GB"


MACHINE_CHECKS: dict[str, Check] = {
    "settings": settings_used,
    "files": files,
    "disk": disk,
    "open files": open_files,
    "clock": clock,
}
