"""The help of the current page, for the component of a page's head."""

from dataclasses import dataclass

from flask import Flask, request, url_for

from app.extensions import caller
from app.portal.help.subpages import OF_SUBPAGES, SAME_HELP
from app.portal.help.topics import OF_OPERATORS, TOPICS
from app.portal.web.current_user import known_user
from app.portal.web.navigation import may_open


@dataclass(frozen=True, slots=True)
class PageHelp:
    """Two sentences, and a link where the user may open its page."""

    what: str
    more: str
    label: str
    url: str | None


def page_help() -> PageHelp | None:
    """Return the help of the current page; None where there is none."""
    if known_user() is None:
        return None
    here = request.endpoint or ""
    endpoint = SAME_HELP.get(here, here)
    topic = TOPICS.get(endpoint) or OF_SUBPAGES.get(endpoint)
    if caller().partner_id is None:
        topic = OF_OPERATORS.get(endpoint, topic)
    if topic is None:
        return None
    opens = topic.endpoint != here and may_open(caller(), topic.endpoint)
    url = url_for(topic.endpoint, _anchor=topic.anchor) if opens else None
    return PageHelp(topic.what, topic.more, topic.label, url)


def register(app: Flask) -> None:
    app.jinja_env.globals["page_help"] = page_help
