"""What pages say, without the line breaks of their templates, which no browser shows, and files."""

import csv
import io
import re
from html import unescape

from werkzeug.test import TestResponse

_AS_IT_IS = re.compile(r"(<(textarea|pre|script)\b.*?</\2>)", re.DOTALL)
_TAG = re.compile(r"<[a-z/](?:\"[^\"]*\"|[^<>\"])*>")
_IN_TAG = re.compile(r"(\"[^\"]*\")|\s*\n\s*")
_BREAK = r"(?:\s*\n\s*|\s{2,})"
_INLINE = r"(?:a|code|del|em|ins|span|strong|svg|time)\b"
_OPENING = r"<(?!(?:br|col|hr|img|input|link|meta)\b)[a-z](?:\"[^\"]*\"|[^<>\"])*>"
_BEGINS = re.compile(rf"({_OPENING}){_BREAK}(?=[^<\s]|<{_INLINE})")
_ENDS = re.compile(rf"([^\s>]|</{_INLINE}>){_BREAK}(?=</)")
_WITHIN = re.compile(r"(?<=[^\s>])(?:\s*\n +|\s{2,})(?=[^\s<])")


def without_breaks(page: str) -> str:
    """Return the page with the lines of a tag and of a sentence joined, and without line breaks at
    the beginning and the end of an element. Those between elements stay."""
    parts = _AS_IT_IS.split(page)
    parts[::3] = map(_joined, parts[::3])
    del parts[2::3]  # names of tags
    return "".join(parts)


def _joined(page: str) -> str:
    page = _TAG.sub(lambda tag: _on_one_line(tag[0]), page)
    page = _ENDS.sub(r"\1", _BEGINS.sub(r"\1", page))
    parts = re.split(r"(<[^<>]*>)", page)
    parts[::2] = (_WITHIN.sub(" ", part) for part in parts[::2])
    return "".join(parts)


def _on_one_line(tag: str) -> str:
    joined = _IN_TAG.sub(lambda found: found[1] or " ", tag)
    return re.sub(r"\s+>$", ">", joined)


class PageResponse(TestResponse):
    """What a browser without script receives."""

    @property
    def text(self) -> str:
        text = super().text
        return without_breaks(text) if self.mimetype == "text/html" else text


def version_in(html: str) -> str:
    """Return the version in the form of a page."""
    found = re.search(r'name="version" value="(\d+)"', html)
    assert found
    return found.group(1)


def error_at(field: str, html: str) -> str:
    """Return the error of a field, as HTML; empty without one."""
    return html.partition(f'id="{field}-error"')[2].partition("</p>")[0]


def rows_of(text: str) -> list[list[str]]:
    """Return the rows of a CSV file."""
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))


def body_text(answer: TestResponse) -> str:
    """Return the text of a page, without that of its head."""
    text = re.sub(r"(?s)<(script|style|head).*?</\1>|<[^>]+>", " ", answer.text)
    return re.sub(r"\s+", " ", unescape(text))


def text_of(html: str) -> str:
    """Return the text between the tags, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
