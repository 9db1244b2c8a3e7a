"""Lists of users and groups as SCIM requests them: filtered, sorted, one page at a time.

A condition is never null in SQL, so that ``not`` of an absent value is true, as the standard
requires. Texts are compared without LIKE, whose handling of case differs between the two databases.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from operator import eq, ge, gt, le, lt
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from scim2_models import InvalidFilterException, InvalidPathException, SearchRequest
from scim2_models.path import (
    AttributeBinding,
    AttrPath,
    CompareOperator,
    Comparison,
    FilterVisitor,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ScimFilter,
    ValuePath,
    coerce_value,
)
from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    exists,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.orm import Session

from app.models import ScimGroup, ScimMember, ScimUser, User
from app.policy.caller import Caller
from app.schemas import scim as wire
from app.services.scim import access, groups, users
from app.services.scim.users import ScimAccount
from app.validation.uuids import as_hyphenated_uuid

MAX_RESULTS = 200
"""Maximum resources of one page."""
MAX_FILTER_LENGTH = 2000
MAX_BRACKETS = 50
_LAST_INDEX = 2**31
_ORDERS: Mapping[CompareOperator, Callable[[Any, Any], Any]] = {
    CompareOperator.gt: gt,
    CompareOperator.ge: ge,
    CompareOperator.lt: lt,
    CompareOperator.le: le,
}
Condition = ColumnElement[bool]
T = TypeVar("T")


class ComparisonKind(Enum):
    """How a stored value is compared."""

    TEXT = auto()
    """As it is written."""
    FOLDED = auto()
    """A key in lower case, of a text that is compared so."""
    ANY_CASE = auto()
    """A text that the database converts to lower case."""
    ID = auto()
    MOMENT = auto()
    FLAG = auto()


class StoredAttribute(NamedTuple):
    """The column or table in which an attribute is stored."""

    column: Any
    kind: ComparisonKind


StoredAttributes = Mapping[tuple[str, str | None], StoredAttribute]

_IS_ACTIVE = or_(User.status.in_(access.ACTIVE), func.coalesce(ScimUser.waits_for_role, false()))
_ADDRESS = StoredAttribute(User.email_key, ComparisonKind.FOLDED)
USER_ATTRIBUTES: StoredAttributes = {
    ("id", None): StoredAttribute(User.id, ComparisonKind.ID),
    ("external_id", None): StoredAttribute(ScimUser.external_id, ComparisonKind.TEXT),
    ("user_name", None): _ADDRESS,
    ("display_name", None): StoredAttribute(User.name, ComparisonKind.ANY_CASE),
    ("name", "given_name"): StoredAttribute(ScimUser.given_name, ComparisonKind.ANY_CASE),
    ("name", "family_name"): StoredAttribute(ScimUser.family_name, ComparisonKind.ANY_CASE),
    ("active", None): StoredAttribute(_IS_ACTIVE, ComparisonKind.FLAG),
    ("emails", None): _ADDRESS,
    ("emails", "value"): _ADDRESS,
    ("emails", "type"): StoredAttribute(literal("work"), ComparisonKind.FOLDED),
    ("emails", "primary"): StoredAttribute(true(), ComparisonKind.FLAG),
    ("groups", "value"): StoredAttribute(ScimMember.group_id, ComparisonKind.ID),
    ("groups", "display"): StoredAttribute(ScimGroup.display_key, ComparisonKind.FOLDED),
    ("meta", "created"): StoredAttribute(User.created_at, ComparisonKind.MOMENT),
    ("meta", "last_modified"): StoredAttribute(User.updated_at, ComparisonKind.MOMENT),
}
GROUP_ATTRIBUTES: StoredAttributes = {
    ("id", None): StoredAttribute(ScimGroup.id, ComparisonKind.ID),
    ("external_id", None): StoredAttribute(ScimGroup.external_id, ComparisonKind.TEXT),
    ("display_name", None): StoredAttribute(ScimGroup.display_key, ComparisonKind.FOLDED),
    ("members", "value"): StoredAttribute(ScimMember.user_id, ComparisonKind.ID),
    ("meta", "created"): StoredAttribute(ScimGroup.created_at, ComparisonKind.MOMENT),
    ("meta", "last_modified"): StoredAttribute(ScimGroup.updated_at, ComparisonKind.MOMENT),
}
_ROWS: Mapping[str, Select[Any]] = {
    "groups": select(ScimMember.group_id)
    .join(ScimGroup, ScimGroup.id == ScimMember.group_id)
    .where(ScimMember.user_id == User.id)
    .correlate(User),
    "members": select(ScimMember.user_id)
    .where(ScimMember.group_id == ScimGroup.id)
    .correlate(ScimGroup),
}
"""The rows of the attributes with several values, of the resource of the query around."""


@dataclass(frozen=True, slots=True)
class ResourcePage(Generic[T]):
    """A page of resources and the number of all that match; ``start`` counts from 1."""

    items: Sequence[T]
    total: int
    start: int


def check_filter(text: str) -> None:
    """Refuse a filter that is too long or nested too deep, before it is parsed. Raises
    `InvalidFilterException`."""
    if len(text) > MAX_FILTER_LENGTH or text.count("(") + text.count("[") > MAX_BRACKETS:
        detail = (
            f"A filter has at most {MAX_FILTER_LENGTH:,} characters and {MAX_BRACKETS} brackets."
        )
        raise InvalidFilterException(detail=detail)


def find_users(
    session: Session, caller: Caller, request: SearchRequest[wire.User]
) -> ResourcePage[ScimAccount]:
    """Return a page of users. Raises `Forbidden`, `InvalidFilterException` and
    `InvalidPathException`."""
    rows: Select[Any] = users.rows(caller)  # type: ignore[assignment]  # of any shape
    query = _apply_filter(rows, request, wire.User, USER_ATTRIBUTES)
    total, start, stored_users = _fetch_page(
        session, query, request, wire.User, USER_ATTRIBUTES, User.id
    )
    of_users = users.groups_of(session, [user.id for user, _ in stored_users])
    accounts = [
        ScimAccount(user, stored, of_users.get(user.id, [])) for user, stored in stored_users
    ]
    return ResourcePage(accounts, total, start)


def find_groups(
    session: Session, caller: Caller, request: SearchRequest[wire.Group]
) -> ResourcePage[ScimGroup]:
    """As `find_users`, for groups."""
    query = _apply_filter(groups.rows(caller), request, wire.Group, GROUP_ATTRIBUTES)
    total, start, rows = _fetch_page(
        session, query, request, wire.Group, GROUP_ATTRIBUTES, ScimGroup.id
    )
    return ResourcePage([group for (group,) in rows], total, start)


def _apply_filter(
    query: Select[Any], request: Any, model: type[Any], attributes: StoredAttributes
) -> Select[Any]:
    if request.filter is None:
        return query
    return query.where(_ToSql(request.filter, model, attributes).visit(request.filter.ast))


def _fetch_page(
    session: Session,
    query: Select[Any],
    request: Any,
    model: type[Any],
    attributes: StoredAttributes,
    identifier: Any,
) -> tuple[int, int, Sequence[Any]]:
    ids = query.with_only_columns(identifier).order_by(None).subquery()
    total = session.scalar(select(func.count()).select_from(ids)) or 0
    start = min(request.start_index or 1, _LAST_INDEX)
    size = MAX_RESULTS if request.count is None else min(request.count, MAX_RESULTS)
    if size == 0 or start > total:
        return total, start, []
    ordered = query.order_by(*_sort_columns(request, model, attributes), identifier)
    return total, start, session.execute(ordered.offset(start - 1).limit(size)).all()


def _sort_columns(request: Any, model: type[Any], attributes: StoredAttributes) -> list[Any]:
    """Return the order asked for: absent values come last, or first where it descends."""
    if request.sort_by is None:
        return []
    binding = request.sort_binding(model)
    attribute = attributes.get((binding.field_name, binding.sub_field_name)) if binding else None
    if binding is None or attribute is None or binding.field_name in _ROWS:
        raise InvalidPathException(detail=f"Lists can't be sorted by {request.sort_by}.")
    column = (
        func.lower(attribute.column)
        if attribute.kind is ComparisonKind.ANY_CASE
        else attribute.column
    )
    absent = attribute.column.is_(None)
    if request.sort_order == SearchRequest.SortOrder.descending:
        return [absent.desc(), column.desc()]
    return [absent, column]


class _ToSql(FilterVisitor[Condition]):
    """Converts a filter into a condition; ``within`` is the attribute whose rows are selected."""

    def __init__(
        self,
        scim_filter: ScimFilter[Any],
        model: type[Any],
        attributes: StoredAttributes,
        within: AttrPath | None = None,
    ):
        self._filter = scim_filter
        self._model = model
        self._attributes = attributes
        self._within = within

    def visit_comparison(self, node: Comparison) -> Condition:
        binding = self._bound(node.attr_path, compares=True)
        attribute = self._attribute(binding, node.attr_path)
        value = coerce_value(binding, node.value, node.op)
        negated = node.op is CompareOperator.ne
        operator = CompareOperator.eq if negated else node.op
        compared = func.coalesce(_compare(attribute, operator, value, node), false())
        condition = self._of_any_row(binding, compared)
        return not_(condition) if negated else condition

    def visit_present(self, node: Present) -> Condition:
        binding = self._bound(node.attr_path)
        if binding.field_name in _ROWS and self._within is None:
            return exists(_ROWS[binding.field_name])
        if (binding.field_name, binding.sub_field_name) == ("name", None):
            return or_(ScimUser.given_name.is_not(None), ScimUser.family_name.is_not(None))
        if (binding.field_name, binding.sub_field_name) == ("meta", None):
            return true()
        attribute = self._attribute(binding, node.attr_path)
        return true() if attribute.kind is ComparisonKind.FLAG else attribute.column.is_not(None)

    def visit_not(self, node: Not) -> Condition:
        return not_(self.visit(node.expr))

    def visit_logical_expr(self, node: LogicalExpr) -> Condition:
        combine = and_ if node.op is LogicalOperator.and_ else or_
        return combine(*(self.visit(term) for term in node.terms))

    def visit_value_path(self, node: ValuePath) -> Condition:
        binding = self._bound(node.attr_path)
        inner = _ToSql(self._filter, self._model, self._attributes, node.attr_path)
        return self._of_any_row(binding, inner.visit(node.val_filter))

    def _bound(self, path: AttrPath, *, compares: bool = False) -> AttributeBinding:
        if self._within is not None:
            path = AttrPath(self._within.attr, path.attr, self._within.uri)
        resolve = self._filter.resolve_comparison if compares else self._filter.resolve
        binding = resolve(path)
        if binding is None:
            raise InvalidFilterException(detail=f"The attribute {path} is unknown.")
        return binding

    def _attribute(self, binding: AttributeBinding, path: AttrPath) -> StoredAttribute:
        attribute = self._attributes.get((binding.field_name, binding.sub_field_name))
        if attribute is None:
            raise InvalidFilterException(detail=f"Filters can't use the attribute {path}.")
        return attribute

    def _of_any_row(self, binding: AttributeBinding, condition: Condition) -> Condition:
        """Return the condition that one of the rows matches, for an attribute with several
        values."""
        rows = _ROWS.get(binding.field_name)
        if rows is None or self._within is not None:
            return condition
        return exists(rows.where(condition))


def _compare(
    attribute: StoredAttribute, operator: CompareOperator, value: Any, node: Comparison
) -> Condition:
    column: Any = attribute.column
    if value is None:
        if operator is CompareOperator.eq:
            is_absent: Condition = (
                false() if attribute.kind is ComparisonKind.FLAG else column.is_(None)
            )
            return is_absent
        raise _comparison_error(node)
    match attribute.kind:
        case ComparisonKind.FLAG:
            if not isinstance(value, bool) or operator is not CompareOperator.eq:
                raise _comparison_error(node)
            is_so: Condition = column if value else not_(column)
            return is_so
        case ComparisonKind.ID:
            if not isinstance(value, str) or operator is not CompareOperator.eq:
                raise _comparison_error(node)
            identifier = as_hyphenated_uuid(value)
            return false() if identifier is None else attribute.column == UUID(str(identifier))
        case ComparisonKind.MOMENT:
            return _compare_moments(attribute.column, operator, value, node)
    return _compare_texts(attribute, operator, value, node)


def _compare_moments(
    column: Any, operator: CompareOperator, value: Any, node: Comparison
) -> Condition:
    if not isinstance(value, datetime):
        raise _comparison_error(node)
    try:
        moment = (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise _comparison_error(node) from error
    compare = {CompareOperator.eq: eq, **_ORDERS}.get(operator)
    if compare is None:
        raise _comparison_error(node)
    condition: Condition = compare(column, moment)
    return condition


def _compare_texts(
    attribute: StoredAttribute, operator: CompareOperator, value: Any, node: Comparison
) -> Condition:
    if not isinstance(value, str) or not _can_be_stored(value):
        raise _comparison_error(node)
    column = (
        func.lower(attribute.column)
        if attribute.kind is ComparisonKind.ANY_CASE
        else attribute.column
    )
    text = value if attribute.kind is ComparisonKind.TEXT else value.lower()
    condition: Condition
    match operator:
        case CompareOperator.eq:
            condition = column == text
        case CompareOperator.co if text:
            condition = func.replace(column, text, "") != column
        case CompareOperator.sw if text:
            condition = func.substr(column, 1, len(text)) == text
        case CompareOperator.ew if text:
            start = func.length(column) - len(text) + 1
            condition = and_(start > 0, func.substr(column, start, len(text)) == text)
        case CompareOperator.co | CompareOperator.sw | CompareOperator.ew:
            condition = column.is_not(None)
        case _:
            condition = _ORDERS[operator](column, text)
    return condition


def _can_be_stored(text: str) -> bool:
    """Return whether the databases accept the text: no NUL, no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def _comparison_error(node: Comparison) -> InvalidFilterException:
    detail = f"The attribute {node.attr_path} can't be compared in this way."
    return InvalidFilterException(detail=detail)
