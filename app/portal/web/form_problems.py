"""What a service refuses, shown where the person typed it."""

from collections.abc import Mapping

from wtforms import Form

from app.errors import DomainError
from app.schemas.base import wire_name


def place_problems(
    form: Form, error: DomainError, places: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Puts each problem of a refusal at its field; returns those that belong to none as
    (id, words) for the summary.

    A field is found by its wire name, or by what ``places`` says of one that is called otherwise.
    """
    named = {wire_name(name): name for name in form.data} | dict(places or {})
    if not error.problems:
        return [("", error.message)]
    rest = []
    for problem in error.problems:
        field = form[named[problem.field]] if problem.field in named else None
        if field is None:
            rest.append(("", problem.message))
        else:
            field.errors = (*field.errors, problem.message)
    return rest
