"""Every file of the corpus by command: rows, problems and counts are as expected."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.contact_files.errors import REFUSALS
from app.services.imports import kinds
from tests import matrix
from tests.commands.conftest import Shell
from tests.files.corpus import CORPUS, Case
from tests.fixtures.databases import BACKENDS

OPTIONS = {
    name: f"--{name.replace('_', '-')}" for name in ("sheet", "header_row", "encoding", "region")
}
APPLIED = CORPUS if matrix.is_full() else dict([*CORPUS.items()][::10])


def essential(output: dict[str, Any], case: Case) -> dict[str, Any]:
    """The object as the corpus expects it: without sentences and empty values."""
    if output["refusal"]:
        refusal = {name: output["refusal"][name] for name in ("kind", "row")}
        return {"outcome": output["outcome"], "refusal": refusal}
    return {
        "outcome": output["outcome"],
        "counters": output["counters"],
        "read": {name: output["read"][name] for name in case.read},
        "rows": [_essential_row(row) for row in output["rows"]],
        "warnings": {
            warning["kind"]: warning["rows"] or 0
            for warning in output["warnings"]
            if warning["kind"] not in warnings_of_rows(output)
        },
    }


def warnings_of_rows(output: dict[str, Any]) -> Counter[str]:
    """How many rows have each kind."""
    return Counter(kind for row in output["rows"] for kind in row["warnings"])


def _essential_row(row: dict[str, Any]) -> dict[str, Any]:
    names = {
        "accepted": ("action", "contact"),
        "error": (),
        "ignored": ("kind",),
        "skipped": ("kind",),
    }[row["is"]]
    kept = {name: row[name] for name in ("row", "is", *names)}
    if row["is"] == "accepted":
        kept["warnings"] = sorted(row["warnings"])
    if row["is"] == "error":
        kept["errors"] = [
            {"kind": error["kind"], "column": error["column"]} for error in row["errors"]
        ]
    return kept


@pytest.mark.alternating
@pytest.mark.parametrize("backend", BACKENDS if matrix.is_full() else ["sqlite"], indirect=True)
@pytest.mark.parametrize("case", CORPUS.values(), ids=list(CORPUS))
def test_a_file_of_the_corpus_is_read_as_expected(shell: Shell, tmp_path: Path, case: Case) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.data)
    options = [word for name, value in case.options.items() for word in (OPTIONS[name], value)]
    status, output = shell.output(path, "--action", case.action, "--dry-run", *options)
    assert essential(output, case) == case.expected
    sums = {warning["kind"]: warning["rows"] for warning in output["warnings"]}
    assert sums == sums | warnings_of_rows(output)
    assert status == (2 if case.refusal else int(output["counters"]["failed"] > 0))


@pytest.mark.alternating
@pytest.mark.parametrize("backend", BACKENDS if matrix.is_full() else ["sqlite"], indirect=True)
@pytest.mark.parametrize("case", APPLIED.values(), ids=list(APPLIED))
def test_applying_a_file_of_the_corpus_equals_its_dry_run(
    shell: Shell, tmp_path: Path, case: Case
) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.data)
    options = [word for name, value in case.options.items() for word in (OPTIONS[name], value)]
    tried = shell.output(path, "--action", case.action, "--dry-run", *options)
    assert shell.output(path, "--action", case.action, *options) == tried


def test_the_corpus_is_large_and_its_kinds_are_published() -> None:
    assert len(CORPUS) >= 60
    refusals = {case.refusal[0] for case in CORPUS.values() if case.refusal}
    errors = {e["kind"] for c in CORPUS.values() for r in c.rows for e in r.get("errors", ())}
    assert refusals <= REFUSALS.keys()
    assert errors <= kinds.ERRORS.keys()
