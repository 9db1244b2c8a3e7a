"""The paths of all pages and forms of one kind of record, from the application's routes."""

from typing import Any

from flask import Flask

OTHERS = {
    "delivery_id": "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c02",
    "number_id": "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c03",
    "ending": "csv",
    "reason": "decimals",
    "role": "admin",
}


def paths_with(app: Flask, method: str, argument: str, value: Any, **others: Any) -> list[str]:
    """Return the portal's paths that have this argument, without those of former addresses."""
    values = OTHERS | others | {argument: value}
    rules = [
        rule
        for rule in app.url_map.iter_rules()
        if argument in rule.arguments
        and method in (rule.methods or ())
        and rule.endpoint.startswith("portal.")
        and rule.endpoint != "portal.redirect_former_address"
    ]
    return [built[1] for rule in rules if (built := rule.build(values, append_unknown=False))]
