"""The query parameters that page through lists."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from app.languages import gettext
from app.schemas.base import ADDITION, Query
from app.schemas.checks import Omittable, refusal
from app.schemas.fields import Short
from app.validation.texts import whole_number

MAX_PER_PAGE = 1000
DEFAULT_PER_PAGE = 100


def _positive_number(value: Any) -> Any:
    if isinstance(value, int):
        return value
    number = whole_number(value, 9)
    if not number:
        raise refusal("out_of_range", gettext("Send a whole number from 1."))
    return number


PageNumber = Annotated[int, Field(ge=1, le=999_999_999), BeforeValidator(_positive_number)]
PageSize = Annotated[int, Field(ge=1, le=MAX_PER_PAGE), BeforeValidator(_positive_number)]


class PageQuery(Query):
    """Without either parameter the whole list is answered."""

    page: Annotated[Omittable[PageNumber], Field(json_schema_extra=ADDITION)] = None
    per_page: Annotated[Omittable[PageSize], Field(json_schema_extra=ADDITION)] = None


class CursorQuery(Query):
    """The next part is the address in the header Link with rel="next"."""

    per_page: PageSize = DEFAULT_PER_PAGE
    cursor: Omittable[Short] = None
