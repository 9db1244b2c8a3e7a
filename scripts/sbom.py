"""Write ``dist/sbom.json``: ``make sbom``. The contents of an installation, as CycloneDX."""

import json
import subprocess
from pathlib import Path
from typing import Any

from app import VERSION
from app.config import ROOT
from scripts import build_tools
from scripts.licences import LOCKS, Licensed, npm_packages, python_packages

TARGET = ROOT / "dist" / "sbom.json"
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
raise SystemExit(str(error) if error else 0)
"""


def describe() -> dict[str, Any]:
    """Return Python's packages, all extras included, with their hashes, and npm's, each with its
    licence."""
    pins = "".join((ROOT / name).read_text() for name in LOCKS)
    command: list[str | Path] = [build_tools.tool("cyclonedx-py"), "requirements", "-"]
    result = subprocess.run(
        [*command, "--output-reproducible"],
        input=pins,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    described: dict[str, Any] = json.loads(result.stdout)
    licences = {each.name: each.licence for each in python_packages()}
    components = {}
    for component in described["components"]:
        component.pop("description", None)  # the line of the lock
        component["licenses"] = [{"expression": licences[component["name"].lower()]}]
        components[component["name"].lower()] = component
    described["components"] = [*components.values(), *map(_component, npm_packages())]
    described["metadata"]["component"] = {
        "type": "application",
        "bom-ref": "partner-portal",
        "name": "partner-portal",
        "version": VERSION,
    }
    described.pop("dependencies", None)
    return described


def _component(package: Licensed) -> dict[str, Any]:
    purl = f"pkg:npm/{package.name.replace('@', '%40')}@{package.version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "purl": purl,
        "licenses": [{"expression": package.licence}],
    }


def main() -> None:
    build_tools.install()
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(describe(), indent=1) + "\n")
    python = build_tools.tool("python")
    subprocess.run([python, "-c", VALIDATE, TARGET], check=True)
    print(f"{TARGET.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
