"""The guide for partners' scripts: every command runs, every limit is the one that is set."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from app.config import Settings
from app.schemas.checks import MAX_METADATA_KEY, MAX_METADATA_KEYS, MAX_METADATA_VALUE
from app.schemas.figures import MAX_DAYS
from app.schemas.paging import MAX_PER_PAGE
from app.services.auth.attempt_limits import QUARTER_OF_AN_HOUR
from app.services.contacts.rules import MAX_NAME, MAX_STATUS
from app.services.idempotency import MAX_KEY_LENGTH
from tests import matrix
from tests.fixtures.databases import BACKENDS
from tests.fixtures.stack import Stacks

GUIDE = (Path(__file__).resolve().parents[1] / "docs" / "quick-start.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
STRICTLY = """
set -euo pipefail
curl() { command curl --fail-with-body "$@"; }
"""
FIGURE = re.compile(r"\d[\d,]*")


@pytest.mark.alternating
@pytest.mark.parametrize("backend", matrix.rotating("quick start", BACKENDS))
def test_every_command_of_the_guide_runs_unchanged(
    stacks: Stacks, backend: str, tmp_path: Path
) -> None:
    stack = stacks.start(backend, {"PORTAL_SIMULATOR_PACE": "0.3"})  # time to cancel a call
    (tmp_path / "instance").mkdir()
    (tmp_path / "instance" / "demo.json").write_text(json.dumps(stack.demo))
    script = STRICTLY + "".join(block + "\necho\n" for block in COMMANDS)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    stack.stop()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    printed = done.stdout.split("\n")
    sent = "3 contacts were sent: 2 created, 0 updated, 0 deleted, 0 ignored, 1 failed."
    assert [line for line in printed if sent in line] != []
    assert "completed" in printed
    assert '"status":"canceled"' in printed[-3]


def limit(row: str) -> list[int]:
    """The figures in the right half of a row of the table of limits."""
    [line] = [line for line in GUIDE.splitlines() if line.startswith(f"| {row}")]
    cell = line.rstrip(" |").rpartition("|")[2]
    return [int(figure.replace(",", "")) for figure in FIGURE.findall(cell)]


def test_the_guide_names_the_limits_of_the_code() -> None:
    default = {name: info.default for name, info in Settings.model_fields.items()}
    mebibyte = 1024 * 1024
    assert {
        "Requests": [default["rate_per_second"], default["rate_burst"]],
        "Failed token": [default["failed_sign_ins"], 1, QUARTER_OF_AN_HOUR],
        "Contacts in": [default["max_contacts"], default["max_contacts_bytes"] // mebibyte],
        "Every other": [default["max_body_bytes"] // mebibyte],
        "Metadata": [MAX_METADATA_KEYS, MAX_METADATA_KEY, MAX_METADATA_VALUE],
        "Names": [MAX_NAME, 254, MAX_STATUS],
        "`perPage`": [MAX_PER_PAGE],
        "A range": [MAX_DAYS],
        "`Idempotency-Key`": [1, MAX_KEY_LENGTH, 24],
    } == {
        row: limit(row)
        for row in (
            "Requests", "Failed token", "Contacts in", "Every other", "Metadata", "Names",
            "`perPage`", "A range", "`Idempotency-Key`",
        )
    }  # fmt: skip
