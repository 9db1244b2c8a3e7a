"""Build a release in ``dist/``: ``make wheel``.

The wheel has the code, templates, built assets, compiled translations and migrations, so that an
installation needs neither Node.js nor a compiler.
"""

import shutil
import subprocess
from pathlib import Path

from scripts import build_tools
from scripts.lock import ADDED as EXTRAS

DIST = build_tools.ROOT / "dist"
NEEDED = (
    "static/dist/manifest.json",
    "static/vendor",
    "app/translations/de/LC_MESSAGES/messages.mo",
)
"""Files that ``scripts/setup.py`` builds before."""


def build(folder: Path) -> Path:
    """Build the wheel and return it."""
    missing = [name for name in NEEDED if not (build_tools.ROOT / name).exists()]
    if missing:
        raise SystemExit(
            f"{', '.join(missing)} is missing: build the assets and translations first."
        )
    folder.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [build_tools.tool("hatchling"), "build"]
    command += ["--target", "wheel", "--directory", folder]
    subprocess.run(command, cwd=build_tools.ROOT, check=True, stdout=subprocess.DEVNULL)
    return max(folder.glob("partner_portal-*.whl"), key=lambda path: path.stat().st_mtime)


def main() -> None:
    """Build a release in ``dist/``."""
    build_tools.install()
    shutil.rmtree(DIST, ignore_errors=True)
    wheel = build(DIST)
    for name in ("requirements.lock", *(f"requirements-{extra}.lock" for extra in EXTRAS)):
        shutil.copy(build_tools.ROOT / name, DIST)
    shutil.copytree(build_tools.ROOT / "deploy", DIST / "deploy")
    print(f"{wheel.relative_to(build_tools.ROOT)}, beside it the locks of packages and deploy/")


if __name__ == "__main__":
    main()
