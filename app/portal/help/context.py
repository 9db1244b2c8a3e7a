"""The help of the current page, for the component of a page's head."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from flask import Flask, current_app, request, url_for
from werkzeug.exceptions import HTTPException

from app.extensions import caller
from app.portal.help.subpages import OF_SUBPAGES, SAME_HELP
from app.portal.help.topics import OF_OPERATORS, TOPICS, HelpTopic
from app.portal.web.current_user import known_user
from app.portal.web.navigation import may_open


@dataclass(frozen=True, slots=True)
class PageHelp:
    """Two sentences, and a link if the user may open its page."""

    summary: str
    details: str
    label: str
    url: str | None


def page_help() -> PageHelp | None:
    """Return the help of the current page; None if it has none."""
    if known_user() is None:
        return None
    match = next(
        ((page, topic) for page in _candidate_pages() if (topic := _find_topic(page))), None
    )
    if match is None:
        return None
    page_endpoint, topic = match
    opens = topic.endpoint != page_endpoint and may_open(caller(), topic.endpoint)
    url = url_for(topic.endpoint, _anchor=topic.anchor) if opens else None
    return PageHelp(topic.summary, topic.details, topic.label, url)


def _find_topic(page: str) -> HelpTopic | None:
    endpoint = SAME_HELP.get(page, page)
    topic = TOPICS.get(endpoint) or OF_SUBPAGES.get(endpoint)
    return OF_OPERATORS.get(endpoint, topic) if caller().partner_id is None else topic


def _candidate_pages() -> Iterator[str]:
    """Return the endpoint of the current page; for a refused form, that of its page: the same path
    or the nearest one above it."""
    yield request.endpoint or ""
    path = request.path if request.method == "POST" else ""
    urls = current_app.create_url_adapter(request)
    while path and urls is not None:
        with suppress(HTTPException):
            yield urls.match(path, method="GET")[0]
        path = path.rpartition("/")[0]


def register(app: Flask) -> None:
    app.jinja_env.globals["page_help"] = page_help
