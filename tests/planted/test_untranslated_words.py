"""Every word of a page is data, or comes from a catalogue.

The catalogue of this test puts ⟦ ⟧ around each message, and all stored texts are markers: what is
neither was not given to the translators.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from zoneinfo import available_timezones

import pytest
from babel import Locale
from babel.numbers import list_currencies
from babel.support import NullTranslations

from app import languages
from app.enums import TIER_NAMES
from app.portal.web import i18n
from app.services.branding.brand import SOCIAL_NAMES
from tests.planted.conftest import WALLS
from tests.planted.crawl import Crawl, CrawlRequest, Visitor
from tests.planted.planting import UUIDS

pytestmark = pytest.mark.alternating

SPOKEN = "title", "aria-label", "placeholder", "alt", "data-busy", "data-label", "content"
SILENT = {"script", "style", "code", "pre", "kbd", "template", "svg", "textarea"}
VOID = {"input", "meta", "link", "br", "hr", "img", "path", "use", "wbr", "source", "col"}
WORDS = re.compile(r"[^\W\d_]{2,}")
PARTS = re.compile(r" · |: |, | \(|\)|\n")
CREDENTIALS = re.compile(r"\b(?:pp[ck]|msg)_\w+")
ADDRESSES = re.compile(
    r"(?:https?|sip):\S*|[\w.+-]+@[\w.-]*|(?:\w+\.)*\w+\.example\b|\w+\.csv\b|qxown\w+…\w+"
)
GERMAN = Locale("de")
CALENDAR = {
    name.rstrip(".")
    for names in (GERMAN.months, GERMAN.days)
    for widths in names.values()
    for width in widths.values()
    for name in width.values()
}
SAME_EVERYWHERE = {
    word
    for text in (
        *CALENDAR,
        *available_timezones(),
        *GERMAN.territories.values(),
        *list_currencies(),
        *languages.LANGUAGES.values(),
        *TIER_NAMES.values(),
        *SOCIAL_NAMES.values(),
        *(
            "UTC ms MB kB GB CSV XLSX PDF API SIP TCP TLS UDP Twilio Stripe Excel Python curl",
            "ffffff CNAME TXT SPF DKIM DMARC",
        ),
    )
    for word in re.findall(r"[^\W\d_]{2,}", text)
}
"""Words that are the same on pages of all languages: dates, places, units, names of products."""


class BracketedCatalogue(NullTranslations):
    """A catalogue that shows where it was asked."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"

    def pgettext(self, context: str, message: str) -> str:  # noqa: ARG002 - the library's signature
        return f"⟦{message}⟧"

    def npgettext(self, context: str, singular: str, plural: str, num: int) -> str:  # noqa: ARG002
        return self.ngettext(singular, plural, num)

    ugettext, ungettext, upgettext, unpgettext = gettext, ngettext, pgettext, npgettext


class Spoken(HTMLParser):
    """The words of a page outside of ⟦ ⟧, by node and attribute."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[str] = []
        self._silent: list[str] = []
        self._inside = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if not self._silent:
            names = SPOKEN if tag != "meta" else ()
            self.found += [rest for name in names if (rest := outside(given.get(name) or ""))]
        if tag in VOID:
            return
        if self._silent or tag in SILENT or given.get("translate") == "no":
            self._silent.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._silent and self._silent[-1] == tag:
            self._silent.pop()

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        words = ""
        for part in re.split("([⟦⟧])", data):
            if part in ("⟦", "⟧"):
                self._inside += 1 if part == "⟦" else -1
            elif not self._inside:
                words += f" {part}"
        self.found.append(words.strip())


def outside(text: str) -> str:
    """Return the text outside of the outermost ⟦ ⟧."""
    depth, kept = 0, ""
    for character in text:
        depth += (character == "⟦") - (character == "⟧")
        kept += character if depth == 0 and character != "⟧" else ""
    return kept.strip()


def stored(crawl: Crawl) -> set[str]:
    """The texts of the partner's rows, also those within JSON."""
    found: set[str] = set()

    def add(value: object) -> None:
        if isinstance(value, str):
            found.update(part.strip() for part in (value, *PARTS.split(value)))
        elif isinstance(value, dict):
            found.add(f"{value.get('firstName')} {value.get('lastName')}")
            for each in (*value, *value.values()):
                add(each)
        elif isinstance(value, list | tuple):
            for each in value:
                add(each)

    for rows in crawl.own.rows.values():
        for row in rows:
            add([*row.values()])
    return found | {"tests", *(visitor.name for visitor in crawl.visitors)}


def untranslated(html: str, crawl: Crawl, data: set[str]) -> Iterator[str]:
    """The texts of a page with words that are neither data nor from the catalogue."""
    for text in Spoken(html.replace("<wbr>", "")).found:
        parts = (part.strip(" :()“”\n") for part in PARTS.split(text))
        unknown = " ".join(part for part in parts if part not in data)
        for known in (ADDRESSES, UUIDS, CREDENTIALS, crawl.own.marks.pattern):
            unknown = known.sub(" ", unknown)
        if any(word not in SAME_EVERYWHERE for word in WORDS.findall(unknown)):
            yield text


@pytest.fixture
def bracketed_catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    catalogue = BracketedCatalogue()
    monkeypatch.setattr(languages, "_catalogue", lambda _code: catalogue)
    monkeypatch.setattr(languages, "best_tag", lambda _languages, _accepted=(): "de")
    i18n.fixed_markup.cache_clear()
    yield
    i18n.fixed_markup.cache_clear()


@pytest.mark.alternating
@pytest.mark.crawl
@pytest.mark.usefixtures("bracketed_catalogue")
@pytest.mark.parametrize("wall", WALLS[:1])
def test_every_word_of_a_page_is_in_the_catalogues(crawl: Crawl) -> None:
    found: dict[str, set[str]] = {}
    data = stored(crawl)
    people = [visitor for visitor in crawl.visitors if "portal" in visitor.blueprints]
    for visitor in people:
        for asked, html in pages(crawl, visitor):
            for text in untranslated(html, crawl, data):
                found.setdefault(text, set()).add(asked.path)
    assert {text: min(paths) for text, paths in sorted(found.items())} == {}


def pages(crawl: Crawl, visitor: Visitor) -> Iterator[tuple[CrawlRequest, str]]:
    for _visitor, asked in crawl._walk(visitor):
        answer = visitor.ask(asked)[-1]
        crawl.learn(asked, answer)
        if answer.mimetype == "text/html":
            yield asked, answer.text
