"""Actions on several rows of a list: a confirmation that names them, then a result for each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.errors import DomainError, NotFound
from app.extensions import transaction
from app.languages import gettext
from app.portal.record_lists import blueprint
from app.portal.record_lists.forms import ChoiceForm
from app.portal.record_lists.registry import list_named
from app.portal.web.blueprint import Page as Answer
from app.portal.web.bulk import BulkAction, BulkItem, ListActions
from app.portal.web.list_definitions import ListDefinition
from app.portal.web.list_pages import filtered_url, query_about
from app.services.paging import Page

MAX_CHANGED = 200
MAX_READ = 5000
"""Maximum rows that are searched for those that an action changes."""


@dataclass(frozen=True, slots=True)
class BulkRowResult:
    """The result for one row."""

    item: BulkItem
    changed: bool
    message: str


@blueprint.get("/lists/<name>/actions/<action>")
def confirm_bulk_action(name: str, action: str) -> Answer:
    """Show the confirmation for the selected rows, or for all that match the filters of the
    list."""
    definition, bulk, bulk_action = _find_action(name, action)
    are_more = False
    if request.args.get("all"):
        definition.refuse_problems()
        selected, are_more = _load_matching(definition, bulk, bulk_action)
    else:
        selected = _get_many(bulk, bulk_action, request.args.getlist("id"))
    return _page(definition, bulk_action, selected, _choice_form(bulk_action), are_more=are_more)


def _page(
    definition: ListDefinition[Any],
    action: BulkAction,
    selected: Sequence[BulkItem],
    form: ChoiceForm | None,
    *,
    are_more: bool = False,
) -> str:
    refused = [(item, message) for item in selected if (message := action.refusal(item))]
    refused_keys = {item.key for item, _message in refused}
    allowed = [item for item in selected if item.key not in refused_keys]
    return render_template(
        "portal/record_lists/bulk_confirm.html",
        title=_title(action, len(allowed), len(refused)),
        action=action,
        form=form,
        url=_url(definition, action),
        back=filtered_url(definition),
        selected=allowed,
        refused=refused,
        are_more=are_more,
    )


def _title(action: BulkAction, allowed: int, refused: int) -> str:
    if allowed:
        return gettext("%(action)s?", action=action.button(allowed))
    return gettext("Nothing can be changed") if refused else gettext("Nothing selected")


@blueprint.post("/lists/<name>/actions/<action>")
def apply_bulk_action(name: str, action: str) -> Answer:
    """Act on each row in its own transaction: an error for one stops no other."""
    definition, bulk, bulk_action = _find_action(name, action)
    items = _get_many(bulk, bulk_action, request.form.getlist("id"))
    form = _choice_form(bulk_action)
    if form and not form.validate():
        return _page(definition, bulk_action, items, form), 422
    choice = form.choice.data if form else ""
    results = [_result(bulk_action, replace(item, choice=choice)) for item in items]
    return _results_page(definition, bulk_action, results, bulk.get_action(bulk_action.undo))


def _results_page(
    definition: ListDefinition[Any],
    action: BulkAction,
    results: Sequence[BulkRowResult],
    undo: BulkAction | None,
) -> str:
    return render_template(
        "portal/record_lists/bulk_results.html",
        action=action,
        results=results,
        changed=sum(result.changed for result in results),
        definition=definition,
        back=filtered_url(definition),
        undo=undo,
        undo_url=_url(definition, undo) if undo else "",
    )


def _choice_form(action: BulkAction) -> ChoiceForm | None:
    """Return the form of the value that is chosen for all rows, if the action has one."""
    if action.choice is None:
        return None
    with transaction(read_only=True) as session:
        options = action.choice.options(session)
    form = ChoiceForm()
    form.set_choices(action.choice.label, options)
    return form


def _result(action: BulkAction, item: BulkItem) -> BulkRowResult:
    refusal = action.refusal(item)
    if refusal:
        return BulkRowResult(item, False, refusal)
    try:
        with transaction() as session:
            action.act(session, item)
    except DomainError as error:
        return BulkRowResult(item, False, error.message)
    return BulkRowResult(item, True, str(action.done_label))


def _find_action(name: str, action: str) -> tuple[ListDefinition[Any], ListActions, BulkAction]:
    """Return the list and the action. Raises `NotFound`, also if the user may not use the
    action."""
    definition = list_named(name)
    bulk = definition.bulk
    bulk_action = bulk.get_action(action) if bulk else None
    if bulk is None or bulk_action is None:
        raise NotFound
    return definition, bulk, bulk_action


def _get_many(bulk: ListActions, action: BulkAction, keys: Sequence[str]) -> list[BulkItem]:
    unique_keys = list(dict.fromkeys(keys))[:MAX_CHANGED]
    if not unique_keys:
        return []
    with transaction(read_only=True) as session:
        return (action.get_many or bulk.get_many)(session, unique_keys)


def _load_matching(
    definition: ListDefinition[Any], bulk: ListActions, action: BulkAction
) -> tuple[list[BulkItem], bool]:
    """Return the first rows that match the filters of the list and that the action changes, and
    whether there may be more."""
    matching: list[BulkItem] = []
    rows_read = 0
    cursor: str | None = None

    def every_row(session: Session, cursor: str | None, limit: int) -> Page[Any]:
        return definition.load(session, definition.default_sort, cursor, limit)

    load = action.load or every_row
    with transaction(read_only=True) as session:
        while len(matching) <= MAX_CHANGED and rows_read < MAX_READ:
            page = load(session, cursor, MAX_CHANGED)
            rows_read += len(page.items)
            items = map(bulk.item, page.items)
            matching += [item for item in items if action.refusal(item) is None]
            cursor = page.next_cursor
            if cursor is None:
                break
    return matching[:MAX_CHANGED], cursor is not None or len(matching) > MAX_CHANGED


def _url(definition: ListDefinition[Any], action: BulkAction) -> str:
    url = url_for("portal.record_lists.apply_bulk_action", name=definition.name, action=action.name)
    query = query_about(definition)
    return f"{url}?{query}" if query else url
