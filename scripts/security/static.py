"""bandit, and semgrep with the rules of rules.yml."""

import json
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.config import ROOT
from scripts.security import tools
from scripts.security.findings import Finding, Result, judged

RULES = Path(__file__).parent / "rules.yml"
SAMPLES = Path(__file__).parent / "samples.toml"
PYTHON = ("app", "scripts", "supervisor", "wsgi.py", "gunicorn.conf.py")
EMPTY_TEXT = "password: ''"
"""bandit considers an empty text a password."""
SOURCES = ("app", "supervisor", "templates")


def bandit() -> Result:
    program = tools.tool("bandit")
    command: list[str | Path] = [
        program,
        "--quiet",
        "--ignore-nosec",
        "--format",
        "json",
        "--recursive",
        *PYTHON,
    ]
    ended = tools.run(command)
    report = json.loads(ended.stdout)
    result = judged(
        "bandit",
        (
            Finding(
                entry["test_id"],
                entry["filename"].removeprefix("./"),
                min(entry["line_range"]),
                max(entry["line_range"]),
                entry["issue_text"],
            )
            for entry in report["results"]
            if not entry["issue_text"].endswith(EMPTY_TEXT)
        ),
    )
    result.open += [f"bandit failed: {error}" for error in report["errors"]]
    return result


def semgrep() -> Result:
    report = _scan(ROOT, SOURCES)
    result = judged("semgrep", _findings(report))
    result.open += [f"semgrep failed: {error['message']}" for error in report["errors"]]
    return result


def samples() -> Result:
    """Check that each rule still finds its sample, and nothing similar in the code."""
    result = Result("semgrep samples")
    with tempfile.TemporaryDirectory() as name:
        expected, folder = set(), Path(name)
        for rule, sample in read_samples().items():
            path = Path(sample["file"])
            for kind in ("finds", "passes"):
                file = path.with_name(f"{rule}-{kind}{path.suffix}")
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(sample[kind])
            expected.add((rule, str(path.with_name(f"{rule}-finds{path.suffix}"))))
        report = _scan(folder, ["app", "templates"])
        matches = {(finding.check, finding.path) for finding in _findings(report)}
    sample_matches = {
        (rule, path) for rule, path in matches if Path(path).name.startswith(f"{rule}-")
    }
    result.open += [
        f"{rule} does not find its sample" for rule, _ in sorted(expected - sample_matches)
    ]
    result.open += [
        f"{rule} finds what it must pass" for rule, _ in sorted(sample_matches - expected)
    ]
    result.open += [f"semgrep failed: {error['message']}" for error in report["errors"]]
    return result


def read_samples() -> Mapping[str, Mapping[str, str]]:
    """Return, by rule, ``file`` and the code that it ``finds`` and ``passes``."""
    return tomllib.loads(SAMPLES.read_text())


def _scan(folder: Path, targets: Sequence[str]) -> Any:
    ask: list[str | Path] = [
        tools.tool("semgrep"),
        "scan",
        "--config",
        RULES,
        "--json",
        "--quiet",
        "--jobs",
        "2",
    ]
    isolation = ["--metrics=off", "--disable-version-check", "--disable-nosem", "--no-git-ignore"]
    isolation += ["--project-root", "."]
    ended = tools.run([*ask, *isolation, *targets], folder=folder)
    try:
        return json.loads(ended.stdout)
    except ValueError:
        return {"results": [], "errors": [{"message": ended.stderr.strip()[-2000:]}]}


def _findings(report: Any) -> Iterator[Finding]:
    seen = set()
    for entry in report["results"]:
        finding = Finding(
            entry["check_id"].rpartition(".")[2],
            entry["path"],
            entry["start"]["line"],
            entry["end"]["line"],
            entry["extra"]["message"],
        )
        if finding not in seen:
            seen.add(finding)
            yield finding
