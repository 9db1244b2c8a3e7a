"""Actions on several rows of a list at once, declared next to the list.

The bar below the list, the confirmation and the results come from the declaration
(`app.portal.record_lists.bulk_views`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.extensions import caller
from app.policy import Permission
from app.services.paging import Page


def _no_refusal(_item: "BulkItem") -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class BulkItem:
    """A selectable row: ``key`` identifies it in a form, ``name`` and ``note`` are its words,
    ``row`` is what the list has loaded. ``choice`` is the value chosen for the action, if it has a
    `BulkChoice`."""

    key: str
    name: str
    note: str
    row: Any
    choice: str = ""


@dataclass(frozen=True, slots=True)
class BulkChoice:
    """A value that is chosen once for all rows; ``options`` returns the values with their words."""

    label: str
    options: Callable[[Session], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class BulkAction:
    """One action. It does to each row what the action on the row's own page does.

    ``act`` raises a `DomainError` for a row that it can't change. ``refusal`` returns the reason in
    advance. ``button`` and ``done`` are the words for a number of rows.
    """

    name: str
    label: str
    permission: Permission
    button: Callable[[int], str]
    done: Callable[[int], str]
    keep_label: str
    consequences: Sequence[str]
    act: Callable[[Session, BulkItem], object]
    done_label: str
    """The outcome for a row, as the results show it."""
    refusal: Callable[[BulkItem], str | None] = _no_refusal
    is_risky: bool = True
    choice: BulkChoice | None = None
    is_of_partners: bool = False
    """Whether operators, who belong to no partner, can't use it."""
    undo: str = ""
    """The action that reverses it, offered next to the results."""
    get_many: Callable[[Session, Sequence[str]], list[BulkItem]] | None = None
    """Loads rows that aren't in the list any more; such an action is offered only next to
    results."""
    load: Callable[[Session, str | None, int], Page[Any]] | None = None
    """Loads a page of the rows that match the filters of the URL and that it may change, if they
    are too few of a long list to be found by searching all of it."""


@dataclass(frozen=True, slots=True)
class ListActions:
    """The actions of a list. ``item`` describes a row, ``get_many`` returns those of the rows with
    these keys that the caller may see; ``exports`` if it returns them as the list does, for
    files."""

    item: Callable[[Any], BulkItem]
    get_many: Callable[[Session, Sequence[str]], list[BulkItem]]
    actions: Sequence[BulkAction] = ()
    exports: bool = False

    @property
    def offered(self) -> list[BulkAction]:
        """Return the actions that the caller may use on rows of the list."""
        return [each for each in self.actions if each.get_many is None and _may_use(each)]

    def get_action(self, name: str) -> BulkAction | None:
        """Return the action of this name, if the caller may use it."""
        return next(
            (action for action in self.actions if action.name == name and _may_use(action)), None
        )

    def key_of(self, row: Any) -> str | None:
        """Return the key of a selectable row; None if no action can change it and it can't be
        exported."""
        item = self.item(row)
        if self.exports or any(each.refusal(item) is None for each in self.offered):
            return item.key
        return None


def _may_use(action: BulkAction) -> bool:
    actor = caller()
    return actor.may(action.permission) and not (action.is_of_partners and actor.partner_id is None)
