"""The web server compiles a template once, and again when the code has changed."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from flask import Flask, render_template

from app.portal.web import compiled_templates

Start = Callable[[], list[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def start(tmp_path: Path, folder: Path) -> Start:
    """Starts an application, shows its page, and returns the templates that were compiled."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "base.html").write_text("<p>{% block content %}{% endblock %}")
    (pages / "page.html").write_text(
        "{% extends 'base.html' %}{% block content %}Good morning{% endblock %}"
    )

    def started() -> list[str]:
        app = Flask(__name__, template_folder=str(pages))
        compiled_templates.cache_templates(app, folder)
        names: list[str] = []
        compile_template = app.jinja_env.compile

        def noted(source: str, name: str, filename: str) -> object:
            names.append(name)
            return compile_template(source, name, filename)

        app.jinja_env.compile = noted  # type: ignore[method-assign, assignment]
        with app.test_request_context():
            assert render_template("page.html") == "<p>Good morning"
        return names

    return started


def test_the_next_start_compiles_nothing(start: Start) -> None:
    assert start() == ["page.html", "base.html"]
    assert start() == []


def test_other_code_compiles_everything_again_and_leaves_nothing_behind(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start()
    (old,) = folder.iterdir()
    (tmp_path / "app").mkdir()
    monkeypatch.setattr(compiled_templates, "ROOT", tmp_path)
    assert start() == ["page.html", "base.html"]
    (new,) = folder.iterdir()
    assert new != old


@pytest.mark.parametrize("size", [0, 20, 40, 100])
def test_damaged_files_are_made_again(start: Start, folder: Path, size: int) -> None:
    start()
    for path in folder.glob("*/*"):
        os.truncate(path, size)
    assert start() == ["page.html", "base.html"]
    assert start() == []


def test_pages_do_without_the_folder(start: Start, folder: Path) -> None:
    folder.touch()
    assert start() == start() == ["page.html", "base.html"]


def test_pages_do_without_files_on_a_full_disk(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object, **_named: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("jinja2.bccache.tempfile.NamedTemporaryFile", full)
    assert start() == start() == ["page.html", "base.html"]
