"""Walking through the portal from link to link."""

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl, urljoin, urlsplit

from tests.e2e.visits import Visit

ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=/)(\+|%2B)?[0-9]{8,15}(?=/|$)")
"""A UUID or a phone number in a path."""
NO_PAGES = re.compile(r"\.(csv|json|pdf|txt|xlsx)$|^/brand/|^/report/schedule/preview$")
"""Files, and an email that a page shows in a frame."""
MAX_PAGES = 600
KINDS_OF_A_PATH = 3


def kind_of(address: str) -> str:
    """Return the kind of a page: pages of one kind differ only in ids and in the values of their
    parameters."""
    parts = urlsplit(address)
    names = sorted({name for name, _ in parse_qsl(parts.query)})
    return "&".join([ID.sub("*", parts.path), *names])


def path_of(kind: str) -> str:
    """Return the path of a kind of page, without the names of its parameters."""
    return kind.partition("&")[0]


def walk(
    visit: Visit,
    start: str = "/",
    *,
    alike: int = 1,
    kinds_of_a_path: int = KINDS_OF_A_PATH,
    among: Sequence[str] = (),
) -> Iterator[tuple[str, int]]:
    """Open every kind of page that links lead to; yield each with its status, while it is shown.

    ``alike`` is how many pages of one kind are opened: a list's first rows represent the rest,
    unless one of their kind is ``among`` those to open in any case. ``kinds_of_a_path`` is how many
    sets of parameters of one path are opened.
    """
    page = visit.page
    page.goto(start)
    origin = f"{urlsplit(page.url).scheme}://{urlsplit(page.url).netloc}"
    first = [page.url, *(origin + path for path in among)]
    waiting, seen, kinds = deque(first), set(first), Counter(kind_of(url) for url in first)
    paths = Counter(path_of(kind) for kind in kinds)
    opened = 0
    while waiting:
        address = waiting.popleft()
        answer = page.goto(address)
        opened += 1
        assert opened <= MAX_PAGES, "the walk finds no end"
        yield address.removeprefix(origin), answer.status if answer else 0
        links: list[str] = page.evaluate(
            "() => [...document.querySelectorAll('a[href]')].map((link) => link.href)"
        )
        for link in links:
            target = urljoin(address, link.split("#")[0])
            kind = kind_of(target)
            ours = target.startswith(f"{origin}/") and not NO_PAGES.search(urlsplit(target).path)
            path = path_of(kind)
            wanted = kinds[kind] < alike if kinds[kind] else paths[path] < kinds_of_a_path
            if ours and target not in seen and wanted:
                seen.add(target)
                paths[path] += not kinds[kind]
                kinds[kind] += 1
                waiting.append(target)
