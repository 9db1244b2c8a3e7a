"""The picture and the tables of docs/architecture.md agree with the code."""

import re
from collections.abc import Set as AbstractSet

from app.config import ROOT
from app.enums import CallStatus
from app.services.calls import states
from tests.test_layers import MODULES, imports_of

PAGE = (ROOT / "docs" / "architecture.md").read_text()
PICTURE = PAGE.partition("## The picture")[2].split("```")[1]
LINES = [re.split(r"  +", line)[0].split() for line in PICTURE.splitlines() if line.strip()]
RANKS = {name: -number for number, line in enumerate(LINES) for name in line}


def name_of(module: str) -> str | None:
    """The name that stands for a module in the picture; None for ``app`` and ``app.services``."""
    parts = module.split(".")[1:]
    if parts[:1] == ["services"]:
        return ".".join(parts[:2]) if len(parts) > 1 else None
    return parts[0] if parts else None


def test_every_part_of_the_application_is_in_the_picture_once() -> None:
    drawn = [name for line in LINES for name in line]
    parts = {name for module in MODULES if (name := name_of(module))}
    assert sorted(parts - set(drawn)) == [], "add these to the picture in docs/architecture.md"
    assert sorted(drawn) == sorted(parts), "the picture in docs/architecture.md has a part too many"


def test_imports_point_down_the_picture() -> None:
    upward = {
        f"{name} -> {other}"
        for module, path in MODULES.items()
        for target, _ in imports_of(path)
        if (name := name_of(module)) and (other := name_of(target) if target in MODULES else None)
        if name != other and {name, other} <= RANKS.keys() and RANKS[other] >= RANKS[name]
    }
    assert upward == set(), "move the code, or the part in the picture of docs/architecture.md"


def tables() -> str:
    """The states and the moves as two Markdown tables."""
    rows = ["| State | Phase | Meaning |", "|---|---|---|"]
    rows += [
        f"| `{status}` | {state.phase} | {state.meaning} |"
        for status, state in states.STATES.items()
    ]
    rows += ["", "| Move | From | To | When |", "|---|---|---|---|"]
    rows += [
        f"| {each.name} | {status_list(each.sources)} | {status_list(each.targets)} | {each.when} |"
        for each in states.MOVES
    ]
    return "\n".join(rows) + "\n"


def status_list(statuses: AbstractSet[CallStatus | None]) -> str:
    if None in statuses:
        return "(new)"
    return ", ".join(f"`{status}`" for status in states.STATES if status in statuses)


def test_the_tables_of_states_and_moves_are_those_of_the_code() -> None:
    assert tables() in PAGE
