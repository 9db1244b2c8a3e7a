"""Search: screens, organizations, users, campaigns and calls by a few words."""

from collections.abc import Sequence
from typing import Any

from flask import request, url_for

from app import languages
from app.extensions import caller, transaction
from app.languages import gettext
from app.models.folding import fold
from app.portal.search import blueprint, pages
from app.portal.search.highlight import highlighted
from app.portal.search.results import SHOWN, SearchGroup, SearchHit, record_groups
from app.portal.web import lists
from app.portal.web.fragments import render_page
from app.portal.web.navigation import may_open, navigation_for
from app.services import search as service_search
from app.services.near_names import is_near


@blueprint.get("/search")
def search() -> str:
    """Return the page, or the results for its own field, or the short list below the top bar's
    field."""
    query = lists.text_filter("q") or ""
    is_own_field = request.headers.get("HX-Target") == "found"
    return render_page(
        "portal/search/page.html",
        "portal/search/page.html" if is_own_field else "portal/search/_quick.html",
        query=query,
        highlighted=lambda text: highlighted(str(text), query),
        **_results_context(query),
        all_url=url_for("portal.search.search", q=query),
    )


def _results_context(query: str) -> dict[str, Any]:
    """Return the results for the words or, if there are none, those with similar names."""
    groups = _find_groups(query) if query else []
    near = _find_groups(query, nearly=True) if query and not groups else []
    return {"groups": groups or near, "are_near": bool(near)}


def _find_groups(query: str, *, nearly: bool = False) -> list[SearchGroup]:
    """Return the matching screens, actions and records, or those whose names are ``nearly`` the
    words."""
    find = service_search.near if nearly else service_search.find
    actions = _matching_pages(pages.ACTIONS, query, nearly)[:SHOWN]
    with transaction(read_only=True) as session:
        records = record_groups(session, find(session, caller(), query, SHOWN), query)
    groups = (
        _screen_group(query, nearly),
        SearchGroup(gettext("Actions"), "bolt", actions),
        *records,
    )
    return [group for group in groups if group.hits]


def _screen_group(query: str, nearly: bool) -> SearchGroup:
    with languages.using_language(languages.DEFAULT):
        in_english = {
            row.url: str(row.label) for group in navigation_for(caller()) for row in group.rows
        }
    is_match = is_near if nearly else _contains
    in_sidebar = [
        SearchHit(row.label, group.label or "", row.url)
        for group in navigation_for(caller())
        for row in group.rows
        if any(is_match(str(label), query) for label in (row.label, in_english[row.url]))
    ]
    urls = {hit.url for hit in in_sidebar}
    other_pages = [
        hit for hit in _matching_pages(pages.PAGES, query, nearly) if hit.url not in urls
    ]
    return SearchGroup(gettext("Screens"), "layout-dashboard", [*in_sidebar, *other_pages][:SHOWN])


def _contains(text: str, query: str) -> bool:
    return fold(query) in fold(text)


def _matching_pages(
    searchable_pages: Sequence[pages.SearchablePage], query: str, nearly: bool
) -> list[SearchHit]:
    """Return those that the caller may open and whose words begin, or nearly, with the searched
    words."""
    begin = is_near if nearly else _have_prefixes
    matches = [
        page
        for page in searchable_pages
        if may_open(caller(), page.endpoint) and begin(_searchable_text(page), query)
    ]
    label = " ".join(_split_words(query))
    matches.sort(key=lambda page: label not in " ".join(_split_words(page.label)))
    return [
        SearchHit(
            page.label, page.within, url_for(page.shown_on or page.endpoint, _anchor=page.anchor)
        )
        for page in matches
    ]


def _have_prefixes(text: str, query: str) -> bool:
    return all(f" {word}" in text for word in _split_words(query))


def _split_words(text: str) -> list[str]:
    return fold(str(text)).replace("-", " ").split()


def _searchable_text(page: pages.SearchablePage) -> str:
    """Return the words that find the page, in the current language and in English."""
    local_text = f"{page.label} {page.keywords}"
    with languages.using_language(languages.DEFAULT):
        words = _split_words(f"{local_text} {page.label} {page.keywords}")
    return "".join(f" {word}" for word in words)
