"""The table of states and moves is complete, and it is the only way in which a call moves."""

import ast
from pathlib import Path

import pytest

import app
from app.enums import FINAL_CALL_STATUSES, CallStatus
from app.models import Call
from app.services.calls import states

SOURCES = sorted(Path(app.__file__).parent.rglob("*.py"))


def test_every_status_has_a_state_and_the_final_ones_are_those_of_the_enum() -> None:
    assert list(states.STATES) == list(CallStatus)
    assert states.FINAL == FINAL_CALL_STATUSES
    assert set(CallStatus) == states.WAITING | states.ACTIVE | states.FINAL


def test_every_status_is_reached_and_every_open_one_is_left() -> None:
    reached = {status for move in states.MOVES for status in move.targets}
    left = {status for move in states.MOVES for status in move.sources if status is not None}
    assert reached == set(CallStatus)
    assert left == states.WAITING | states.ACTIVE | {CallStatus.UNKNOWN}


def test_an_ended_call_is_never_placed_again() -> None:
    backwards = [
        move.name
        for move in states.MOVES
        if move.sources & states.FINAL and not move.targets <= states.FINAL
    ]
    assert backwards == []


@pytest.mark.parametrize("by", states.MOVES, ids=lambda move: str(move.name))
def test_a_call_makes_only_the_moves_of_the_table(by: states.StatusChange) -> None:
    made = set()
    for source in (None, *CallStatus):
        for target in CallStatus:
            call = Call(status=source)
            try:
                states.move(call, by, target)
            except states.ImpossibleMove:
                assert call.status is source
            else:
                assert call.status is target
                made.add((source, target))
    assert made == {(source, target) for source in by.sources for target in by.targets}


def writes_status_of_a_call(node: ast.AST) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    flat = [part for target in targets for part in ast.walk(target)]
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == "status"
        and isinstance(part.value, ast.Name)
        and part.value.id == "call"
        for part in flat
    )


def test_only_move_writes_the_status_of_a_call() -> None:
    writers = {
        path.relative_to(SOURCES[0].parent).as_posix()
        for path in SOURCES
        if any(writes_status_of_a_call(node) for node in ast.walk(ast.parse(path.read_text())))
    }
    assert writers == {"services/calls/states.py"}
