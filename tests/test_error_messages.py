"""The messages of domain errors are translated, unless no page can show them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from app import errors
from app.config import ROOT

ENGLISH = {
    "app/services/calls/carrier_reports.py": {"_correct_guess", "_find_attempt"},
    "app/services/calls/resolve.py": {
        "_check_open",
        "_not_stuck",
        "by_carrier",
        "by_operator",
        "carrier_inquiry",
    },
    "app/services/credentials/api_keys.py": {"caller_from_key"},
    "app/services/credentials/scim_tokens.py": {"caller_from_token"},
    "app/services/credentials/tokens.py": {"caller_from_bearer"},
    "app/services/imports/mapping_file.py": {"_invalid_mapping"},
    "app/services/legacy/calls.py": {"_check_messages", "require_service"},
    "app/services/legacy/extensions.py": {"extend"},
    "app/services/partners/loading.py": {"own_partner_id"},
    "app/services/pauses/pauses.py": {"pause"},
    "app/services/users/factor_reset.py": {"reset_by_operator"},
    "app/services/users/operators.py": {"_lock_operator", "create"},
    "app/services/users/viewing.py": {"_record_for_operators"},
}
"""Functions with errors that only the JSON API, callbacks or the command line show, or for which
the page has words of its own."""
ERRORS = {
    name
    for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.DomainError | errors.Problem)
}


def is_english(message: ast.expr, assigned: dict[str, list[ast.expr]]) -> bool:
    """Whether it is a sentence, or a variable with one, instead of a call of `gettext`."""
    if isinstance(message, ast.Name):
        return any(is_english(each, {}) for each in assigned.get(message.id, []))
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    return any(
        isinstance(part, ast.Constant) and len(str(part.value).split()) > 1 for part in parts
    )


def messages_of(call: ast.Call) -> list[ast.expr]:
    """The arguments of a domain error, also of `ValidationFailed.on`; else none."""
    made = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return call.args if isinstance(made, ast.Name) and made.id in ERRORS else []


def english_functions(path: Path) -> Iterator[str]:
    for function in ast.walk(ast.parse(path.read_text())):
        if not isinstance(function, ast.FunctionDef):
            continue
        assigned: dict[str, list[ast.expr]] = {}
        calls = []
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.Call):
                calls.append(node)
        if any(is_english(each, assigned) for call in calls for each in messages_of(call)):
            yield function.name


def test_errors_that_pages_can_show_are_translated() -> None:
    found = {}
    for folder in ("policy", "services"):
        for path in (ROOT / "app" / folder).rglob("*.py"):
            if names := set(english_functions(path)):
                found[str(path.relative_to(ROOT))] = names
    assert found == ENGLISH
