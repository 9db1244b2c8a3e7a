"""Every test can fail: it asserts something, more than that an answer has status 200, and of a
refusal or a redirect more than its status."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHECKS = {"pytest.raises", "pytest.fail", "expect", "until", "wait_for"}
"""Calls that fail by themselves where something is not as expected."""

EXPLAINED = {303, 400, 403, 409, 410, 413, 422}
"""Statuses whose answer says more: what is wrong and what to do, or where to go."""
SENDING = {"post", "put", "patch", "delete"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def functions_of(path: Path) -> dict[str, Function]:
    return {node.name: node for node in tree_of(path).body if isinstance(node, Function)}


@cache
def imports_of(path: Path) -> dict[str, tuple[Path, str]]:
    """The functions that a file imports from others of the tests."""
    found: dict[str, tuple[Path, str]] = {}
    for node in tree_of(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            source = ROOT / Path(*str(node.module).split(".")).with_suffix(".py")
            if source.exists():
                found |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return found


@cache
def helper_checks(path: Path, name: str) -> bool:
    """Whether a function of the tests itself asserts more than a success."""
    if name not in functions_of(path):
        source, original = imports_of(path).get(name, (None, ""))
        return source is not None and helper_checks(source, original)
    return any(own_checks(functions_of(path)[name]))


def own_checks(function: Function) -> Iterator[bool]:
    """For each thing that the function checks, whether it is more than a status of 200."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield not is_success_alone(node.test)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in CHECKS:
            yield True


def checks(path: Path, function: Function) -> Iterator[bool]:
    """What the function checks itself and by the functions that it calls."""
    yield from own_checks(function)
    called = {node.func.id for node in ast.walk(function)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
    yield from (True for name in called if helper_checks(path, name))


def is_success_alone(condition: ast.expr) -> bool:
    """``answer.status_code == 200`` and its like for several answers or several statuses."""
    if not isinstance(condition, ast.Compare) or not is_status(condition.left):
        return False
    if not isinstance(condition.ops[0], ast.Eq):
        return True
    numbers = [
        node.value
        for node in ast.walk(condition.comparators[0])
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value >= 100
    ]
    return bool(numbers) and set(numbers) == {200}


def is_status(value: ast.expr) -> bool:
    if isinstance(value, ast.ListComp | ast.SetComp):
        return is_status(value.elt)
    if isinstance(value, ast.DictComp):
        return is_status(value.value)
    if isinstance(value, ast.Tuple | ast.List):
        return all(is_status(each) for each in value.elts)
    return isinstance(value, ast.Attribute) and value.attr == "status_code"


def asserts_statuses_alone(path: Path, function: Function) -> bool:
    """Whether all that it asserts is the status of answers."""
    asserted = [node.test for node in ast.walk(function) if isinstance(node, ast.Assert)]
    called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    if called & CHECKS or any(helper_checks(path, name) for name in called):
        return False
    return bool(asserted) and all(
        isinstance(condition, ast.Compare) and is_status(condition.left) for condition in asserted
    )


def asserts_absence_alone(path: Path, function: Function) -> bool:
    """Whether all that it asserts is that something is not in something else: an error page, or an
    empty list, has nothing in it either."""
    asserted = [node.test for node in ast.walk(function) if isinstance(node, ast.Assert)]
    called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    if called & CHECKS or any(helper_checks(path, name) for name in called):
        return False
    return bool(asserted) and all(
        isinstance(condition, ast.Compare) and isinstance(condition.ops[0], ast.NotIn)
        for condition in asserted
    )


def compared_numbers(function: Function) -> set[int]:
    """The numbers in its assertions and in its cases."""
    where: list[ast.AST] = [*function.decorator_list]
    where += [node.test for node in ast.walk(function) if isinstance(node, ast.Assert)]
    return {
        node.value
        for part in where
        for node in ast.walk(part)
        if isinstance(node, ast.Constant) and isinstance(node.value, int)
    }


def sends(function: Function) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in SENDING for node in ast.walk(function)
    )


def all_tests() -> Iterator[tuple[Path, Function]]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for function in ast.walk(tree_of(path)):
            if isinstance(function, Function) and function.name.startswith("test_"):
                yield path, function


def name_of(path: Path, function: Function) -> str:
    return f"{path.relative_to(ROOT)}::{function.name}"


def verdicts(wanted: set[bool]) -> set[str]:
    """The tests that check just this: nothing (an empty set), or a success alone (``{False}``)."""
    return {
        name_of(path, function)
        for path, function in all_tests()
        if set(checks(path, function)) == wanted
    }


def test_names_of_tests_have_at_most_80_characters() -> None:
    long = [name_of(*each) for each in all_tests() if len(each[1].name) > 80]
    assert long == [], "say in fewer words what the test shows"


def test_every_test_asserts_something() -> None:
    assert verdicts(set()) == set()


def test_no_test_asserts_success_alone() -> None:
    assert verdicts({False}) == set()


def test_of_refusals_and_redirects_more_is_asserted_than_their_status() -> None:
    assert {
        name_of(path, function)
        for path, function in all_tests()
        if asserts_statuses_alone(path, function) and compared_numbers(function) & EXPLAINED
    } == set()


def test_a_change_that_finds_nothing_is_shown_to_change_nothing() -> None:
    assert {
        name_of(path, function)
        for path, function in all_tests()
        if asserts_statuses_alone(path, function) and sends(function)
    } == set()


def test_no_test_asserts_an_absence_alone() -> None:
    """The test of import cycles asserts on its way through the graph."""
    assert {
        name_of(path, function)
        for path, function in all_tests()
        if asserts_absence_alone(path, function)
    } == {"tests/test_layers.py::test_there_is_no_import_cycle"}


def checks_in(source: str) -> set[bool]:
    (function,) = ast.parse(source).body
    assert isinstance(function, Function)
    return set(checks(Path(__file__), function))


def test_what_counts_as_an_assertion() -> None:
    verdict = {
        "client.get('/')": set(),
        "assert client.get('/').status_code == 200": {False},
        "assert [a.status_code for a in answers] == [200] * 3": {False},
        "assert (a.status_code, b.status_code) == (200, 200)": {False},
        "assert answer.status_code in (200, 404)": {False},
        "assert answer.status_code == 404": {True},
        "assert (answer.status_code, answer.text) == (200, 'Hello')": {True},
        "with pytest.raises(ValueError): read('')": {True},
        "checks_in('')": {True},
    }
    assert {
        statement: checks_in(f"def test_it():\n    {statement}") for statement in verdict
    } == verdict


def test_what_counts_as_a_status_alone() -> None:
    verdict = {
        "assert client.get('/').status_code == 303": True,
        "assert [a.status_code for a in answers] == [404, 404]": True,
        "assert {path: client.get(path).status_code for path in paths} == expected": True,
        "assert (answer.status_code, answer.location) == (303, '/')": False,
        "assert 'Enter a name.' in answer.text": False,
        "with pytest.raises(ValueError): read('')": False,
    }
    assert {
        statement: asserts_statuses_alone(Path(__file__), function)
        for statement in verdict
        for function in ast.parse(f"def test_it():\n    {statement}").body
        if isinstance(function, Function)
    } == verdict


@pytest.mark.parametrize("name", ["slow_tests.txt", "long_tests.txt", "passed_alone.txt"])
def test_a_list_of_tests_names_tests_that_there_are(name: str) -> None:
    listed = (ROOT / "tests" / name).read_text().split()
    unknown = []
    for test in listed:
        path, _, name = test.partition("::")
        if not (ROOT / path).exists() or name not in functions_of(ROOT / path):
            unknown.append(test)
    assert (listed, unknown) == (sorted(set(listed)), [])
