"""The tools that build and describe a release, in a separate environment: ``.setup/build``."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".setup" / "build"
LOCK = ROOT / "requirements-build.lock"


def tool(name: str) -> Path:
    return FOLDER / "bin" / name


def install() -> None:
    """Install the locked versions, unless they are installed already."""
    stamp, lock_text = FOLDER / ".installed", LOCK.read_text()
    if stamp.exists() and stamp.read_text() == lock_text:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    pip: list[str | Path] = [tool("python"), "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--require-hashes", "-r", LOCK]
    subprocess.run(pip, check=True)
    stamp.write_text(lock_text)
