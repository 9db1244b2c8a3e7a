"""Links of documents, and citations of documents in code, lead to an existing file and heading."""

import re
from pathlib import Path

import pytest

from app.config import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
PATH = re.compile(r"`((?:app|docs|migrations|scripts|templates|tests)/[\w/.-]+)`")
CITATION = re.compile(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?")


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


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_that_a_page_for_developers_names_exists(name: str) -> None:
    """Those of the recipe's example, the notes about an organization, are the reader's to write."""
    named = PATH.findall((ROOT / name).read_text())
    assert [path for path in named if "notes" not in path and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("folder", ["app", "templates", "tests", "scripts"])
def test_every_citation_of_a_document_resolves(folder: str) -> None:
    broken = []
    files = [path for kind in ("*.py", "*.html") for path in (ROOT / folder).rglob(kind)]
    for file in files:
        for path, anchor in CITATION.findall(file.read_text()):
            target = ROOT / path
            if not target.exists() or (anchor and anchor not in anchors_of(target)):
                broken.append(f"{file.relative_to(ROOT)}: {path}#{anchor}")
    assert broken == []
