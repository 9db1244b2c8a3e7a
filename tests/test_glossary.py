"""Words that docs/glossary.md doesn't allow are not in names, comments, docstrings, addresses,
on screens or in documents."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"

NOT_THE_TERM = (
    *("flask login", "login manager", "login user", "logout user"),
    *("user agent", "user agents", "back channel logout", "logout token", "logout tokens"),
    "provider id logout",  # the address of the back-channel logout
    *("roll back", "rolls back", "rolled back", "rolling back", "roll up", "roll ups"),
    "logout uri",  # a field of OpenID Connect
    *("aws access key id", "aws secret access key"),
)
"""Names of other projects and standards that contain a forbidden word."""

LINE_BEGINS, BETWEEN = (
    (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    (tokenize.NL, tokenize.COMMENT),
)
"""Tokens before a statement; tokens that may stand anywhere."""

WIRE_NAMES = ("app/schemas/", "app/api/")
"""Where names of the contract are written in snake case."""


def rows() -> Iterator[tuple[str, set[str], list[tuple[str, bool]]]]:
    """The word with its meaning, words on the wire, and forbidden phrases with whether only code
    names are meant."""
    for line in GLOSSARY.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and not cells[0].startswith(("Word", "---")):
            found = re.findall(r"`([a-z ]+)`( \(code\))?", cells[4])
            wire = set(re.findall(r"`([^`]+)`", cells[2]))
            yield cells[0], wire, [(phrase, bool(code)) for phrase, code in found]


FORBIDDEN = {phrase: only_code for _, _, found in rows() for phrase, only_code in found}
INSTEAD = {phrase: word for word, _, found in rows() for phrase, _ in found}


def normalized_words(text: str, *, is_name: bool) -> str:
    """The words in lower case, one space around each. Names are split at capitals."""
    pattern = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+" if is_name else r"[A-Za-z]+"
    words = f" {' '.join(re.findall(pattern, text)).lower()} "
    for name in NOT_THE_TERM:
        words = words.replace(f" {name} ", " ")
    return words


CONTRACT_NAME = re.compile(r"[a-z][A-Z]")
"""Only names of the contract are in camel case."""

OF_CALLED_PEOPLE = {"person", "people"}
"""Words that tests use for those who are called; in the application they mean users."""

SEARCH_WORDS = ROOT / "app" / "portal" / "search" / "pages.py"
ON_THE_WIRE = {
    phrase
    for _, names, found in rows()
    for phrase, _ in found
    if any(
        f" {phrase.removesuffix('s')} " in normalized_words(name, is_name=True) for name in names
    )
}


PYTHON_FOLDERS = ("app", "benchmarks", "migrations", "scripts", "supervisor", "tests")


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def code_names() -> Iterator[tuple[str, str]]:
    """Each Python file with the names that it defines, and those of arguments that it passes."""
    for path in python_files("app", "benchmarks", "scripts", "supervisor", "tests"):
        place = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield place, node.name
            elif isinstance(node, ast.arg):
                yield place, node.arg
            elif isinstance(node, ast.keyword) and not CONTRACT_NAME.search(name := node.arg or ""):
                yield place, name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield place, node.id
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield place, node.attr


def comments() -> Iterator[tuple[str, str]]:
    """Each Python file of the project with its comments and docstrings, without code in them."""
    for path in python_files(*PYTHON_FOLDERS):
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
        texts, line_begins = [], True
        for token in tokens:
            docstring = token.type == tokenize.STRING and line_begins
            if docstring or token.type == tokenize.COMMENT:
                texts.append(without_code(token.string))
            if token.type not in BETWEEN:
                line_begins = token.type in LINE_BEGINS
        yield str(path.relative_to(ROOT)), "\nend\n".join(texts)  # no phrase spans two


def file_names() -> Iterator[tuple[str, str]]:
    """Each file of the product and its tests with its name and those of its folders."""
    for folder in (*PYTHON_FOLDERS, "static/css", "static/js", "templates"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            place = str(path.relative_to(ROOT))
            if "__pycache__" not in place:
                yield from ((place, part) for part in place.partition(".")[0].split("/"))


def markup_names() -> Iterator[tuple[str, str]]:
    """Each style sheet with its classes and custom properties, each template with the classes, IDs
    and data attributes that it writes."""
    for path in sorted((ROOT / "static" / "css").iterdir()):
        for name in re.findall(r"\.([a-z][\w-]*)|--([a-z][\w-]*)", path.read_text()):
            yield str(path.relative_to(ROOT)), "".join(name)
    for path in sorted((ROOT / "templates").rglob("*.html")):
        place, source = str(path.relative_to(ROOT)), path.read_text()
        for names in re.findall(r'\b(?:class|id)="([^"]*)"|\bdata-([a-z-]+)', source):
            yield from ((place, name) for name in re.split(r"[\s{}%]+", "".join(names)))


def routes() -> Iterator[tuple[str, str]]:
    """Each file with the addresses that its decorators declare, without former ones."""
    for path in sorted((ROOT / "app").rglob("*.py")):
        if path.name == "former_address_views.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for text in (text for each in node.decorator_list for text in strings(each)):
                    if text.startswith("/"):
                        yield str(path.relative_to(ROOT)), text


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|``.*?``|`[^`\n]*`", " ", text, flags=re.DOTALL)


def page_sources() -> Iterator[tuple[str, str]]:
    """Each style sheet and script of the pages, and each template with its comments."""
    for path in sorted(
        path for folder in ("css", "js") for path in (ROOT / "static" / folder).iterdir()
    ):
        yield str(path.relative_to(ROOT)), path.read_text()
    for path in sorted((ROOT / "templates").rglob("*.*")):
        found = re.findall(r"\{#.*?#\}", path.read_text(), re.DOTALL)
        yield str(path.relative_to(ROOT)), "\nend\n".join(found)


def screen_texts() -> Iterator[tuple[str, str]]:
    """Each template with its text, and the sentences that the portal's code contains."""
    for path in sorted((ROOT / "templates").rglob("*.*")):
        place, source = str(path.relative_to(ROOT)), path.read_text()
        source = re.sub(r"\{#.*?#\}", " ", source, flags=re.DOTALL)
        for block in re.findall(r"\{[{%].*?[%}]\}", source, re.DOTALL):
            yield from ((place, text) for text in re.findall(r'"([^"]*)"', block) if " " in text)
        yield place, re.sub(r"\{[{%].*?[%}]\}|<[^>]*>", "  ", source, flags=re.DOTALL)
    for path in sorted((ROOT / "app" / "portal").rglob("*.py")):
        for text in strings(ast.parse(path.read_text())):
            if path == SEARCH_WORDS and text.islower():
                continue  # what users type is not always what the portal says
            if " " in text:
                yield str(path.relative_to(ROOT)), text


def strings(tree: ast.AST) -> Iterator[str]:
    """The strings of a module without its docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        yield from strings(node)


def documents() -> Iterator[tuple[str, str]]:
    """Each document without its code."""
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        if path != GLOSSARY:
            text = re.sub(r"\]\([^)]*\)", " ", without_code(path.read_text()))
            yield str(path.relative_to(ROOT)), text


SOURCES = {
    "code": code_names,
    "files": file_names,
    "markup": markup_names,
    "comments": comments,
    "routes": routes,
    "screens": screen_texts,
    "docs": documents,
}


def uses(kind: str) -> dict[str, list[str]]:
    """Each forbidden phrase with the places that use it."""
    is_name = kind in ("code", "files", "markup")
    phrases = [phrase for phrase, only_code in FORBIDDEN.items() if is_name or not only_code]
    found: dict[str, list[str]] = {}
    for place, text in SOURCES[kind]():
        words = normalized_words(text, is_name=is_name)
        for phrase in phrases:
            if phrase in ON_THE_WIRE and place.startswith(WIRE_NAMES):
                continue
            if phrase in OF_CALLED_PEOPLE and not place.startswith("app/"):
                continue
            found.setdefault(phrase, []).extend([place] * words.count(f" {phrase} "))
    return {phrase: places for phrase, places in found.items() if places}


@pytest.mark.parametrize("kind", SOURCES)
def test_forbidden_words_are_not_used(kind: str) -> None:
    wrong = {phrase: (f"use {INSTEAD[phrase]}", places) for phrase, places in uses(kind).items()}
    assert wrong == {}, "docs/glossary.md has other words for these"


def test_words_are_found_in_names_of_each_style_and_in_text() -> None:
    assert normalized_words("_OldAPIClient", is_name=True) == " old api client "
    assert normalized_words("user_agent_of", is_name=True) == " of "
    assert normalized_words("Nobody’s agentLimit", is_name=False) == " nobody s agentlimit "
    assert FORBIDDEN["agent"] is False
    assert FORBIDDEN["person"] is True
