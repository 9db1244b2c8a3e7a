"""Render the text and the brand of a mail as HTML and plain text.

Mail programs read tables and inline colours, so the style sheet is written into the elements; rules
that only some of them read (dark mode) stay in the head.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from app import languages
from app.config import ROOT
from app.languages.dates import NO_BREAK
from app.models import LinkPurpose, Mail, MailKind, new_id, utcnow
from app.services.auth import one_time_links
from app.services.branding.brand import Brand
from app.services.branding.shades import brand_shades
from app.services.mails.facts import MailContext, MailTexts
from app.services.mails.texts import TEXTS_BY_KIND

if TYPE_CHECKING:
    from css_inline import CSSInliner

_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]*\w")


def _make_breakable(text: str) -> Markup:
    """Return the words with email addresses that break after their @ and dots."""
    return Markup(_ADDRESS.sub(_with_breaks, str(escape(text))))  # noqa: S704 - escaped


def _with_breaks(address: re.Match[str]) -> str:
    return re.sub(r"([@.])", r"\1<wbr>", address[0])


_TEMPLATES = Environment(
    loader=FileSystemLoader(ROOT / "templates"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)
_TEMPLATES.install_gettext_callables(**languages.jinja_callables())  # type: ignore[attr-defined]  # the extension's
_TEMPLATES.filters["breakable"] = _make_breakable


@dataclass(frozen=True, slots=True)
class RenderedMail:
    subject: str
    text: str
    html: str


def render(brand: Brand, texts: MailTexts, site: str) -> RenderedMail:
    """Return the mail in the brand's light shades, with its dark ones for programs that
    use them. ``site`` is the origin of its pictures."""
    shades = brand_shades(brand.colour)
    variables = {
        "brand": brand,
        "texts": texts,
        "language": languages.language(),
        "light": shades.light,
        "dark": shades.dark,
        "logo": f"{site}{brand.logo_url}" if brand.logo_url else None,
    }
    page = _TEMPLATES.get_template("mail/mail.html").render(variables)
    text = _TEMPLATES.get_template("mail/mail.txt").render(variables)
    subject, text = (each.replace(NO_BREAK, " ") for each in (texts.subject, text))
    return RenderedMail(subject, text, _get_inliner().inline(page))


def preview(brand: Brand, origin: str, mail: Mail, *, link: str = "") -> RenderedMail:
    """Return a mail as a reader without an account would get it, in the current language. Links
    lead to ``origin``."""
    pages = f"{origin}/p/{quote(brand.slug)}" if brand.slug else origin
    context = MailContext(
        mail=mail,
        brand=brand,
        email=mail.to or "ada@example.com",
        zone="UTC",
        site=origin,
        recover_url=f"{pages}/forgot-password",
        link=f"{pages}/{link}" if link else "",
        link_ends=mail.created_at + one_time_links.LIFETIME[LinkPurpose.INVITATION],
    )
    return render(brand, TEXTS_BY_KIND[MailKind(mail.kind)](context), origin)


def sample(brand: Brand, origin: str) -> RenderedMail:
    """Return a sample invitation to preview a brand. Its link on ``origin`` looks like a new
    one."""
    kind = MailKind.INVITATION.value
    invitation = Mail(id=new_id(), kind=kind, details={}, created_at=utcnow())
    return preview(brand, origin, invitation, link="invitation/sample")


@cache
def _get_inliner() -> "CSSInliner":
    from css_inline import CSSInliner

    return CSSInliner(keep_at_rules=True, load_remote_stylesheets=False)
