"""What no module imports, beyond the layers that `test_architecture` checks: no web framework below
the faces, no other face, no cycle."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FACES = {
    "api", "callbacks", "portal", "jobs", "cli", "commands", "extensions", "http", "factory",
    "start_checks",
}  # fmt: skip
WEB_LIBRARIES = {"flask", "flask_babel", "flask_wtf", "wtforms", "werkzeug", "gunicorn"}
SEPARATE_FACES = {
    "api.partner_admin", "api.legacy_calls", "api.public", "callbacks", "portal", "jobs",
}  # fmt: skip

MAX_STATEMENTS_OF_VIEW = 10
GROUPS_OF_PACKAGES = {"services", "portal", "gateways"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((ROOT / "app").rglob("*.py"))}


class Import(NamedTuple):
    """One imported module, and whether it is imported inside a function or class."""

    target: str
    is_nested: bool


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    return tuple(_imports_of(path))


def _imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text())
    top = set(
        ast.walk(ast.Module(body=[n for n in tree.body if not _is_scope(n)], type_ignores=[]))
    )
    for node in ast.walk(tree):
        is_nested = node not in top
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, is_nested) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield Import(full if full in MODULES else node.module, is_nested)


def violations(is_wrong: Callable[[str, Import], bool]) -> list[str]:
    """Every import of the application that breaks a rule, as ``module imports target``."""
    return [
        f"{module} imports {found.target}"
        for module, path in MODULES.items()
        for found in imports_of(path)
        if is_wrong(module, found)
    ]


def _is_scope(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def views_of(path: Path) -> Iterator[ast.FunctionDef]:
    """The functions of a file that answer a request."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(each).startswith(
                ("blueprint.get(", "blueprint.post(", "portal.get(", "portal.post(")
            )
            for each in node.decorator_list
        ):
            yield node


def place_of(module: str) -> str:
    """The part of the application that a module belongs to: the name after ``app.``."""
    return module.split(".")[1] if "." in module else ""


def is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == "app"


def test_no_code_below_the_faces_imports_the_web_framework() -> None:
    assert not violations(
        lambda module, found: (
            place_of(module) not in FACES and found.target.split(".")[0] in WEB_LIBRARIES
        )
    )


def face_of(module: str) -> str | None:
    inner = module.removeprefix("app.")
    return next((f for f in SEPARATE_FACES if inner == f or inner.startswith(f + ".")), None)


def test_faces_never_import_each_other() -> None:
    assert not violations(
        lambda module, found: (
            face_of(module) is not None and face_of(found.target) not in (None, face_of(module))
        )
    )


def test_nothing_of_ours_but_the_commands_is_imported_inside_a_function() -> None:
    assert violations(lambda _, found: found.is_nested and is_ours(found.target)) == [
        "app.factory imports app.cli"  # with 30 modules of commands, which web processes don't need
    ]


def test_there_is_no_import_cycle() -> None:
    graph = {
        module: {each.target for each in imports_of(path) if each.target in MODULES} - {module}
        for module, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module in done:
            return
        for target in graph[module]:
            visit(target, (*path, module))
        done.add(module)

    for module in graph:
        visit(module, ())


def package_of(module: str) -> str | None:
    """The first folder, or the module without one, below services, portal and gateways."""
    parts = module.split(".")
    if len(parts) > 2 and parts[1] in GROUPS_OF_PACKAGES:
        return ".".join(parts[1:3])
    return None


def package_graph(modules: dict[str, Path]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        if package := package_of(module):
            targets = {package_of(found.target) for found in imports_of(path)}
            graph.setdefault(package, set()).update(t for t in targets if t and t != package)
    return graph


def cycles_of(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The sets of packages that reach each other."""
    reached = {package: _reached(graph, package) for package in graph}
    groups = {
        frozenset(other for other in reached[package] if package in reached.get(other, ()))
        for package in graph
    }
    return {group for group in groups if group}


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        package = ahead.pop()
        if package not in found:
            found.add(package)
            ahead += graph.get(package, ())
    return found


def test_packages_form_no_cycle() -> None:
    assert cycles_of(package_graph(MODULES)) == set()


def test_a_cycle_of_packages_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "f": {"a"}}
    assert cycles_of(graph) == {frozenset("abc")}


def test_pauses_do_not_import_calls() -> None:
    graph = package_graph(MODULES)
    assert "services.pauses" in graph["services.calls"]
    assert "services.calls" not in _reached(graph, "services.pauses")


def test_no_view_of_the_portal_has_more_than_ten_statements() -> None:
    """Separate functions do the rest."""
    counts = {
        f"{module}.{view.name}": statements_in(view)
        for module, path in MODULES.items()
        if module.startswith("app.portal.")
        for view in views_of(path)
    }
    assert len(counts) > 400
    assert {name: each for name, each in counts.items() if each > MAX_STATEMENTS_OF_VIEW} == {}


def statements_in(view: ast.FunctionDef) -> int:
    """Return the number of statements, those of blocks included, without the docstring."""
    has_docstring = ast.get_docstring(view) is not None
    return sum(isinstance(node, ast.stmt) for node in ast.walk(view)) - 1 - has_docstring


def test_nothing_uses_the_standard_sqlite_library() -> None:
    assert not violations(lambda _, found: found.target == "sqlite3")


def test_contact_files_are_read_without_contacts_campaigns_or_a_database() -> None:
    allowed = {"app.contact_files", "app.errors", "app.phone"}
    assert not violations(
        lambda module, found: (
            module.startswith("app.contact_files")
            and found.target.startswith(("app", "sqlalchemy"))
            and ".".join(found.target.split(".")[:2]) not in allowed
        )
    )


def test_a_broken_rule_names_module_and_import() -> None:
    broken = violations(lambda module, found: module == "app.cli" and found.target == "json")
    assert broken == ["app.cli imports json"]
