"""The declaration of a list of records: its columns, sort orders and filters.

The page, its links, the files to download and saved views all come from the declaration.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from babel.support import LazyProxy
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from app import languages
from app.errors import ValidationFailed
from app.extensions import caller
from app.policy import Permission
from app.portal.web.bulk import ListActions
from app.portal.web.lists import ColumnKind
from app.portal.web.user_timezone import Problems
from app.services.csv_files import Cell
from app.services.paging import Page

R = TypeVar("R")


def _with_text(value: Callable[[R], Cell]) -> Callable[[R], Cell]:
    """Return the function with labels (`lazy_gettext`) as text, which files and databases need."""

    def cell(row: R) -> Cell:
        content = value(row)
        label: object = content
        return str(label) if isinstance(label, LazyProxy) else content

    return cell


@dataclass(frozen=True, slots=True)
class ListColumn(Generic[R]):
    """A column: its name in the URL, its heading, and its value in a file.

    ``css`` are the classes of its cells. ``sort`` names its sort order, if it has one, and ``kind``
    decides the words of that. Without ``is_default`` a column is shown only if the user chooses it.
    ``heading`` is that of a file, in English for every user, because scripts read it.
    """

    name: str
    label: str
    value: Callable[[R], Cell] = field(compare=False)
    css: str = ""
    sort: str | None = None
    kind: ColumnKind = ColumnKind.OTHER
    is_default: bool = True
    default_with: str = ""
    """The filter that shows the column even without ``is_default``."""
    for_staff: bool = False
    """Whether it is hidden from members: they have one organization, and carriers charge the
    partner."""
    is_sort_for_staff: bool = False
    """Whether members can't sort by it: no index serves the rows of one organization."""
    is_labelled: bool = False
    """Whether a phone shows the label before the value."""
    is_below: bool = False
    """Whether it is shown below the first column, in the same cell; files have it as a separate
    column."""
    heading: str = ""

    def __post_init__(self) -> None:
        with languages.using_language(languages.DEFAULT):
            object.__setattr__(self, "heading", str(self.heading or self.label))
        object.__setattr__(self, "value", _with_text(self.value))


def name_column(
    name: str,
    label: str,
    value: Callable[[R], Cell],
    css: str = "cell-name",
    *,
    sort: str = "",
    **more: Any,
) -> ListColumn[R]:
    """Return a column that sorts from A to Z, by default by its own name."""
    return ListColumn(name, label, value, css, sort or name, ColumnKind.NAME, **more)


def figure_column(
    name: str, label: str, value: Callable[[R], Cell], css: str = "end", **more: Any
) -> ListColumn[R]:
    """Return a column of numbers that sorts by its own name."""
    return ListColumn(name, label, value, css, name, ColumnKind.FIGURE, **more)


def moment_column(
    name: str,
    label: str,
    value: Callable[[R], Cell],
    css: str = "end",
    *,
    sort: str = "",
    **more: Any,
) -> ListColumn[R]:
    """Return a column that sorts by time, by default by its own name."""
    return ListColumn(name, label, value, css, sort or name, ColumnKind.MOMENT, **more)


def organization_column(
    value: Callable[[R], Cell], css: str = "wrap cell-owner", *, is_default: bool = True
) -> ListColumn[R]:
    """Return the column that names the organization of a row."""
    label = languages.lazy_gettext("Organization")
    return ListColumn("organization", label, value, css, is_default=is_default, for_staff=True)


def status_column(
    value: Callable[[R], Cell], css: str = "", *, sort: str = "status", **more: Any
) -> ListColumn[R]:
    """Return the column of the state of a row."""
    return ListColumn("status", languages.lazy_gettext("Status"), value, css, sort=sort, **more)


def added_column(
    value: Callable[[R], Cell], css: str = "end", *, sort: str = "created", **more: Any
) -> ListColumn[R]:
    """Return the column of the moment at which a row was added."""
    label, heading = languages.lazy_gettext("Added"), languages.lazy_gettext("Added (UTC)")
    return moment_column("added", label, value, css, sort=sort, heading=heading, **more)


@dataclass(frozen=True, slots=True)
class ListFilter:
    """A filter: a search box, or a select of ``options`` (value -> words), which a function may
    return; ``blank`` is the option that filters nothing."""

    name: str
    label: str
    options: Mapping[Any, str] | Callable[[], Mapping[Any, str]] | None = None
    blank: str = ""
    label_of_members: str = ""
    """The label for users of one organization, if it differs."""

    @property
    def shown_options(self) -> Mapping[Any, str] | None:
        return self.options() if callable(self.options) else self.options

    @property
    def shown_label(self) -> str:
        is_member = caller().organization_id is not None
        return (is_member and self.label_of_members) or self.label


@dataclass(frozen=True, slots=True)
class ListDefinition(Generic[R]):
    """A list of a portal. ``name`` is that of its files and saved views, ``nouns`` are the words
    for one record and for several.

    ``load`` returns a page by sort order, cursor and size, with the filters of the URL; it raises
    `ValidationFailed` (``invalid_cursor``). ``count`` counts the rows with these filters up to a
    number, and one more if there are more; ``shows_count`` if the page shows it. Other lists count
    the rows of a filter by ``count_if_few``, which returns None if counting takes long.
    ``more_filters`` are parameters of the URL besides ``filters``, ``path`` those of its path,
    ``problems`` returns what is wrong with them. The first column is always shown.
    """

    name: str
    nouns: tuple[str, str]
    endpoint: str
    columns: Sequence[ListColumn[R]]
    filters: Sequence[ListFilter]
    sorts: Collection[str]
    default_sort: str
    load: Callable[[Session, str, str | None, int], Page[R]]
    count: Callable[[Session, int], int]
    shows_count: bool = False
    shows_plans: bool = False
    """Whether its page names plans, which are then read with its frame."""
    count_if_few: Callable[[Session, int], int | None] | None = None
    bulk: ListActions | None = None
    more_filters: Sequence[str] = ()
    sticky: Sequence[str] = ()
    """Those of ``more_filters`` that stay when filters are cleared, such as a range of days."""
    permission: Permission | None = None
    """A permission that a user needs besides that of the page."""
    path: Sequence[str] = ()
    problems: Callable[[], Problems] = list
    has_fixed_columns: bool = False
    """Whether its page has its own layout of columns; files have all of them."""

    def __post_init__(self) -> None:
        KNOWN[self.name] = self

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the filters in the URL."""
        return (*(each.name for each in self.filters), *self.more_filters)

    @property
    def first_filters(self) -> Sequence[ListFilter]:
        """The filters in view above the list; the others are in a panel."""
        return self.filters[:2]

    def refuse_problems(self) -> None:
        """Raise `ValidationFailed` if the URL has invalid filters, with which the list would show
        more rows than requested."""
        for parameter, message in self.problems():
            raise ValidationFailed.on(parameter, "invalid_date", message)

    @property
    def has_problems(self) -> bool:
        """Return whether a filter of the URL is invalid that clearing the filters removes: the list
        is then empty rather than showing more rows than requested."""
        return any(name not in self.sticky for name, _ in self.problems())

    def is_filtered(self, values: Mapping[str, str]) -> bool:
        """Return whether a URL sets a filter that clearing the filters removes."""
        return any(map(values.get, set(self.parameters).difference(self.sticky)))

    @property
    def available_columns(self) -> list[ListColumn[R]]:
        """Return the columns that the caller may see."""
        is_member = caller().organization_id is not None
        if not is_member:
            return list(self.columns)
        return [
            replace(column, sort=None) if column.is_sort_for_staff else column
            for column in self.columns
            if not column.for_staff
        ]

    def sort_of(self, values: Mapping[str, str]) -> str:
        """Return the sort order of a URL, if the list offers it to the caller."""
        requested = values.get("sort", self.default_sort)
        column = requested.removeprefix("-")
        hidden = {each.sort for each in self.columns} - {
            each.sort for each in self.available_columns
        }
        return requested if requested in self.sorts and column not in hidden else self.default_sort

    def columns_of(self, values: MultiDict[str, str]) -> list[ListColumn[R]]:
        """Return the columns that a URL chooses, in the list's order; without any, the default
        ones."""
        requested = set(values.getlist("column")) & {
            column.name for column in self.available_columns
        }
        if not requested:
            return self.default_columns(values)
        requested.add(self.columns[0].name)
        return [column for column in self.available_columns if column.name in requested]

    def default_columns(self, values: Mapping[str, str]) -> list[ListColumn[R]]:
        """Return the columns for the filters of a URL that chooses no columns."""
        return [
            column
            for column in self.available_columns
            if column.is_default or (column.default_with and values.get(column.default_with))
        ]

    def query_of(self, values: MultiDict[str, str]) -> str:
        """Return the list's part of a query string, in a fixed order: filters, sort, columns."""
        params: list[tuple[str, Any]] = [
            (name, values[name]) for name in self.parameters if values.get(name)
        ]
        if self.sort_of(values) != self.default_sort:
            params.append(("sort", self.sort_of(values)))
        if (columns := self.columns_of(values)) != self.default_columns(values):
            params += [("column", column.name) for column in columns]
        return urlencode(params)


KNOWN: dict[str, ListDefinition[Any]] = {}
"""The lists by name, for their words; `list_named` in `record_lists` checks who may open one."""
