"""Links of documents, and citations of documents and of code, lead to something that exists."""

import re
from pathlib import Path

import pytest

from app.config import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
PATH = re.compile(r"\b(?:app|docs|migrations|scripts|templates|tests)/[\w/.-]+\.(?:html|md|py)\b")
MODULE = re.compile(r"`(app(?:\.\w+)+)`")
CITATION = re.compile(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?")


def sources(*folders: str) -> list[Path]:
    kinds = ("*.py", "*.html")
    return [path for each in folders for kind in kinds for path in (ROOT / each).rglob(kind)]


SOURCES = sources("app", "templates", "tests", "scripts", "migrations")


def anchors_of(document: Path) -> set[str]:
    """The anchors that GitHub makes of the headings, and those written as ``<a id="…">``."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {name.replace(" ", "-") for name in plain} | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_of_a_document_resolves(document: Path) -> None:
    broken = []
    for path, anchor in LINK.findall(document.read_text()):
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    assert broken == []


def test_every_file_and_module_that_is_named_exists() -> None:
    """Those of the recipe's example, the notes about an organization, are the reader's to write."""
    missing = []
    for file in (*SOURCES, *DOCUMENTS):
        text = file.read_text()
        names = [path for path in PATH.findall(text) if not (ROOT / path).exists()]
        names += [name for name in MODULE.findall(text) if not is_module_or_member(name)]
        missing += [f"{file.relative_to(ROOT)}: {name}" for name in names if "notes" not in name]
    assert missing == []


def is_module_or_member(name: str) -> bool:
    """Whether the dotted name is that of a module of the product, or of something in one."""
    path = ROOT.joinpath(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    module = path.parent / "__init__.py" if path.parent.is_dir() else path.parent.with_suffix(".py")
    return module.exists() and re.search(rf"\b{path.name}\b", module.read_text()) is not None


@pytest.mark.parametrize("folder", ["app", "templates", "tests", "scripts"])
def test_every_citation_of_a_document_resolves(folder: str) -> None:
    broken = []
    for file in sources(folder):
        for path, anchor in CITATION.findall(file.read_text()):
            target = ROOT / path
            if not target.exists() or (anchor and anchor not in anchors_of(target)):
                broken.append(f"{file.relative_to(ROOT)}: {path}#{anchor}")
    assert broken == []
