"""Pin every package, including transitive ones, with the hashes of its files: pyproject.toml ->
requirements*.lock.

``make lock`` after any change of the dependencies. A lock covers all platforms and versions of
Python that the project supports: a marker if only some need a package, and the hash of each file of
the version, so that the same lock installs on each of them. Pins that still fit are kept; ``python
scripts/lock.py --upgrade`` updates them.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "# Made from pyproject.toml by `make lock`.\n"
ADDED = ("pdf", "s3", "sentry", "stripe", "tracing", "twilio")
"""Extras of the product, each with a lock in addition to ``requirements.lock``."""
ALONE = ("build", "security")
"""Tools in separate environments."""
RESOLVER = "uv==0.13.9"


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed, extras = project["dependencies"], project["optional-dependencies"]
    uv = resolver()
    core = ROOT / "requirements.lock"
    lock(uv, core, needed)
    tests = ROOT / "requirements-test.lock"
    lock(uv, tests, [*needed, *extras["test"]], beside=core)
    for extra in ADDED:
        lock(uv, ROOT / f"requirements-{extra}.lock", extras[extra], beside=tests)
    for extra in ALONE:
        lock(uv, ROOT / f"requirements-{extra}.lock", extras[extra])


def resolver() -> Path:
    """Install the resolver into a separate environment, because nothing else needs it."""
    folder = ROOT / ".setup" / "lock-tool"
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    pip: list[str | Path] = [
        folder / "bin" / "pip",
        "install",
        "--disable-pip-version-check",
        "--quiet",
        RESOLVER,
    ]
    subprocess.run(pip, check=True)
    return folder / "bin" / "uv"


def lock(uv: Path, target: Path, requirements: list[str], *, beside: Path | None = None) -> None:
    """Write one lock. ``beside`` is a lock whose versions it must share."""
    command: list[str | Path] = [uv, "pip", "compile", "-", "--output-file", target, "--quiet"]
    command += ["--universal", "--python-version", "3.11", "--generate-hashes"]
    command += [
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
        "--no-strip-extras",
        *sys.argv[1:],
    ]
    if beside is not None:
        command += ["--constraint", beside]
    input_text = "\n".join(requirements)
    subprocess.run(command, input=input_text, text=True, check=True, cwd=ROOT)
    target.write_text(HEAD + target.read_text())
    print(f"{target.name} written")


if __name__ == "__main__":
    main()
