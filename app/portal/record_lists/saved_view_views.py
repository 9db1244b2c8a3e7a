"""Saved views: saving the filters, sort order and columns of a list, changing and deleting them."""

from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.languages import gettext
from app.models import SavedView
from app.portal.audit.saved_views import filter_labels
from app.portal.record_lists import blueprint
from app.portal.record_lists.filter_chips import names_in
from app.portal.record_lists.forms import SavedViewForm
from app.portal.record_lists.registry import LISTS, list_named
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.list_definitions import ListDefinition
from app.portal.web.list_pages import filtered_url, path_of
from app.portal.web.messages import redirect_with
from app.services import saved_views


@blueprint.get("/lists/<name>/views/new")
def new_saved_view(name: str) -> str:
    list_named(name).refuse_problems()
    return _new_page(name, SavedViewForm())


@blueprint.post("/lists/<name>/views/new")
def create_saved_view(name: str) -> Page:
    """Save the filters, sort order and columns of the list's URL."""
    form, definition = SavedViewForm(), list_named(name)
    with saving(form, lambda: _new_page(name, form), validate=False) as session:
        submission = FormSubmission(session)
        definition.refuse_problems()
        query = definition.query_of(request.args)
        view = saved_views.create(session, caller(), name, query, form.to_view())
        url = submission.finish(_url(definition, view))
    message = gettext("The view “%(name)s” was saved.", name=view.name)
    return redirect_with(message, url)


@blueprint.get("/views/<uuid:view_id>")
def edit_saved_view(view_id: UUID) -> str:
    return stored_page(view_id, _edit_page, _stored)


@blueprint.post("/views/<uuid:view_id>")
def save_saved_view(view_id: UUID) -> Page:
    form = SavedViewForm()
    with saving_edit(form, "saved_view", view_id, _edit_page, _stored, validate=False) as session:
        view = saved_views.change(
            session, caller(), view_id, form.to_view(), expected_version=form.version.data
        )
    message = gettext("The view “%(name)s” was saved.", name=view.name)
    return redirect_with(message, _url(LISTS[view.list_name], view))


@blueprint.post("/views/<uuid:view_id>/filters")
def save_filters(view_id: UUID) -> Response:
    """Give the view the filters, sort order and columns of the list's URL."""
    with transaction() as session:
        name = saved_views.get(session, caller(), view_id).list_name
        definition = list_named(name)
        definition.refuse_problems()
        query = definition.query_of(request.args)
        view = saved_views.change(session, caller(), view_id, query=query)
    message = gettext("View %(name)s was updated.", name=view.name)
    return redirect_with(message, _url(LISTS[name], view))


@blueprint.get("/views/<uuid:view_id>/delete")
def confirm_delete_saved_view(view_id: UUID) -> str:
    with transaction(read_only=True) as session:
        view = saved_views.get(session, caller(), view_id)
    return _delete_confirmation(view).page()


def _delete_confirmation(view: SavedView) -> ConfirmationPage:
    shared = [gettext("Your colleagues lose it too.")] if view.is_shared else []
    return ConfirmationPage(
        action=request.full_path,
        title=gettext("Delete the view %(name)s?", name=view.name),
        consequences=[
            gettext("No records are deleted, only the saved filters and columns."),
            *shared,
        ],
        action_label=gettext("Delete view"),
        keep_label=gettext("Keep view"),
        keep_url=url_for(
            "portal.record_lists.edit_saved_view", view_id=view.id, **path_of(LISTS[view.list_name])
        ),
    )


@blueprint.post("/views/<uuid:view_id>/delete")
def delete_saved_view(view_id: UUID) -> Response:
    with transaction() as session:
        view = saved_views.delete(session, caller(), view_id)
    message = gettext("View %(name)s was deleted.", name=view.name)
    return redirect_with(message, _url(LISTS[view.list_name]))


def _stored(session: Session, view_id: UUID) -> SavedViewForm:
    return SavedViewForm.from_object(saved_views.get(session, caller(), view_id))


def _new_page(name: str, form: SavedViewForm) -> str:
    definition = list_named(name)
    with transaction(read_only=True) as session:
        saved_values = _saved_values(session, definition, definition.query_of(request.args))
    return render_template(
        "portal/record_lists/saved_view.html",
        form=form,
        view=None,
        definition=definition,
        back=filtered_url(definition),
        saved_values=saved_values,
    )


def _saved_values(
    session: Session, definition: ListDefinition[Any], query: str
) -> list[tuple[str, str]]:
    """Return what a view with this query saves, in the words of its list."""
    values = MultiDict(parse_qsl(query))
    filters = filter_labels(definition, query, names_in(session, values))
    sort = definition.sort_of(values)
    sort_label = next(
        (str(each.label) for each in definition.columns if each.sort == sort.removeprefix("-")), ""
    )
    order = (
        gettext("%(column)s, descending", column=sort_label) if sort.startswith("-") else sort_label
    )
    columns = ", ".join(str(column.label) for column in definition.columns_of(values))
    return [
        (gettext("Filters"), " · ".join(filters) or gettext("None")),
        (gettext("Order"), order if sort_label else ""),
        (gettext("Columns"), columns),
    ]


def _edit_page(view_id: UUID, form: SavedViewForm) -> str:
    with transaction(read_only=True) as session:
        view = saved_views.get(session, caller(), view_id)
        definition = list_named(view.list_name)
        return render_template(
            "portal/record_lists/saved_view.html",
            form=form,
            view=view,
            definition=definition,
            back=_url(definition, view),
            path=path_of(definition),
            saved_values=_saved_values(session, definition, view.query),
        )


def _url(definition: ListDefinition[Any], view: SavedView | None = None) -> str:
    url = url_for(definition.endpoint, **path_of(definition))
    if view is None:
        return url
    return f"{url}?{view.query}{'&' if view.query else ''}{urlencode({'view': view.id})}"
