"""The findings of a part of `make security`, and which of them have their reason on the line."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.config import ROOT

EXEMPTION = re.compile(r"#\s*(?:noqa:|nosec|nosemgrep:)\s*([\w, -]+?) - (\S.*)")
"""On the line or above it. Group 1 has the checks, group 2 the reason, without which it exempts
nothing."""

REASONS: Mapping[tuple[str, str], str] = {
    ("B404", ""): "Importing subprocess does nothing; each call is checked (B603).",
    ("B405", ""): "TwiML is written, never parsed; readers of contact files have their own tests.",
    ("B406", ""): "Only escape is imported, which parses nothing.",
    ("B311", "scripts/soak/"): "Load and faults need no unpredictable numbers.",
    ("B608", "app/services/contacts/store_"): "Constants make the SQL; all values are bound.",
    ("B603", "scripts/"): "Developers' commands start programs that the script itself names.",
    ("B603", "supervisor/"): "The supervisor starts our own modules and gunicorn.",
}
"""Check and start of the path -> why every finding of it is closed."""

_RUFF_NAMES: Mapping[str, str] = {"sql-made-of-values": "S608", "markup-made-of-values": "S704"}
"""Our rules that ruff has, too, with its numbers."""


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    path: str
    line: int
    last_line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.check}: {self.message}"


@dataclass(slots=True)
class Result:
    """The result of one part. ``unchecked`` says why it could not be checked."""

    part: str
    open: list[str] = field(default_factory=list)
    closed: int = 0
    unchecked: str = ""

    @property
    def verdict(self) -> str:
        unchecked = f"NOT CHECKED: {self.unchecked}" if self.unchecked else ""
        open_label = f"{len(self.open)} open" if self.open else ""
        return "; ".join(filter(None, (open_label, unchecked))) or "no open finding"


def names_of(check: str) -> set[str]:
    """Return the names under which a comment may exempt a check: ruff's S608 is bandit's B608."""
    if check in _RUFF_NAMES:
        return {check, _RUFF_NAMES[check]}
    return {check, f"S{check[1:]}"} if re.fullmatch(r"B\d{3}", check) else {check}


def exempted(line: str) -> set[str]:
    """Return the checks that a comment on the line exempts with a reason."""
    match = EXEMPTION.search(line)
    return set(re.split(r"[, ]+", match.group(1))) if match else set()


def is_closed(finding: Finding) -> bool:
    if any(check == finding.check and finding.path.startswith(start) for check, start in REASONS):
        return True
    lines = (ROOT / finding.path).read_text().splitlines()
    finding_lines = lines[finding.line - 1 : finding.last_line]
    before = lines[finding.line - 2] if finding.line > 1 else ""
    if before.lstrip().startswith(("#", "{#")):
        finding_lines = [before, *finding_lines]
    return any(names_of(finding.check) & exempted(line) for line in finding_lines)


def judged(part: str, findings: Iterable[Finding]) -> Result:
    """Return the open findings, and how many have a reason."""
    result = Result(part)
    for finding in findings:
        if is_closed(finding):
            result.closed += 1
        else:
            result.open.append(str(finding))
    return result
