"""The migration in words: the time left, and what would differ."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from app.models import LegacyExchange, utcnow
from app.portal.api_access.curl_examples import KEY_VARIABLE
from app.portal.api_access.labels import End
from app.portal.web.formats import plural

SOON = timedelta(days=30)
FIELDS = {
    "toPhoneNumber": "contact.phoneNumber",
    "fromPhoneNumber": "agentId",
    "name": "contact.firstName",
    "introNotes": "callInstructions",
    "introMessage": "introMessage",
    "introVoicemail": "voicemailMessage",
    "formInfo": "metadata",
}
"""Fields of the legacy API and where their values go."""
ONLY_BEFORE = {
    "retired": "The legacy API no longer serves this client. Use the new API.",
    "plan_required": "The legacy API needs the Plus plan. The new API works with every plan.",
}
"""Errors of the legacy API without a counterpart."""


def time_left(end: datetime) -> End:
    """21 days left, within a day, or over since so many days; amber in the last month and after."""
    now = utcnow()
    if end <= now:
        over = (now - end).days
        return End(f"Ended {plural(over, 'day')} ago" if over else "Ended today", soon=True)
    left = end - now
    return End(f"{plural(left.days, 'day')} left" if left.days else "Within a day", left < SOON)


def as_curl(url: str, body: Mapping[str, Any]) -> str:
    """Return a command that runs unchanged, with the key in the environment. An apostrophe is
    written as JSON's escape, so that no shell ends the text at it."""
    text = json.dumps(body, ensure_ascii=False, indent=2).replace("'", "\\u0027")
    headers = f"-H \"x-api-key: ${KEY_VARIABLE}\" \\\n  -H 'Content-Type: application/json'"
    return f"curl -sS '{url}' \\\n  {headers} \\\n  -d '{text}'"


def answer_shown(status: int, body: Mapping[str, Any]) -> str:
    """Return an answer as it is sent: its status line and its body."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"{status} {phrase}\n\n{json.dumps(body, ensure_ascii=False, indent=2)}"


def differences(exchange: LegacyExchange) -> list[str]:
    """Return the differences that a script must handle, in sentences."""
    before, after = exchange.status < 400, exchange.shadow_status < 400
    old, new = _details(exchange.answer), _details(exchange.shadow_answer)
    if before and after:
        return [
            "Both accept the call.",
            "The new answer also has the call’s status, and its id to read or cancel the call.",
        ]
    if after:
        return [ONLY_BEFORE.get(old["code"], f"Only the legacy API refuses it: {old['message']}")]
    if before:
        return [f"Only the new API refuses it: {new['message']}"]
    sentences = [_both_refuse(exchange, old, new)]
    moved = [
        f"The problem of {each['field']} is reported for {FIELDS[each['field']]}."
        for each in old["errors"]
        if each["field"] in FIELDS and FIELDS[each["field"]] != each["field"]
    ]
    return [*sentences, *moved, 'Each refusal of a call by the new API has "success": false.']


def _both_refuse(exchange: LegacyExchange, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if old["code"] == new["code"] and exchange.status == exchange.shadow_status:
        return f"Both refuse it for the same reason: {new['message']}"
    return f"Both refuse it. The legacy API: {old['message']} The new one: {new['message']}"


def _details(answer: Mapping[str, Any]) -> dict[str, Any]:
    details = answer.get("details", {})
    return {
        "code": details.get("code", ""),
        "message": answer.get("message", ""),
        "errors": details.get("errors", []),
    }
