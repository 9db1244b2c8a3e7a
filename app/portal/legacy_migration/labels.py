"""The migration in words: the time left, and what would differ."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from app.languages import gettext, lazy_gettext, ngettext
from app.models import LegacyExchange, utcnow
from app.portal.api_access.curl_examples import KEY_VARIABLE
from app.portal.api_access.labels import CredentialEnd
from app.portal.web.formats import long_datetime

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
"""Fields of the legacy API and the new places of their values."""
ONLY_BEFORE = {
    "retired": lazy_gettext("The legacy API no longer serves this client. Use the new API."),
    "plan_required": lazy_gettext(
        "The legacy API doesn’t serve this plan. The new API works with every plan."
    ),
}
"""Errors of the legacy API without a counterpart."""


def retirement_message(retirement: datetime, zone: str) -> str:
    """Say what the list shows, and when the legacy API ends or ended."""
    moment = long_datetime(retirement, zone)
    if retirement <= utcnow():
        return gettext(
            "Clients of the legacy API and their move to the new one. The legacy API ended on "
            "%(moment)s, later for a client with an extension.",
            moment=moment,
        )
    return gettext(
        "Clients of the legacy API and their move to the new one. The legacy API ends on "
        "%(moment)s, later for a client with an extension.",
        moment=moment,
    )


def time_left(end: datetime) -> CredentialEnd:
    """Return the time left: 21 days, within a day, or over for some days; amber in the last month
    and after."""
    now = utcnow()
    if end <= now:
        over = (now - end).days
        if not over:
            return CredentialEnd(gettext("Ended today"), soon=True)
        ago = ngettext("Ended %(num)s day ago", "Ended %(num)s days ago", over)
        return CredentialEnd(ago, soon=True)
    remaining = end - now
    if not remaining.days:
        return CredentialEnd(gettext("Within a day"), soon=True)
    label = ngettext("%(num)s day left", "%(num)s days left", remaining.days)
    return CredentialEnd(label, remaining < SOON)


def as_curl(url: str, body: Mapping[str, Any]) -> str:
    """Return a command that runs unchanged, with the key in the environment. An apostrophe is
    written as JSON's escape, because it would end the text in a shell."""
    text = json.dumps(body, ensure_ascii=False, indent=2).replace("'", "\\u0027")
    headers = f"-H \"x-api-key: ${KEY_VARIABLE}\" \\\n  -H 'Content-Type: application/json'"
    return f"curl -sS '{url}' \\\n  {headers} \\\n  -d '{text}'"


def format_answer(status: int, body: Mapping[str, Any]) -> str:
    """Return an answer as it is sent: its status line and its body."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"{status} {phrase}\n\n{json.dumps(body, ensure_ascii=False, indent=2)}"


def differences(exchange: LegacyExchange) -> list[str]:
    """Return the differences that a script must handle, in sentences."""
    before, after = exchange.status < 400, exchange.shadow_status < 400
    old, new = _answer_details(exchange.answer), _answer_details(exchange.shadow_answer)
    if before and after:
        return [
            gettext("Both accept the call."),
            gettext(
                "The new answer also has the call’s status, and its ID to read or cancel the call."
            ),
        ]
    if after:
        if old["code"] in ONLY_BEFORE:
            return [str(ONLY_BEFORE[old["code"]])]
        return [gettext("Only the legacy API refuses it: %(message)s", message=old["message"])]
    if before:
        return [gettext("Only the new API refuses it: %(message)s", message=new["message"])]
    sentences = [_both_refuse(exchange, old, new)]
    moved_fields = [
        gettext(
            "The problem of %(legacy_field)s is reported for %(new_field)s.",
            legacy_field=each["field"],
            new_field=FIELDS[each["field"]],
        )
        for each in old["errors"]
        if each["field"] in FIELDS and FIELDS[each["field"]] != each["field"]
    ]
    success_note = gettext('Each refusal of a call by the new API has "success": false.')
    return [*sentences, *moved_fields, success_note]


def _both_refuse(exchange: LegacyExchange, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if old["code"] == new["code"] and exchange.status == exchange.shadow_status:
        return gettext("Both refuse it for the same reason: %(message)s", message=new["message"])
    return gettext(
        "Both refuse it. The legacy API: %(legacy_message)s The new one: %(new_message)s",
        legacy_message=old["message"],
        new_message=new["message"],
    )


def _answer_details(answer: Mapping[str, Any]) -> dict[str, Any]:
    details = answer.get("details", {})
    return {
        "code": details.get("code", ""),
        "message": answer.get("message", ""),
        "errors": details.get("errors", []),
    }
