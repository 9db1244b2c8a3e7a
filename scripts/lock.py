"""Pins every package, also those that ours need: pyproject.toml -> requirements*.lock.

``python scripts/lock.py`` after any change of the dependencies.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def resolved(requirements: list[str]) -> list[str]:
    """``name==version`` of everything that pip would install for these, sorted."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        ask = ["--dry-run", "--ignore-installed", "--report", str(report)]
        subprocess.run([*pip, *ask, *requirements], check=True)
        chosen = json.loads(report.read_text())["install"]
    return sorted(
        f"{item['metadata']['name'].lower().replace('_', '-')}=={item['metadata']['version']}"
        for item in chosen
    )


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed, extras = project["dependencies"], project["optional-dependencies"]
    for name, requirements in {
        "requirements.lock": needed,
        "requirements-test.lock": [*needed, *extras["test"]],
        "requirements-security.lock": extras["security"],
    }.items():
        head = "# Made from pyproject.toml by `make lock`."
        (ROOT / name).write_text("\n".join([head, *resolved(requirements), ""]))
        print(f"{name} written")


if __name__ == "__main__":
    main()
