"""The page of a list, from its declaration and the URL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from flask import abort, redirect, request, url_for
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.extensions import caller
from app.languages import gettext
from app.models import SavedView
from app.portal.web import lists
from app.portal.web.bulk import ListActions
from app.portal.web.formats import number
from app.portal.web.list_definitions import ListColumn, ListDefinition
from app.portal.web.list_messages import ALL_LABELS, on_page
from app.portal.web.page_frame import read_frame
from app.services.paging import MAX_COUNTED, Page
from app.validation.uuids import as_uuid

R = TypeVar("R")
ALL = "all"
"""The value of ``view`` that selects the list itself, for users with a default view."""


@dataclass(frozen=True, slots=True)
class ListPage(Generic[R]):
    """A page of a list for the templates. ``count`` is None if nothing was counted; ``hidden`` are
    columns without a value on the page. With an invalid filter the list is empty."""

    definition: ListDefinition[R]
    rows: Sequence[R]
    columns: Sequence[ListColumn[R]]
    sort: str
    position: lists.ListPosition
    next_cursor: str | None
    count: int | None
    views: Sequence[SavedView]
    hidden: frozenset[str] = frozenset()

    @property
    def bulk(self) -> ListActions | None:
        """The caller's actions on several rows; None if there are none, or none for this page."""
        actions = self.definition.bulk
        return actions if actions and self.selectable else None

    @property
    def selectable(self) -> dict[int, str]:
        """The keys of the selectable rows, by their positions on the page."""
        actions = self.definition.bulk
        if actions is None:
            return {}
        keys = {index: actions.key_of(row) for index, row in enumerate(self.rows)}
        return {index: key for index, key in keys.items() if key is not None}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to list, with any filters."""
        return not self.rows and self.position.is_first and not self.clear_url

    @property
    def has_problems(self) -> bool:
        """Whether a filter of the URL is invalid: its rows are neither a view nor a file."""
        return bool(self.definition.problems())

    @property
    def is_refused(self) -> bool:
        """Whether the list is empty because of an invalid filter."""
        return self.definition.has_problems

    @property
    def clear_url(self) -> str | None:
        """The URL without filters; None if no filter is set."""
        sticky = self.definition.sticky
        if not self.definition.is_filtered(request.args):
            return None
        params = lists.present(*sticky)
        return _list_url(**params) if params else self.all_url

    @property
    def all_url(self) -> str:
        """The URL of the list without filters and views."""
        return _list_url(view=ALL if _default_view(self.views) else None)

    def url_without(self, names: Sequence[str]) -> str:
        """Return the URL without these filters, from the first page on."""
        view = request.args.get("view") or (ALL if _default_view(self.views) else None)
        return lists.address(**dict.fromkeys(names), view=view, cursor=None, trail=None)

    @property
    def next_url(self) -> str | None:
        return self.position.next_url(self.next_cursor)

    @property
    def has_more(self) -> bool:
        """Whether more rows match than the page shows."""
        if self.count is None:
            return self.next_cursor is not None or not self.position.is_first
        return self.count > len(self.rows)

    @property
    def count_label(self) -> str:
        """The number of matching rows, in words."""
        if self.count is None:
            return ""
        if self.count > MAX_COUNTED:
            return f"{number(MAX_COUNTED)}+"
        return number(self.count)

    @property
    def range_label(self) -> str:
        """The number of rows on the page, of how many, in words."""
        row_count = len(self.rows)
        if self.count is None:
            return on_page(self.definition.name, row_count)
        before = self.position.rows_before
        if not before or not row_count or before + row_count > self.count:
            return gettext(
                "%(shown)s of %(counted)s shown", shown=number(row_count), counted=self.count_label
            )
        return gettext(
            "%(first)s to %(last)s of %(counted)s",
            first=number(before + 1),
            last=number(before + row_count),
            counted=self.count_label,
        )

    @property
    def has_custom_columns(self) -> bool:
        return self.columns != self.definition.default_columns(request.args)

    @property
    def styled(self) -> list[tuple[ListColumn[R], str]]:
        """The columns with the classes of their cells; chosen ones are shown at any width, like the
        one that the list is sorted by."""
        columns = [
            column
            for column in self.columns
            if not column.is_below and column.name not in self.hidden
        ]
        if self.has_custom_columns:
            return [(column, _add_phone_class(column.css)) for column in columns]
        sorted_column = (
            None if self.sort == self.definition.default_sort else self.sort.removeprefix("-")
        )
        return [
            (
                column,
                _add_phone_class(column.css)
                if sorted_column and column.sort == sorted_column
                else column.css,
            )
            for column in columns
        ]

    @property
    def sorted_by(self) -> list[tuple[str, str, lists.ColumnKind]]:
        """The sort choices, as (label, sort order, kind): the columns, and the list's own order."""
        default_column = self.definition.default_sort.removeprefix("-")
        return [
            (column.label, column.sort, column.kind)
            for column in self.definition.available_columns
            if column.sort and (column in self.columns or column.sort == default_column)
        ]

    def is_shown(self, name: str) -> bool:
        """Return whether the list has the column, by itself or below another."""
        return any(column.name == name for column in self.columns)

    def is_labelled_on_phones(self, name: str) -> bool:
        """Whether rows on phones show the column after its label."""
        return any(column.name == name and "phone-extra" in css for column, css in self.styled)

    @property
    def tabs(self) -> list[tuple[str, str, None, bool]]:
        """The list and its saved views as tabs; none without saved views."""
        if not self.views:
            return []
        all_label = str(ALL_LABELS[self.definition.name])
        tabs = [
            (view.name, view_url(view), None, self.view is not None and view.id == self.view.id)
            for view in self.views
        ]
        return [(all_label, self.all_url, None, self.view is None), *tabs]

    @property
    def view(self) -> SavedView | None:
        """The saved view in the URL."""
        view_id = as_uuid(request.args.get("view", ""))
        return next((view for view in self.views if view.id == view_id), None)

    @property
    def is_own_view(self) -> bool:
        return self.view is not None and self.view.user_id == caller().user_id

    @property
    def query(self) -> str:
        """The filters, sort order and columns of the URL, as a saved view stores them."""
        return self.definition.query_of(request.args)

    @property
    def is_view_changed(self) -> bool:
        return self.view is not None and self.view.query != self.query

    def kept(self, *names: str) -> list[tuple[str, str]]:
        """Return the parameters of the URL with these names, as hidden fields of a form."""
        return [(name, value) for name in names for value in request.args.getlist(name) if value]

    def url_of(self, endpoint: str, **more: Any) -> str:
        """Return the URL of a page about this list with its filters, sort order and columns."""
        view_args = {name: str(value) for name, value in (request.view_args or {}).items()}
        url = url_for(endpoint, **{**more, **view_args})
        return url + ("&" if "?" in url else "?") + self.query if self.query else url


def _add_phone_class(css: str) -> str:
    """Return the classes of cells that a phone shows too, after their labels if they have no place
    of their own in its rows. The value of a cell from 1600 on stands below the name before."""
    classes = [each for each in css.split() if each not in ("from-desktop", "from-wide")]
    placed = {"cell-name", "phone-first", "phone-second", "phone-below", "from-widest"}
    if not placed.intersection(classes):
        classes.append("phone-extra")
    return " ".join(classes)


def without_empty(page: ListPage[R], *names: str) -> ListPage[R]:
    """Return the page without those of these columns that are empty in all rows; the one that it is
    sorted by stays."""
    empty = {
        column.name
        for column in page.columns
        if column.name in names
        and column.sort != page.sort.removeprefix("-")
        and all(column.value(row) in (None, "") for row in page.rows)
    }
    return replace(page, hidden=page.hidden | empty)


def view_url(view: SavedView) -> str:
    """Return the URL of the current list with a saved view."""
    return f"{_list_url()}?{view.query}{'&' if view.query else ''}{urlencode({'view': view.id})}"


def list_page(session: Session, definition: ListDefinition[R]) -> ListPage[R]:
    """Return the page of the URL. Raises what the list's ``load`` raises.

    A URL without parameters ends the request: it redirects to the user's default view, if there is
    one.
    """
    position, sort = lists.current_position(), definition.sort_of(request.args)
    frame = read_frame(
        session,
        definition.name,
        with_plans=definition.shows_plans,
        partner_id=lists.id_filter("partner"),
    )
    views = frame.views
    if not request.args and (default := _default_view(views)):
        abort(redirect(view_url(default)))
    empty_page: Page[R] = Page((), None)
    page = (
        empty_page
        if definition.has_problems
        else definition.load(session, sort, position.cursor, lists.PAGE_SIZE)
    )
    return ListPage(
        definition=definition,
        rows=page.items,
        columns=definition.columns_of(request.args),
        sort=sort,
        position=position,
        next_cursor=page.next_cursor,
        count=_count(session, definition, position, page),
        views=views,
    )


def _count(
    session: Session, definition: ListDefinition[R], position: lists.ListPosition, page: Page[R]
) -> int | None:
    """Return how many rows the list has with the filters of the URL, as its page shows it."""
    if position.is_first and page.next_cursor is None:
        return len(page.items)
    if definition.shows_count:
        return definition.count(session, MAX_COUNTED)
    if definition.count_if_few is not None and definition.is_filtered(request.args):
        return definition.count_if_few(session, MAX_COUNTED)
    return None


def _default_view(views: Sequence[SavedView]) -> SavedView | None:
    """Return the view that the user has chosen as the default of the list."""
    return next((v for v in views if v.is_default and v.user_id == caller().user_id), None)


def path_id(name: str) -> UUID:
    """Return an id of the path, or of the query string of a page about the list; a member's
    organization is known. Raises `NotFound`."""
    record_id = (request.view_args or {}).get(name) or as_uuid(request.args.get(name, ""))
    if record_id is None and name == "organization_id":
        record_id = caller().organization_id
    if not isinstance(record_id, UUID):
        raise NotFound
    return record_id


def path_of(definition: ListDefinition[Any]) -> dict[str, Any]:
    """Return the parameters of the list's path, from the URL of a page about it. Raises
    `NotFound`."""
    return {name: path_id(name) for name in definition.path}


def filtered_url(definition: ListDefinition[Any]) -> str:
    """Return the URL of the list with the filters of a page about it."""
    url = url_for(definition.endpoint, **path_of(definition))
    query = definition.query_of(request.args)
    return f"{url}?{query}" if query else url


def query_about(definition: ListDefinition[Any]) -> str:
    """Return the query string of a page about the list: the parameters of its path, and its
    filters."""
    queries = (urlencode(path_of(definition)), definition.query_of(request.args))
    return "&".join(filter(None, queries))


def _list_url(**more: Any) -> str:
    return url_for(request.endpoint or "", **(request.view_args or {}), **more)
