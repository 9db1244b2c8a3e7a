"""Known vulnerabilities of the packages, if the data about them is reachable."""

import json
from pathlib import Path
from typing import Any

from scripts.security import tools
from scripts.security.findings import Result

PYTHON_LOCKS = ("requirements.lock", "requirements-test.lock")


def pip_audit(lock: str) -> Result:
    result = Result(f"pip-audit {lock}")
    ask: list[str | Path] = [
        tools.tool("pip-audit"),
        "--requirement",
        lock,
        "--no-deps",
        "--disable-pip",
    ]
    ended = tools.run([*ask, "--format", "json", "--progress-spinner", "off", "--timeout", "20"])
    report = _parse_json(ended.stdout)
    if not report:
        result.unchecked = _last_line(ended.stderr)
        return result
    unknown = [
        dependency["name"] for dependency in report["dependencies"] if "skip_reason" in dependency
    ]
    if unknown:
        total = len(report["dependencies"])
        result.unchecked = f"no data about {len(unknown)} of {total} packages"
    for package in report["dependencies"]:
        for vulnerability in package.get("vulns", ()):
            fixed = ", ".join(vulnerability["fix_versions"]) or "none"
            name = f"{package['name']} {package['version']}"
            result.open.append(f"{lock}: {name}: {vulnerability['id']} (fixed in: {fixed})")
    return result


def npm_audit() -> Result:
    result = Result("npm audit")
    ended = tools.run(["npm", "audit", "--json", "--audit"])
    report = _parse_json(ended.stdout)
    if not report or "vulnerabilities" not in report:
        result.unchecked = str(report["message"]) if report else _last_line(ended.stderr)
        return result
    for name, vulnerability in report["vulnerabilities"].items():
        result.open.append(
            f"package-lock.json: {name} {vulnerability['range']}: {vulnerability['severity']}"
        )
    return result


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no answer"])[-1]
