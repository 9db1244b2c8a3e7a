"""The rules and exemptions of `make security`."""

import re

import pytest

from app.config import ROOT
from scripts.security import static, tools
from scripts.security.findings import Finding, Result, exempted, judged

MARK = re.compile(r"#\s*(?:nosec|nosemgrep)\b")
FOLDERS = ("app", "migrations", "supervisor")


def test_each_rule_has_a_sample() -> None:
    rules = re.findall(r"^  - id: (\S+)$", static.RULES.read_text(), re.MULTILINE)
    samples = static.read_samples()
    assert sorted(samples) == sorted(rules)
    assert {rule: sorted(sample) for rule, sample in samples.items()} == {
        rule: ["file", "finds", "passes"] for rule in rules
    }


@pytest.mark.skipif(
    not tools.tool("semgrep").exists(), reason="`make security` installs semgrep, and runs this too"
)
def test_each_rule_finds_its_sample_and_passes_the_other() -> None:
    assert static.samples().open == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('secret = ""  # nosec B105 - an empty field', {"B105"}),
        ('secret = ""  # nosec B105', set()),
        ('secret = ""  # nosec', set()),
        ("run(x)  # noqa: S603, PLW1510 - our own program", {"S603", "PLW1510"}),
        ("row = get(id)  # nosemgrep: row-by-id - it was checked", {"row-by-id"}),
    ],
)
def test_an_exemption_needs_the_check_and_the_reason(line: str, names: set[str]) -> None:
    assert exempted(line) == names


def test_a_finding_is_open_unless_its_line_or_the_table_has_the_reason() -> None:
    place = "app/services/oauth_clients/issuing.py"
    lines = (ROOT / place).read_text().splitlines()
    exempt = next(number for number, line in enumerate(lines, 1) if "nosec B105" in line)
    findings = [
        Finding("B105", place, exempt, exempt, "a word"),
        Finding("B105", place, 1, 1, "a word"),
        Finding("B101", place, exempt, exempt, "an assertion"),
        Finding("B603", "scripts/lock.py", 1, 1, "a program"),
        Finding("B603", place, 1, 1, "a program"),
    ]
    result = judged("bandit", findings)
    assert (result.closed, result.open) == (
        2,
        [
            f"{place}:1: B105: a word",
            f"{place}:{exempt}: B101: an assertion",
            f"{place}:1: B603: a program",
        ],
    )


def test_a_comment_above_the_line_counts_too() -> None:
    place = "app/services/webhooks/deliveries.py"
    lines = (ROOT / place).read_text().splitlines()
    above = next(n for n, line in enumerate(lines, 1) if "nosemgrep: row-by-id" in line)
    check = "row-by-id-for-a-caller"
    findings = [Finding(check, place, n, n, "a row") for n in (above + 1, above + 2)]
    assert judged("semgrep", findings).open == [f"{place}:{above + 2}: {check}: a row"]


def test_an_unchecked_page_is_never_reported_as_clean() -> None:
    results = (
        Result("bandit"),
        Result("npm audit", unchecked="no answer"),
        Result("pip-audit", open=["flask: CVE"], unchecked="no data about 1 of 2 packages"),
    )
    assert [result.verdict for result in results] == [
        "no open finding",
        "NOT CHECKED: no answer",
        "1 open; NOT CHECKED: no data about 1 of 2 packages",
    ]


def test_every_exemption_in_the_code_has_its_reason() -> None:
    without = []
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    for file in [*files, *(ROOT / "templates").rglob("*.html")]:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if MARK.search(line) and not exempted(line):
                without.append(f"{file.relative_to(ROOT)}:{number}")
    assert without == []
