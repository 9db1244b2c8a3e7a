"""The pages of checked lines and rows before users or organizations are created."""

import re
from html import unescape
from html.parser import HTMLParser


class _Fields(HTMLParser):
    """The fields of the page, as a browser sends them."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: dict[str, str] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "select":
            self._select = name
        elif tag == "option" and ("selected" in given or self._select not in self.typed):
            self.typed[self._select] = value
        elif tag == "input" and name and given.get("type") != "checkbox":
            self.typed[name] = value


def form_of(page: str, action: str = "/users/invite-many") -> dict[str, str]:
    """Return the form as sent without input; its URL begins with ``action``."""
    start = page.index(f'action="{action}')
    fields = _Fields()
    fields.feed(page[start : page.index("</form>", start)])
    fields.typed.pop("csrf_token")
    return fields.typed


def outcomes(page: str) -> dict[str, str]:
    """Return the state of each row of checked invitations by its number and its address."""
    ready = re.findall(
        r'<td class="end">(\d+)</td>\s*<td class="cell-name[^"]*"><span[^>]*>([^<]*)<.*?'
        r'<span class="badge[^>]*>([^<]*)<',
        page.replace("<wbr>", ""),
        re.DOTALL,
    )
    bad = {}
    for row in re.findall(r'class="row-number" data-label="Row">(.*?)</tr>', page, re.DOTALL):
        [email] = re.findall(r'name="email-\d+" value="([^"]*)"', row)
        problems = re.findall(r'class="reason"[^>]*>([^<]*)<', row)
        bad[f"{row.split('<')[0].strip()} {unescape(email)}"] = unescape(" ".join(problems))
    return {f"{number} {email}": words for number, email, words in ready} | bad
