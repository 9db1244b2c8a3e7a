"""Guards over all templates: headings and titles, imports, the content policy, forms, length."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import nodes
from jinja2.filters import FILTERS

from app.config import ROOT

TEMPLATES = ROOT / "templates"
HTML = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))
SOURCES = {
    name: re.sub(r"{#.*?#}", "", (TEMPLATES / name).read_text(), flags=re.DOTALL) for name in HTML
}
MAILS = tuple(name for name in HTML if name.startswith("mail/"))
PAGES = tuple(
    name
    for name in HTML
    if re.search(r"{% extends \"(?:layouts|errors)/", SOURCES[name])
    and not name.startswith("layouts/")
)
HEADINGS = re.compile(r"<h1\b|\bpage_head\(|heading=\"h1\"")
INLINE = {
    "script": re.compile(r"<script(?![^>]*\b(?:src=|type=\"application/json\"))"),
    "style": re.compile(r"<style\b|\sstyle="),
    "handler": re.compile(r"\son(?!ce=)[a-z]+=|\bhx-on|javascript:"),
}
MAX_LINES = 200
MAX_COLUMNS = 120
ONE_MESSAGE = re.compile(
    r"""(\{\{ |\w+=)?(_\()?("[^"]*"|'[^']*')\)?,?( \}\})?|(?!<)(\{\{ \w+ \}\}|[^{%])+"""
)
"""A line with nothing but a literal and the call that translates it, or the words of a message."""


def with_included(name: str) -> str:
    """The source of a template and of all that it includes."""
    source = SOURCES[name]
    for included in re.findall(r"{% include \"([^\"]+)\"", source):
        source += with_included(included)
    return source


def imports(source: str) -> list[tuple[str, str]]:
    """The statement and the local name of everything that a template imports."""
    found = [
        (statement, name.split(" as ")[-1].strip())
        for statement, names in re.findall(r"({% from \"[^\"]+\" import ([^%]+?) ?%})", source)
        for name in names.removesuffix(" with context").split(",")
    ]
    found += re.findall(r"({% import \"[^\"]+\" as (\w+)[^%]*%})", source)
    return found


def test_the_rules_apply_to_many_pages() -> None:
    assert {"errors/error.html", "portal/auth/form.html"} <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_heading_and_a_title(name: str) -> None:
    parts = re.split(r"{% (?:else|elif)\b", with_included(name))
    headings = max(len(HEADINGS.findall(part)) for part in parts)
    titles = len(re.findall(r"{% block title %}.+?{% endblock %}", SOURCES[name], re.DOTALL))
    assert (headings, titles) == (1, 1)


def test_every_template_that_another_names_exists() -> None:
    """Jinja looks for it only when the page is shown."""
    named = r"(?:{% (?:extends|include|from|import) )\"([^\"]+)\""
    missing = {
        (name, other)
        for name, source in SOURCES.items()
        for other in re.findall(named, source)
        if not (TEMPLATES / other).exists()
    }
    assert missing == set()


def test_no_template_imports_what_it_does_not_use() -> None:
    unused = {
        (name, imported)
        for name, source in SOURCES.items()
        for statement, imported in imports(source)
        if not re.search(rf"\b{imported}\s*[(.]", source.replace(statement, ""))
    }
    assert unused == set()


def test_no_template_needs_more_than_the_content_policy_allows() -> None:
    found = {
        (name, what)
        for name, source in SOURCES.items()
        if name not in MAILS  # mail programs read inline styles only
        for what, pattern in INLINE.items()
        if pattern.search(source)
    }
    assert found == set(), "browsers block these: use a class, and a file of static/js"


def test_only_markup_that_a_template_writes_itself_is_marked_safe() -> None:
    """``|safe`` behind a literal says nothing about a person's words; behind a value it would."""
    found = {
        (name, line.strip())
        for name, source in SOURCES.items()
        for line in source.splitlines()
        if re.search(r"(?<![\"'])\s*\|\s*safe\b", line)
    }
    assert found == set()


def test_every_form_that_changes_something_carries_the_token() -> None:
    bare = {
        (name, form[:80])
        for name, source in SOURCES.items()
        for form in re.findall(r"<form\b.*?</form>", source, re.DOTALL)
        if re.search(r"method=\"post\"", form, re.IGNORECASE) and "hidden_tag()" not in form
    }
    assert bare == set(), "begin these forms with {{ form.hidden_tag() }}"


def test_a_name_in_a_list_is_read_and_cut_off_in_its_own_direction() -> None:
    links = [
        (name, link)
        for name in HTML
        for link in re.findall(r'<a class="name"[^>]*>', SOURCES[name])
    ]
    assert len(links) > 20
    assert [link for link in links if 'dir="auto"' not in link[1]] == []


def test_no_template_is_too_long() -> None:
    long = {
        name: lines
        for name in HTML
        if (lines := len((TEMPLATES / name).read_text().splitlines())) > MAX_LINES
    }
    assert long == {}


def test_no_line_of_a_template_is_too_long_unless_one_message_stands_alone_on_it() -> None:
    long = {
        (name, line)
        for name in HTML
        for line in (TEMPLATES / name).read_text().splitlines()
        if len(line) > MAX_COLUMNS and not ONE_MESSAGE.fullmatch(line.strip())
    }
    assert long == set()


def test_each_component_says_what_it_is_for() -> None:
    silent = [
        path.name
        for path in sorted(Path(TEMPLATES / "components").glob("*.html"))
        if "{% macro" in path.read_text() and not path.read_text().startswith("{#")
    ]
    assert silent == []


def test_no_filter_of_ours_is_applied_to_a_constant(app: Flask) -> None:
    """Jinja works it out while it compiles the template: once, in the language of that moment."""
    ours = app.jinja_env.filters.keys() - FILTERS.keys()
    context = nodes.EvalContext(app.jinja_env)
    found = []
    for name in HTML:
        tree = app.jinja_env.parse(SOURCES[name])
        for applied in tree.find_all(nodes.Filter):
            with suppress(nodes.Impossible):
                applied.as_const(context)
                found += [f"{name}: {applied.name}"] if applied.name in ours else []
    assert found == []
