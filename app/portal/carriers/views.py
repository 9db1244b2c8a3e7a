"""Carrier status: the status of carriers, the account of each organization's calls, waiting and
refused calls, and pausing calls on a carrier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import CarrierKind, EndedReason
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.calls.labels import ENDED_LABELS, advice_on
from app.portal.calls.listing import calls_url
from app.portal.carriers import blueprint
from app.portal.carriers.account_labels import (
    KIND_LABELS,
    WHOLE,
    failing_message,
    owner_of,
    short_name,
)
from app.portal.carriers.labels import (
    OBSERVED_LABELS,
    STATUS_LABELS,
    STUCK_LABELS,
    calls_label,
    not_placed_message,
    problem_message,
    problem_title,
    queue_message,
)
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import refuse_operators
from app.portal.web.formats import carrier_title
from app.portal.web.messages import redirect_with
from app.portal.web.readiness import is_offline
from app.portal.web.user_timezone import LAST_24_HOURS
from app.services import carrier_accounts, organizations, pauses
from app.services.calls import queries, stuck, traffic
from app.services.calls.traffic import CallTraffic
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import CarrierHealth

MAX_COUNTED = queries.MAX_COUNTED
MAX_STUCK = 20
"""Calls of each kind that operators see, newest first."""


@blueprint.get("/carriers")
def show_carrier_status() -> str:
    if caller().partner_id is None:
        return _operator_page()
    with transaction(read_only=True) as session:
        return render_template(
            "portal/carriers/own.html",
            **_account_context(session),
            **_queue_context(session),
            **_failure_context(session),
            **_pause_context(session),
        )


def _pause_context(session: Session) -> dict[str, Any]:
    return {
        "pauses": [
            (each, pauses.is_own(each)) for each in pauses.visible_pauses(session, caller())
        ],
        "pausing": pausing(),
        "is_offline": is_offline(session),
    }


def _account_context(session: Session) -> dict[str, Any]:
    routes = routes_of(session)
    failing = carrier_accounts.failing(session, caller(), MAX_COUNTED)
    failing_new = carrier_accounts.failing(session, caller(), MAX_COUNTED, is_pending=True)
    return {
        "failing": failing_message(len(failing)),
        "failed_new": [short_name(each) for each in failing_new],
        "is_simulated": all(each.is_simulated for each in routes),
        "routes": routes,
        "calls_label": calls_label,
    }


def _queue_context(session: Session) -> dict[str, Any]:
    """Return the calls that wait, and the carriers' problems that may be why."""
    waiting, scheduled = queries.waiting_and_scheduled(session, caller())
    carriers = carrier_health.with_problems(session)
    return {
        "waiting": queue_message(waiting, scheduled, MAX_COUNTED),
        "problems": [_problem_context(each, waiting) for each in carriers],
    }


def _failure_context(session: Session) -> dict[str, Any]:
    """Return the calls that failed or were not placed, and advice about the last one."""
    last = traffic.last_failure(session, caller())
    reason = last.ended_reason if last else None
    advice = advice_on(reason, last.carrier) if last else None
    return {
        "not_placed": not_placed_message(traffic.count_not_placed(session, caller())),
        "failed": _failed_rows(queries.failed_calls(session, caller())),
        "last_failure": last,
        "last_failure_label": ENDED_LABELS.get(reason or ""),
        "advice": advice or gettext("Open the call for details."),
    }


def _problem_context(carrier: CarrierHealth, waiting: int) -> dict[str, str]:
    return {
        "title": problem_title(carrier, names_carrier=False),
        "text": problem_message(carrier, waiting, MAX_COUNTED),
        "tone": STATUS_LABELS[carrier.status][1],
    }


def _failed_rows(failed: Mapping[EndedReason, int]) -> list[tuple[str, int, str | None]]:
    """Return the reasons with the most failed calls first, each with the URL of its calls."""
    return [
        (
            ENDED_LABELS[reason],
            count,
            calls_url(state="failed", outcome=reason, within=LAST_24_HOURS),
        )
        for reason, count in sorted(failed.items(), key=lambda pair: -pair[1])
    ]


def _operator_page() -> str:
    with transaction(read_only=True) as session:
        carriers = carrier_health.carriers(session)
        status = stuck.dispatcher_status(session)
        offline = is_offline(session)
        not_placed = traffic.count_not_placed(session, caller())
        stuck_calls = stuck.listing(session, MAX_STUCK, status.reasons)
        problems = [(each.carrier, problem) for each in carriers for problem in each.problems]
        return render_template(
            "portal/carriers/operator.html",
            carriers=carriers,
            problems=sorted(problems, key=lambda pair: pair[1].last_at, reverse=True),
            not_placed=not_placed_message(not_placed),
            status=status,
            stuck_calls=sorted(stuck_calls, key=lambda each: each.since, reverse=True),
            max_stuck=MAX_STUCK,
            stuck_labels=STUCK_LABELS,
            is_offline=offline,
            status_label=STATUS_LABELS,
            observed_labels=OBSERVED_LABELS,
            titles=[
                problem_title(each, names_carrier=True)
                for each in carriers
                if each.status.is_problem
            ],
        )


@blueprint.get("/carriers/pause")
def confirm_pause_calling() -> str:
    refuse_operators()
    return pausing().page()


@blueprint.post("/carriers/pause")
def pause_calling() -> Response:
    with transaction() as session:
        pauses.pause_own(session, caller())
    return redirect(url_for("portal.carriers.show_carrier_status"), 303)


@blueprint.post("/carriers/resume")
def resume_calling() -> Response:
    with transaction() as session:
        was_paused = pauses.resume_own(session, caller())
    message = gettext("Calling resumed.") if was_paused else gettext("Calling wasn’t paused.")
    return redirect_with(message, url_for("portal.carriers.show_carrier_status"))


def pausing() -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.carriers.pause_calling"),
        title=gettext("Pause all calls?"),
        consequences=[
            gettext("Calls of all your organizations wait: campaigns, scripts and test calls."),
            gettext("Calls in progress continue."),
            gettext("Calls are accepted until you resume. A call that expires isn’t placed."),
        ],
        action_label=gettext("Pause all calls"),
        keep_label=gettext("Keep calling"),
        keep_url=url_for("portal.carriers.show_carrier_status"),
    )


MAX_ACCOUNTS = 50


@dataclass(frozen=True, slots=True)
class CallRoute:
    """``account`` is empty for the installation's own, ``url`` is the page of its organization."""

    account: str
    carrier: str
    users: str
    traffic: CallTraffic
    is_simulated: bool = False
    url: str | None = None


def routes_of(session: Session) -> list[CallRoute]:
    """Return the routes of the caller's calls: accounts in use, then the installation's carrier
    and the simulated one."""
    accounts = carrier_accounts.in_use_of(session, caller(), MAX_ACCOUNTS)
    ids = {account.organization_id for account in accounts if account.organization_id}
    names = organizations.names_of(session, caller(), ids)
    traffic_by_account = traffic.by_account(session, caller())
    routes = [
        CallRoute(
            short_name(account),
            str(KIND_LABELS[account.carrier]),
            owner_of(account, names),
            traffic_by_account.get((account.carrier, account.id), CallTraffic()),
            url=url_for(
                "portal.organizations.show_organization", organization_id=account.organization_id
            )
            if account.organization_id
            else None,
        )
        for account in accounts
    ]
    has_own = any(account.organization_id is None for account in accounts)
    platform_carrier, tests = CarrierKind(settings().carrier), gettext("Calls with test keys")
    if platform_carrier is not CarrierKind.SIMULATOR and not has_own:
        routes.append(
            CallRoute(
                "",
                carrier_title(platform_carrier),
                str(WHOLE),
                traffic_by_account.get((platform_carrier, None), CallTraffic()),
            )
        )
    elif not has_own:
        tests = gettext("Organizations without their own account, and calls with test keys")
    simulated = traffic_by_account.get((CarrierKind.SIMULATOR, None), CallTraffic())
    name = carrier_title(CarrierKind.SIMULATOR)
    return [*routes, CallRoute("", name, tests, simulated, is_simulated=True)]
