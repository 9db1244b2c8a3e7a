"""Names of code that docstrings give exist: a renamed field or function is renamed there too."""

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from app.config import ROOT

FILES = sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "supervisor").rglob("*.py")])
REFERENCE = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")
LITERAL = re.compile(r"``([A-Za-z_]\w*)``")
CLAUSE_START = re.compile(r"(?:\A|\n\n|[.;]\s+)``([A-Za-z_]\w*)``")
NAMES_OF_OTHERS = {
    *dir(builtins),
    *("click.ClickException", "click.UsageError", "CommandError", "secrets.token_urlsafe"),
    *("DBOS.patch", "Result.unique", "gunicorn.conf.py", "ssl.SSLCertVerificationError"),
}
IN_THE_API = re.compile(r"app/api/|app/services/assistants/__init__")
"""Their docstrings are published, and name fields and values of the API."""
WORDS_OF_OTHERS = {"Host", "host", "id", "true", "validation_alias", "with", "xmin"}
"""Words of Python, PostgreSQL, HTTP and JSON, and parts of an address."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def classes() -> dict[str, ast.ClassDef]:
    found = (node for path in FILES for node in ast.walk(tree_of(path)))
    return {node.name: node for node in found if isinstance(node, ast.ClassDef)}


def docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def defined(tree: ast.AST) -> Iterator[str]:
    """The functions, classes, fields, variables, parameters and imports of the code."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
    yield from exported(tree)


def exported(tree: ast.AST, *, in_function: bool = False) -> Iterator[str]:
    """As `defined`, without the parameters and variables of functions."""
    in_function |= isinstance(tree, ast.FunctionDef)
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if not in_function:
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=alias):
                yield from (alias or name).split(".")
        yield from exported(node, in_function=in_function)


def used(tree: ast.AST) -> Iterator[str]:
    """The names that the code uses."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name


@cache
def values() -> set[str]:
    """The strings of the code that are one word, such as values, codes and names of columns."""
    nodes = (node for path in FILES for node in ast.walk(tree_of(path)))
    return {str(node.value) for node in nodes if isinstance(node, ast.Constant)}


def name_of(expression: ast.expr) -> str:
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=called) | ast.Subscript(value=called):
            return name_of(called)
    return ""


def members(class_: ast.ClassDef) -> set[str]:
    """What the class and its bases define and use."""
    bases = (classes().get(name_of(base)) for base in class_.bases)
    inherited = (members(base) for base in bases if base and base is not class_)
    return set(defined(class_)).union(*inherited)


def is_record(class_: ast.ClassDef) -> bool:
    bases = [*class_.decorator_list, *class_.bases]
    return any(name_of(base) in {"dataclass", "NamedTuple"} for base in bases)


def documented_classes() -> Iterator[tuple[Path, ast.ClassDef, str]]:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and (text := ast.get_docstring(node)):
                yield path, node, text


def test_names_in_single_backticks_are_defined() -> None:
    known = {name for path in FILES for name in exported(tree_of(path))}
    known |= {part for path in FILES for part in path.relative_to(ROOT).with_suffix("").parts}
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in FILES
        if not IN_THE_API.match(str(path.relative_to(ROOT)))
        for text in docstrings(tree_of(path))
        for name in REFERENCE.findall(text)
        if name not in NAMES_OF_OTHERS and not known.issuperset(name.split("."))
    ]
    assert missing == []


def test_docstrings_of_records_describe_fields_that_they_have() -> None:
    """A clause about a field begins with its name in double backticks."""
    missing = [
        f"{path.relative_to(ROOT)}: {class_.name}.{name}"
        for path, class_, text in documented_classes()
        if is_record(class_)
        for name in CLAUSE_START.findall(text)
        if name not in members(class_)
    ]
    assert missing == []


def test_names_in_docstrings_of_classes_are_in_their_module_or_values() -> None:
    missing = []
    for path, class_, text in documented_classes():
        names = set(LITERAL.findall(text)) - WORDS_OF_OTHERS - values() - members(class_)
        names -= {*defined(tree_of(path)), *used(tree_of(path))} if names else set()
        missing += [f"{path.relative_to(ROOT)}: {class_.name}: {name}" for name in sorted(names)]
    assert missing == []
