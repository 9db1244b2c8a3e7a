"""The scanners, in a separate environment: semgrep needs other versions of packages that the
product also uses."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from app.config import ROOT

FOLDER = ROOT / ".setup" / "security"
LOCK = ROOT / "requirements-security.lock"


def tool(name: str) -> Path:
    return FOLDER / "bin" / name


def install() -> None:
    """Install the locked versions, unless they are installed already."""
    stamp, lock_text = FOLDER / ".installed", LOCK.read_text()
    if stamp.exists() and stamp.read_text() == lock_text:
        return
    print("Installing the scanners into .setup/security …", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    pip: list[str | Path] = [
        tool("python"),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--quiet",
    ]
    ended = run([*pip, "-r", LOCK])
    if ended.returncode != 0:
        raise SystemExit(f"pip could not install the scanners:\n{ended.stderr}")
    stamp.write_text(lock_text)


def run(command: Sequence[str | Path], *, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Return the ended process; scanners use their exit code for findings too."""
    environment = {"SEMGREP_SETTINGS_FILE": str(FOLDER / "settings.yml")}
    environment["SEMGREP_LOG_FILE"] = str(FOLDER / "semgrep.log")
    return subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
