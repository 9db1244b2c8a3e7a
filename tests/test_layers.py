"""The dependency rule is executed, not remembered: imports point inward only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FACES = {
    "api", "callbacks", "portal", "jobs", "cli", "commands", "extensions", "http", "factory",
}  # fmt: skip
LEAVES = {
    "errors", "enums", "policy", "config", "phone", "database", "validation", "gc_tuning",
    "contact_files", "",
}  # fmt: skip
LAYERS = {"services": 3, "models": 2, "schemas": 2, "gateways": 2}
WEB_LIBRARIES = {"flask", "flask_wtf", "wtforms", "werkzeug", "gunicorn"}
SEPARATE_FACES = {
    "api.partner_admin", "api.legacy_calls", "api.public", "callbacks", "portal", "jobs",
}  # fmt: skip

GROUPS_OF_PACKAGES = {"services", "portal", "gateways"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((ROOT / "app").rglob("*.py"))}


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Every imported module with its nesting depth (0 is the top of the file)."""
    tree = ast.parse(path.read_text())
    top = set(
        ast.walk(ast.Module(body=[n for n in tree.body if not _is_scope(n)], type_ignores=[]))
    )
    for node in ast.walk(tree):
        depth = 0 if node in top else 1
        if isinstance(node, ast.Import):
            yield from ((alias.name, depth) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full if full in MODULES else node.module), depth


def _is_scope(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def place_of(module: str) -> str:
    """The part of the house that a module stands in: the name after ``app.``."""
    return module.split(".")[1] if "." in module else ""


def rank(module: str) -> int:
    place = place_of(module)
    if place in LEAVES:
        return 1
    if place in LAYERS:
        return LAYERS[place]
    assert place in FACES, f"{module} stands in no known part of the house"
    return 4


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_inward_only(module: str) -> None:
    wrong = [
        target
        for target, _ in imports_of(MODULES[module])
        if target.split(".")[0] == "app" and rank(target) > rank(module)
    ]
    assert wrong == []


@pytest.mark.parametrize("module", [name for name in MODULES if rank(name) < 4])
def test_below_the_faces_nothing_knows_the_web(module: str) -> None:
    wrong = [
        target for target, _ in imports_of(MODULES[module]) if target.split(".")[0] in WEB_LIBRARIES
    ]
    assert wrong == []


def face_of(module: str) -> str | None:
    inner = module.removeprefix("app.")
    return next((f for f in SEPARATE_FACES if inner == f or inner.startswith(f + ".")), None)


@pytest.mark.parametrize("module", [name for name in MODULES if face_of(name)])
def test_faces_never_import_each_other(module: str) -> None:
    wrong = [
        target
        for target, _ in imports_of(MODULES[module])
        if face_of(target) not in (None, face_of(module))
    ]
    assert wrong == []


@pytest.mark.parametrize("module", MODULES)
def test_nothing_of_ours_is_imported_inside_a_function(module: str) -> None:
    hidden = [
        target
        for target, depth in imports_of(MODULES[module])
        if depth and target.split(".")[0] == "app"
    ]
    assert hidden == []


def test_there_is_no_import_cycle() -> None:
    graph = {
        module: {t for t, _ in imports_of(path) if t in MODULES and t != module}
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
            targets = {package_of(target) for target, _ in imports_of(path)}
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


def test_pauses_stand_below_calls() -> None:
    graph = package_graph(MODULES)
    assert "services.pauses" in graph["services.calls"]
    assert "services.calls" not in _reached(graph, "services.pauses")


@pytest.mark.parametrize("module", MODULES)
def test_nothing_uses_the_standard_sqlite_library(module: str) -> None:
    assert "sqlite3" not in {target for target, _ in imports_of(MODULES[module])}


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("app.contact_files")])
def test_contact_files_are_read_without_contacts_campaigns_or_a_database(module: str) -> None:
    allowed = {"app.contact_files", "app.errors", "app.phone"}
    other = {
        target
        for target, _ in imports_of(MODULES[module])
        if target.startswith(("app", "sqlalchemy"))
        and ".".join(target.split(".")[:2]) not in allowed
    }
    assert other == set()
