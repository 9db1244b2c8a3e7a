"""Takes a picture of every screen in both brands, colour schemes and widths, and in each language.

``python -m scripts.screenshots [WORD …]`` (only URLs that contain one of the words) writes to
``screenshots/``, which git ignores; ``screenshots/index.html`` shows them side by side.
"""

import re
import sys
from html import escape
from itertools import product
from pathlib import Path

from playwright.sync_api import Page

from app.languages import DEFAULT, LANGUAGES
from scripts.demo_stack import at_work, showing, signed_in, visit
from tests.e2e.crawl import ID, walk
from tests.e2e.visits import Look

FOLDER = Path("screenshots")
LOOKS = [
    *(Look(*parts) for parts in product((0, 1), ("light", "dark"), (1360, 390))),
    *(Look(0, "light", *parts) for parts in product((1360, 390), LANGUAGES) if parts[1] != DEFAULT),
]
BEFORE_SIGNING_IN = ("/sign-in", "/p/{slug}/sign-in", "/p/{slug}/no-such-page")
LOADED_MS = 300
SHEET = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Every screen</title>
<style>body{{font:14px system-ui;margin:24px}}td,th{{padding:8px;vertical-align:top}}
img{{width:260px;border:1px solid #ddd}}img.phone{{width:110px}}</style>
<h1>{count} screens</h1><table><thead><tr><th>Screen</th>{heads}</tr></thead>
<tbody>{rows}</tbody></table></html>"""


def name_of(path: str) -> str:
    """Return organizations-settings-x-1 for /organizations/<id>/settings?x=1."""
    name = re.sub(r"[^a-z0-9]+", "-", ID.sub("", path.lower())).strip("-")
    return name[:80] or "overview"


def take(page: Page, look: Look, path: str) -> None:
    folder = FOLDER / str(look).replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(LOADED_MS)
    page.screenshot(path=folder / f"{name_of(path)}.png", full_page=True)


def sheet(names: list[str]) -> str:
    heads = "".join(f"<th>{look}</th>" for look in LOOKS)
    rows = []
    for name in names:
        cells = []
        for look in LOOKS:
            picture = f"{str(look).replace(' ', '-')}/{name}.png"
            kind = ' class="phone"' if look.width < 1000 else ""
            link = (
                f'<a href="{picture}"><img{kind} src="{picture}" alt="{escape(name)}"></a>'
                if (FOLDER / picture).exists()
                else ""
            )
            cells.append(f"<td>{link}</td>")
        rows.append(f"<tr><th>{escape(name)}</th>{''.join(cells)}</tr>")
    return SHEET.format(count=len(names), heads=heads, rows="".join(rows))


def main(terms: list[str]) -> None:
    names: list[str] = []
    with showing() as (stack, browser):
        among = [at_work(stack, browser, Look(brand, "light", 1360)) for brand in (0, 1)]
        for look in LOOKS:
            outside = visit(stack, browser, look)
            for pattern in BEFORE_SIGNING_IN:
                path = pattern.format(slug=outside.slug)
                if not terms or any(term in path for term in terms):
                    outside.page.goto(path)
                    outside.speak(look.language)
                    outside.page.reload()
                    take(outside.page, look, pattern.replace("{slug}", ""))
                    names.append(name_of(pattern.replace("{slug}", "")))
            outside.page.context.close()
            inside = signed_in(stack, browser, look)
            inside.speak(look.language)
            for path, _status in walk(inside, among=among[look.brand]):
                if not terms or any(term in path for term in terms):
                    take(inside.page, look, path)
                    names.append(name_of(path))
            inside.page.context.close()
            print(f"{look}: done", flush=True)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "index.html").write_text(sheet(sorted(set(names))))


if __name__ == "__main__":
    main(sys.argv[1:])
