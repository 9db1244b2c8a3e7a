"""The column with the organizations' use of what their plans include this month."""

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar
from uuid import UUID

from flask import request
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import lazy_gettext
from app.models import utcnow
from app.portal.web.list_definitions import ListColumn, ListDefinition
from app.services.billing.month_end import IncludedUse, included_use

R = TypeVar("R")


def included_column(
    use: Callable[[R], IncludedUse | None], *, is_default: bool = True, default_with: str = ""
) -> ListColumn[R]:
    def cell(row: R) -> str | None:
        included = use(row)
        return f"{included.used} of {included.included} {included.unit}s" if included else None

    return ListColumn(
        "included",
        lazy_gettext("Included this month"),
        cell,
        "end wrap cell-included phone-below phone-sub",
        is_default=is_default,
        default_with=default_with,
        is_labelled=True,
    )


def included_if_shown(
    session: Session, definition: ListDefinition[R], names: Collection[str], ids: Collection[UUID]
) -> Mapping[UUID, IncludedUse]:
    """Return the use, if the list shows one of the columns with these names."""
    if not any(column.name in names for column in definition.columns_of(request.args)):
        return {}
    return included_use(session, caller(), ids, utcnow().date())
