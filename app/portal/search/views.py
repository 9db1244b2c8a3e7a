"""Search: screens, organizations, users, campaigns and calls by a few words."""

from collections.abc import Sequence
from typing import Any

from flask import request, url_for

from app import languages
from app.extensions import caller, transaction
from app.languages import gettext
from app.models.folding import fold
from app.portal.search import pages
from app.portal.search.highlight import highlighted
from app.portal.search.results import SHOWN, SearchGroup, SearchHit, record_groups
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.fragments import render_page
from app.portal.web.navigation import may_open, navigation_for
from app.services import search as service_search
from app.services.near_names import is_near


@portal.get("/find", endpoint="find")
def find_things() -> str:
    """Return the page, or the results for its own field, or the short list below the top bar's
    field."""
    words = lists.text_filter("q") or ""
    is_own_field = request.headers.get("HX-Target") == "found"
    return render_page(
        "portal/search/page.html",
        "portal/search/page.html" if is_own_field else "portal/search/_quick.html",
        words=words,
        highlighted=lambda text: highlighted(str(text), words),
        **_results(words),
        all_url=url_for("portal.find", q=words),
    )


def _results(words: str) -> dict[str, Any]:
    """Return the results for the words or, if there are none, those with similar names."""
    groups = _found(words) if words else []
    near = _found(words, nearly=True) if words and not groups else []
    return {"groups": groups or near, "are_near": bool(near)}


def _found(words: str, *, nearly: bool = False) -> list[SearchGroup]:
    """Return the matching screens, actions and records, or those whose names are ``nearly`` the
    words."""
    find = service_search.near if nearly else service_search.find
    actions = _pages(pages.ACTIONS, words, nearly)[:SHOWN]
    with transaction(read_only=True) as session:
        records = record_groups(session, find(session, caller(), words, SHOWN), words)
    groups = (_screens(words, nearly), SearchGroup(gettext("Actions"), "bolt", actions), *records)
    return [group for group in groups if group.hits]


def _screens(words: str, nearly: bool) -> SearchGroup:
    with languages.using_language(languages.DEFAULT):
        in_english = {
            row.url: str(row.label) for group in navigation_for(caller()) for row in group.rows
        }
    has = is_near if nearly else _has
    in_sidebar = [
        SearchHit(row.label, group.label or "", row.url)
        for group in navigation_for(caller())
        for row in group.rows
        if any(has(str(label), words) for label in (row.label, in_english[row.url]))
    ]
    urls = {hit.url for hit in in_sidebar}
    others = [hit for hit in _pages(pages.PAGES, words, nearly) if hit.url not in urls]
    return SearchGroup(gettext("Screens"), "layout-dashboard", [*in_sidebar, *others][:SHOWN])


def _has(text: str, words: str) -> bool:
    return fold(words) in fold(text)


def _pages(of: Sequence[pages.SearchablePage], words: str, nearly: bool) -> list[SearchHit]:
    """Return those that the caller may open and whose words begin, or nearly, with the searched
    words."""
    begin = is_near if nearly else _begin
    listed = [
        page for page in of if may_open(caller(), page.endpoint) and begin(_words_of(page), words)
    ]
    label = " ".join(_parts(words))
    listed.sort(key=lambda page: label not in " ".join(_parts(page.label)))
    return [SearchHit(page.label, page.within, _url(page)) for page in listed]


def _begin(text: str, words: str) -> bool:
    return all(f" {word}" in text for word in _parts(words))


def _url(page: pages.SearchablePage) -> str:
    return url_for(page.shown_at or page.endpoint, _anchor=page.anchor)


def _parts(words: str) -> list[str]:
    return fold(str(words)).replace("-", " ").split()


def _words_of(page: pages.SearchablePage) -> str:
    """Return the words that find the page, in the current language and in English."""
    here = f"{page.label} {page.words}"
    with languages.using_language(languages.DEFAULT):
        parts = _parts(f"{here} {page.label} {page.words}")
    return "".join(f" {part}" for part in parts)
