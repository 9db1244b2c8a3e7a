"""Shared by the studio's pages: the draft or, without one, the published version."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from flask import render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from app.enums import ImageType
from app.extensions import caller, settings
from app.languages import LANGUAGES, gettext, language, lazy_gettext, pgettext
from app.models import BrandImage, OutsidePicture, Partner
from app.portal.branding.forms import BrandingForm
from app.portal.branding.labels import (
    FIELD_LABELS,
    PICTURE_FIELDS,
    VERDICTS,
    BrandValue,
    image_format,
    latest_version_message,
    picture_failed_message,
    picture_waiting_message,
    value_lines,
    value_text,
)
from app.portal.web.confirmation import ConfirmationPage, discard_draft_confirmation
from app.portal.web.editing import EditConflict, EditDifference
from app.portal.web.page_context import page_brand
from app.portal.web.user_timezone import zone
from app.services import assistants, partners
from app.services.branding import drafts, images, versions
from app.services.branding.brand import DARK_LOGO, Brand, of_content, picture_urls
from app.services.branding.chat_colours import areas
from app.services.branding.contrast_report import contrast_report
from app.services.branding.surfaces import missing, surfaces
from app.services.mails.sending import origin_of
from app.services.partners.outside_pictures import copy_of, path_of, stored_hash
from app.validation.colours import is_colour

THEMES = (("light", lazy_gettext("Light")), ("dark", lazy_gettext("Dark")))
WIDTHS = (("wide", lazy_gettext("Wide")), ("phone", lazy_gettext("Phone")))
MAX_CHAT_ASSISTANTS = 200


@dataclass(frozen=True, slots=True)
class DraftPicture:
    """A picture of the draft: its URL, where it is served, and its file; for one on another host
    that is the copy, which may be waiting."""

    url: str
    path: str | None
    file: BrandImage | OutsidePicture | None
    is_outside: bool = False

    @property
    def is_waiting(self) -> bool:
        copy = self.file
        return isinstance(copy, OutsidePicture) and copy.checked_at is None and not copy.problem


class BrandingStudio:
    """The caller's partner with draft and published version; its pictures and assistants are read
    when a page shows them."""

    def __init__(self, session: Session):
        if current_user.partner is not None:
            partners.remember(session, caller(), current_user.partner)
        self.session = session
        self.partner: Partner = partners.get_own(session, caller())
        self.draft, newest = versions.draft_and_latest(session, self.partner)
        self.latest = newest.version if newest else None
        self.before_latest = newest.before if newest else None
        self.published_content = drafts.published_content(session, caller(), self.partner)
        self.content: dict[str, Any] = self.draft.content if self.draft else self.published_content
        self.changes = drafts.differing_fields(self.content, self.published_content)

    @cached_property
    def assistants(self) -> dict[str, str]:
        """The names of the assistants for the chat, by id."""
        rows = assistants.with_organizations(
            self.session, caller(), MAX_CHAT_ASSISTANTS, also=self.content["chatAgentId"]
        )
        return {
            str(assistant.id): f"{assistant.name}, {organization.name}"
            for assistant, organization in rows
        }

    @cached_property
    def pictures(self) -> dict[str, DraftPicture]:
        """The pictures by kind; those uploaded come in one query."""
        urls = {kind: url for kind, url in picture_urls(self.content).items() if url}
        hashes = {sha256 for url in urls.values() if (sha256 := stored_hash(url))}
        uploaded = images.uploaded_pictures(self.session, caller(), hashes)
        return {kind: self._picture(kind, url, uploaded) for kind, url in urls.items()}

    @property
    def brand(self) -> Brand:
        return of_content(self.partner, self.content)

    @property
    def published_brand(self) -> Brand:
        return of_content(self.partner, self.published_content)

    def _picture(self, kind: str, url: str, uploaded: Mapping[str, BrandImage]) -> DraftPicture:
        if sha256 := stored_hash(url):
            return DraftPicture(url, urlsplit(url).path, uploaded.get(sha256))
        copy = None if kind == DARK_LOGO else copy_of(self.partner, ImageType(kind), url)
        path = path_of(copy.sha256) if copy and copy.sha256 else None
        return DraftPicture(url, path, copy, is_outside=True)

    def page(
        self,
        form: BrandingForm,
        picture_problems: dict[str, str] | None = None,
    ) -> str:
        return render_template(
            "portal/branding/page.html",
            **self._context(form) | {"picture_problems": picture_problems or {}},
        )

    def fragment(self, form: BrandingForm) -> str:
        """Return the parts that change while the user types: draft, head and version; or the
        conflict with another user."""
        return render_template("portal/branding/_typed.html", is_live=True, **self._context(form))

    def pictures_fragment(self, form: BrandingForm) -> str:
        return render_template("portal/branding/_images.html", **self._context(form))

    def rows(
        self, changes: Iterable[versions.BrandFieldChange]
    ) -> list[tuple[str, list[BrandValue], list[BrandValue]]]:
        """Return label, old and new value of each change, for display."""
        return [
            (
                str(FIELD_LABELS[change.name]),
                value_lines(change.name, change.old, self.assistants),
                value_lines(change.name, change.new, self.assistants),
            )
            for change in changes
        ]

    def conflict_with(self, changes: dict[str, Any]) -> EditConflict:
        """Return who saved first, and the differences between the input and what is saved."""
        draft = self.draft
        differences = versions.differences(self.content, {**self.content, **changes})
        return EditConflict(
            author=draft.author if draft else None,
            at=draft.updated_at if draft else None,
            is_own=draft is not None and draft.author == caller().label,
            changes=[
                EditDifference(
                    str(FIELD_LABELS[change.name]),
                    value_text(change.name, change.new, self.assistants),
                    value_text(change.name, change.old, self.assistants),
                )
                for change in differences
            ],
        )

    @property
    def discard_confirmation(self) -> ConfirmationPage:
        return discard_draft_confirmation(
            url_for("portal.branding.discard_branding"),
            len(self.changes),
            url_for("portal.branding.show_branding"),
        )

    def head(self) -> dict[str, Any]:
        """Return the data of the head and the tabs of every page of the studio."""
        return {
            "draft": self.draft,
            "changes": self.changes,
            "discarding": self.discard_confirmation,
            "latest": self.latest,
            "latest_message": latest_version_message(self.latest, zone()),
            "before_latest": self.before_latest,
            "version": drafts.fingerprint(self.content),
            "live_url": _live_url(self.partner),
        }

    def _context(self, form: BrandingForm) -> dict[str, Any]:
        form.name_texts()
        form.chat_assistant_id.choices = [
            SelectChoice("", pgettext("assistant", "None")),
            *(SelectChoice(value, name) for value, name in self.assistants.items()),
        ]
        assistant_id = form.chat_assistant_id.data
        if assistant_id and assistant_id not in self.assistants:
            form.chat_assistant_id.choices.append(
                SelectChoice(assistant_id, gettext("Removed assistant"))
            )
        colour = form.colour.data if not form.colour.errors else None
        brand = coloured(self.brand, colour)
        pages = _preview_pages()
        view = chosen_view()
        return {
            **self.head(),
            "form": form,
            "pictures": self.pictures,
            "picture_fields": PICTURE_FIELDS,
            "picture_problems": {},
            "picture_waiting_message": picture_waiting_message,
            "picture_failed_message": picture_failed_message,
            "image_format": image_format,
            "shapes": {kind.value: shape.description for kind, shape in images.SHAPES.items()},
            "page_brand": page_brand(brand),
            "unsaved_colour": None if brand == self.brand else brand.colour,
            "chat_colours": {
                area_name: area.light[0] for area_name, area in areas(brand.colour, None).items()
            },
            "report": contrast_report(brand.colour),
            "verdicts": VERDICTS,
            "preview_name": dict(pages)[view["page"]],
            "missing": missing(self.partner, brand),
            "shown_on": surfaces(self.partner, brand),
            "views": (
                ("page", gettext("Page of the preview"), pages),
                ("theme", gettext("Theme of the preview"), THEMES),
                ("width", gettext("Width of the preview"), WIDTHS),
                ("language", gettext("Language of the preview"), [*LANGUAGES.items()]),
            ),
            "view": view,
        }


def coloured(brand: Brand, colour: str | None) -> Brand:
    """Return the brand with the colour, if it is one."""
    value = (colour or "").strip()
    return replace(brand, colour=value) if is_colour(value) else brand


def _live_url(partner: Partner) -> str:
    """Return the sign-in page of the partner's customers, which opens for signed-in users too."""
    path = url_for("portal.auth.sign_in", slug=partner.slug, show=1)
    return origin_of(partner, settings()) + path


def chosen_view() -> dict[str, str]:
    """Return the settings of the preview: page, theme, width and language."""
    return {
        "page": _chosen_value("page", dict(_preview_pages())),
        "theme": _chosen_value("theme", dict(THEMES)),
        "width": _chosen_value("width", dict(WIDTHS)),
        "language": _chosen_value("language", LANGUAGES, language()),
    }


def given_view() -> dict[str, Any]:
    """Return the part of `chosen_view` that the request contains, to be kept in a redirect."""
    return {name: value for name, value in chosen_view().items() if name in request.values}


def _preview_pages() -> tuple[tuple[str, str], ...]:
    """Return the pages with a preview: address and name."""
    return (
        ("sign-in", gettext("Sign in")),
        ("portal", gettext("Overview")),
        ("mail", gettext("Email")),
        ("chat", gettext("Chat")),
        ("error", gettext("Error page")),
    )


def _chosen_value(name: str, values: Mapping[str, str], default: str | None = None) -> str:
    """Return the choice in the URL or the form; without a valid one ``default`` or the first."""
    value = request.values.get(name, "")
    return value if value in values else default or next(iter(values))
