"""A page in a user's browser, with all invisible errors on it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    Response,
    expect,
)

from app.portal.web.i18n import LANGUAGE_COOKIE

AXE = Axe()
VISIBLE_WORDS = "label-content-name-mismatch"
"""The rule that a button's name has its visible words, which axe skips by default."""
NAMED_BY_REDOC = {"/api/docs"}
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  window.reportViolation(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
"""
CUT_OFF = """
() => {
  const pen = document.createElement("canvas").getContext("2d");
  const isCut = (field) => {
    const style = getComputedStyle(field);
    const around = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    pen.font = style.font;
    return pen.measureText(field.placeholder).width > field.clientWidth - around;
  };
  return [...document.querySelectorAll("input[placeholder]")]
    .filter((field) => field.checkVisibility() && field.clientWidth && isCut(field))
    .map((field) => field.outerHTML.slice(0, 160));
}
"""
SQUEEZED = """
() => {
  const ofOwn = (element) =>
    [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.data.trim().length > 8,
    );
  const box = (element) => element.getBoundingClientRect();
  const isHidden = (element) =>
    element && (box(element).width <= 1 || isHidden(element.parentElement));
  const isSqueezed = (element) =>
    box(element).width < 40 && box(element).height > 60 && !isHidden(element);
  return [...document.querySelectorAll("main *")]
    .filter((element) => ofOwn(element) && element.checkVisibility() && isSqueezed(element))
    .slice(0, 5)
    .map((element) => element.outerHTML.slice(0, 160));
}
"""
"""Text in a column of a few letters."""
OVERFLOW = """
() => {
  const page = document.scrollingElement;
  const right = (element) => element.getBoundingClientRect().right;
  // A table too wide for its column covers the next one.
  const wide = [...document.querySelectorAll("main table")].filter(
    (table) =>
      getComputedStyle(table.parentElement).overflowX === "visible" &&
      right(table) > right(table.parentElement) + 1,
  );
  // On phones the figures of a row stand beside its name, unless they are in lines below it.
  const left = (element) => element.getBoundingClientRect().left;
  const figures = "main .table-lines:not(.table-above) td.cell-name ~ .phone-first";
  wide.push(
    ...[...document.querySelectorAll(figures)].filter(
      (figure) => {
        const name = figure.parentElement.querySelector(".cell-name");
        return getComputedStyle(name).display === "block" && right(name) > left(figure) + 1;
      },
    ),
  );
  // Text that its box doesn't hold covers the line below.
  wide.push(
    ...[...document.querySelectorAll("main .cell-name > *")].filter(
      (line) =>
        getComputedStyle(line).overflowY === "visible" &&
        line.clientHeight &&
        line.scrollHeight > line.clientHeight + 1,
    ),
  );
  // A table of two columns fills the width of a phone.
  wide.push(
    ...[...document.querySelectorAll("main table:not(.table-lines, .table-history)")].filter(
      (table) =>
        page.clientWidth < 500 &&
        table.checkVisibility() &&
        !table.closest("#reference") && // Redoc's own
        table.rows[0]?.cells.length === 2 &&
        right(table.rows[0]) < right(table.parentElement) - 1,
    ),
  );
  if (page.scrollWidth > page.clientWidth) {
    wide.push(
      ...[...document.body.querySelectorAll("*")].filter(
        (element) => right(element) > page.clientWidth + 1,
      ),
    );
  }
  return wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 160));
}
"""

SHAPE = f"""
async () => {{
  await document.fonts.ready;
  return {{
    wide: ({OVERFLOW})(),
    cut: ({CUT_OFF})(),
    squeezed: ({SQUEEZED})(),
    headings: document.querySelectorAll("h1").length,
  }};
}}
"""


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a page; ``brand`` is the position of the partner in the demo."""

    brand: int
    scheme: str
    width: int
    language: str = "en"

    def __str__(self) -> str:
        language = "" if self.language == "en" else f" {self.language}"
        return f"{('purple', 'yellow')[self.brand]} {self.scheme} {self.width}{language}"


def slug_of(partner: Mapping[str, Any]) -> str:
    """Return the partner's word in URLs; the demo's domains are portal.<word>.example."""
    return str(partner["domain"]).split(".")[1]


@dataclass
class Visit:
    """One browser of one person; ``slug`` is the partner's word in URLs, empty for the neutral
    pages. ``problems`` are those of the console, the network and the content policy; a page that is
    refused on purpose (4xx as the answer to a navigation) is none."""

    page: Page
    slug: str
    problems: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        context.expose_function("reportViolation", self._violated)
        context.add_init_script(REPORT_VIOLATIONS)
        self.page.on("console", self._note_console_message)
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._answered)
        self.page.on("dialog", self.asked)

    def speak(self, language: str) -> None:
        """Choose the language as a visitor on the sign-in page."""
        address = "/".join(self.page.url.split("/")[:3])
        self.page.context.add_cookies(
            [{"name": LANGUAGE_COOKIE, "value": language, "url": address}]
        )

    def sign_in(self, person: Mapping[str, Any], then: str | None = None) -> None:
        """Sign in on the partner's page, which leads to ``then`` or to the overview."""
        own = f"/p/{self.slug}" if self.slug else ""
        self.page.goto(f"{own}/sign-in" + (f"?next={then}" if then else ""))
        self.page.get_by_label("Email").fill(person["email"])
        self.page.get_by_label("Password").fill(person["password"])
        self.page.get_by_role("button", name="Sign in").click()

    def layout(self) -> list[str]:
        """Return the problems of the page's layout: sideways scrolling, truncated text of a field,
        none or several headings. The layout is checked once styles and fonts are loaded."""
        self.page.wait_for_load_state("load")
        for _patience in range(20):  # charts are drawn again a moment after the window has changed
            shape = self.page.evaluate(SHAPE)
            if not shape["wide"]:
                break
            self.page.wait_for_timeout(100)
        found = [f"{self._where}: too wide: {html}" for html in shape["wide"]]
        found += [f"{self._where}: words cut off: {html}" for html in shape["cut"]]
        found += [f"{self._where}: text in a narrow column: {html}" for html in shape["squeezed"]]
        if shape["headings"] != 1:
            found.append(f"{self._where}: {shape['headings']} h1")
        return found

    def findings(self, within: str | None = None) -> list[str]:
        """Return the problems of the current page, in its layout and by axe; axe checks the parts
        that the selector ``within`` finds, or the whole page."""
        found = self.layout()
        is_ours = urlsplit(self.page.url).path not in NAMED_BY_REDOC
        options = {
            "resultTypes": ["violations"],
            "iframes": False,  # they hold no axe, and mails in their frame refuse its messages
            "rules": {VISIBLE_WORDS: {"enabled": is_ours}},
        }
        for violation in AXE.run(self.page, within, options).response["violations"]:
            nodes = [
                f"{node['html'][:160]} ({node.get('failureSummary', '')})"
                for node in violation["nodes"][:3]
            ]
            found.append(f"{self._where}: {violation['id']}: {'; '.join(nodes)}")
        return found

    def faults(self, script: bool) -> list[str]:
        """Return the `findings`; without script, which axe needs, those of `layout`."""
        return self.findings() if script else self.layout()

    @property
    def _where(self) -> str:
        size = self.page.viewport_size
        return f"{urlsplit(self.page.url).path} at {size and size['width']}"

    def _violated(self, words: str) -> None:
        self.problems.append(f"content policy: {words}")

    def _note_console_message(self, message: ConsoleMessage) -> None:
        # These repeat the findings of `_answered` and `_failed`; htmx's are about aborted requests.
        repeated = ("Failed to load resource", "htmx:sendAbort", "htmx:afterRequest")
        known = any(text in message.text for text in repeated)
        if message.type in {"error", "warning"} and not known:
            self.problems.append(f"console on {self.page.url}: {message.text}")

    def _failed(self, request: Request) -> None:
        # A page that is left aborts its pending requests.
        if request.failure != "net::ERR_ABORTED":
            self.problems.append(f"{request.url}: {request.failure}")

    def _answered(self, response: Response) -> None:
        on_purpose = response.request.is_navigation_request() and response.status < 500
        if response.status >= 400 and not on_purpose:
            self.problems.append(f"{response.url}: {response.status}")

    def asked(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def heading(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(words)


def sound(visit: Visit, script: bool) -> None:
    assert visit.faults(script) == []
