"""Carrier status: its state, the calls that wait because of it, and refused calls."""

from collections.abc import Mapping

from flask import render_template

from app.enums import EndedReason
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import Call
from app.portal.calls.labels import ENDED_WORDS, advice_on
from app.portal.calls.listing import LAST_DAY, calls_url
from app.portal.carriers.account_labels import short_name
from app.portal.carriers.labels import (
    OBSERVED_WORDS,
    STATE_WORDS,
    STUCK_WORDS,
    problem_text,
    problem_title,
    queue_words,
)
from app.portal.carriers.pause_views import pausing
from app.portal.carriers.routes import routes_of
from app.portal.web.blueprint import portal
from app.portal.web.calling_service import is_offline
from app.services import carrier_accounts, pauses
from app.services.calls import queries, stuck, traffic
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import CarrierHealth

MOST = queries.MOST_COUNTED
MOST_STUCK = 20
"""Calls of each kind that operators see, the newest ones."""


@portal.get("/line")
def line_health() -> str:
    if caller().partner_id is None:
        return _of_operators()
    with transaction(read_only=True) as session:
        waiting = queries.waiting_calls(session, caller())
        scheduled = queries.scheduled_calls(session, caller())
        failing_new = carrier_accounts.failing(session, caller(), MOST, is_pending=True)
        routes = routes_of(session)
        last = traffic.last_failure(session, caller())
        return render_template(
            "portal/carriers/own.html",
            failing=carrier_accounts.failing(session, caller(), MOST),
            failed_new=[short_name(each) for each in failing_new],
            not_placed=traffic.count_not_placed(session, caller()),
            is_simulated=all(each.is_simulated for each in routes),
            routes=routes,
            last=last,
            last_words=ENDED_WORDS.get(last.ended_reason or "") if last else None,
            advice=_advice(last) if last else None,
            problems=[_problem(each, waiting) for each in carrier_health.with_problems(session)],
            pauses=[(each, pauses.is_own(each)) for each in pauses.covering(session, caller())],
            pausing=pausing(),
            is_offline=is_offline(session),
            waiting=queue_words(waiting, scheduled, MOST),
            failed=_failed_rows(queries.failed_calls(session, caller())),
        )


def _advice(call: Call) -> str:
    return advice_on(call.ended_reason) or gettext("Open the call for details.")


def _problem(carrier: CarrierHealth, waiting: int) -> dict[str, str]:
    return {
        "title": problem_title(carrier, names_carrier=False),
        "text": problem_text(carrier, waiting, MOST),
        "tone": STATE_WORDS[carrier.state][1],
    }


def _failed_rows(failed: Mapping[EndedReason, int]) -> list[tuple[str, int, str | None]]:
    """Return the reasons with the most failed calls first, each with the address of its calls."""
    return [
        (ENDED_WORDS[reason], count, calls_url(state="failed", outcome=reason, within=LAST_DAY))
        for reason, count in sorted(failed.items(), key=lambda pair: -pair[1])
    ]


def _of_operators() -> str:
    with transaction(read_only=True) as session:
        found = carrier_health.carriers(session)
        status = stuck.dispatcher_status(session)
        offline = is_offline(session)
        not_placed = traffic.count_not_placed(session, caller())
        found_stuck = stuck.listing(session, MOST_STUCK)
    problems = [(each.carrier, problem) for each in found for problem in each.problems]
    return render_template(
        "portal/carriers/operator.html",
        carriers=found,
        problems=sorted(problems, key=lambda pair: pair[1].last_at, reverse=True),
        not_placed=not_placed,
        status=status,
        stuck_calls=sorted(found_stuck, key=lambda each: each.since, reverse=True),
        most_stuck=MOST_STUCK,
        stuck_words=STUCK_WORDS,
        is_offline=offline,
        state_words=STATE_WORDS,
        observed_words=OBSERVED_WORDS,
        titles=[problem_title(each, names_carrier=True) for each in found if each.state.is_problem],
    )
