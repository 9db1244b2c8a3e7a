"""``flask calls …``: operator commands for stuck calls and pauses of calling."""

import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.transactions import as_json, changing, print_result, reading
from app.enums import CallStatus, CarrierKind
from app.gateways.carriers.base import Carrier, NoCarrierAnswer
from app.gateways.carriers.factory import open_account, open_carriers
from app.models import Call, DispatchPause
from app.schemas.fields import write_moment
from app.services import calls, carrier_accounts, pauses
from app.services.calls import resolve, stuck

DRAINING = "drained for a deploy"
SETTLING_SECONDS = 1.0
"""Seconds after a pause within which the last call claimed before it is written."""
LOOK_SECONDS = 0.5

CALL = click.argument("call_id", metavar="CALL", type=click.UUID)
CARRIER = click.option(
    "--carrier", type=click.Choice([kind.value for kind in CarrierKind]), help="This one alone."
)
PARTNER = click.option("--partner", type=click.UUID, metavar="ID", help="This one alone.")
STATUSES = [status.value for status in resolve.REASONS]

call_commands = AppGroup("calls", help="Stuck calls, and pauses of calling.")


@call_commands.command("list")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, help="Of each kind.")
@as_json
def list_calls(limit: int, as_json: bool) -> None:
    """List calls that are stuck, overdue, or ended with an unknown outcome."""
    with reading() as (session, _caller):
        described = [_describe_stuck_call(each) for each in stuck.listing(session, limit)]
    names = ("callId", "reason", "status", "since", "phoneNumber", "organization")
    lines = ["  ".join(each[name] for name in names) for each in described]
    print_result(described, as_json, *(lines or ["No call is stuck, overdue or unknown."]))


@call_commands.command("resolve")
@CALL
@click.option("--as", "status", type=click.Choice(STATUSES), help="The outcome that you found out.")
@click.option("--reason", help="How it is known; with --as.")
@as_json
def resolve_call(call_id: UUID, status: str | None, reason: str | None, as_json: bool) -> None:
    """Resolve a call by the carrier's answer, which is requested now, or with --as by yours.

    An overdue call is queued again. Nothing that may have rung is placed again.
    """
    if status is not None:
        with changing() as (session, caller):
            call = resolve.by_operator(session, caller, call_id, CallStatus(status), reason or "")
            described = _describe_call(call)
    else:
        described = _resolve_by_carrier(call_id)
    why = f" ({described['endedReason']})" if described["endedReason"] else ""
    print_result(described, as_json, f"{described['callId']} is {described['status']}{why}.")


@call_commands.command("code")
@CALL
def code(call_id: UUID) -> None:
    """Print the code of a verification call on the simulated carrier, which rings no phone."""
    with reading() as (session, caller):
        keys = extensions.settings().secret_keys
        click.echo(calls.simulated_code(session, caller, call_id, keys))


@call_commands.command("pause")
@CARRIER
@PARTNER
@click.option("--reason", default="paused by an operator", help="Shown with each call that waits.")
@as_json
def pause(carrier: str | None, partner: UUID | None, reason: str, as_json: bool) -> None:
    """Dial nothing from now on; calls are accepted and wait, active calls go on."""
    with changing() as (session, caller):
        described = _describe_pause(pauses.pause(session, caller, _scope(carrier, partner), reason))
    print_result(described, as_json, f"Calling is paused for {_pause_scope_label(described)}.")


@call_commands.command("resume")
@CARRIER
@PARTNER
@as_json
def resume(carrier: str | None, partner: UUID | None, as_json: bool) -> None:
    """Dial again; waiting calls continue in their order."""
    scope = _scope(carrier, partner)
    with changing() as (session, caller):
        was_paused = pauses.resume(session, caller, scope)
        remaining = [_describe_pause(each) for each in pauses.listing(session)]
    print_result(
        {"resumed": was_paused, "pauses": remaining},
        as_json,
        "Calling resumed." if was_paused else "Nothing was paused.",
        *(f"Still paused for {_pause_scope_label(each)}: {each['reason']}" for each in remaining),
    )


@call_commands.command("status")
@as_json
def status(as_json: bool) -> None:
    """Show pauses, and how many calls wait, are active or have problems."""
    with reading() as (session, _caller):
        described = _describe_status(stuck.dispatcher_status(session))
    _print_status(described, as_json)


@call_commands.command("drain")
@click.option("--timeout", type=click.IntRange(0), default=600, help="Seconds to wait.")
@click.option("--reason", default=DRAINING, help="Shown with each call that waits.")
@as_json
def drain(timeout: int, reason: str, as_json: bool) -> None:
    """Pause everything and wait until no call is active; exit code 1 if some are left. `flask calls
    resume` ends the pause."""
    with changing() as (session, caller):
        pauses.pause(session, caller, pauses.PauseScope(), reason)
    deadline = time.monotonic() + timeout
    time.sleep(SETTLING_SECONDS)
    while _count_active_calls() and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    with reading() as (session, _caller):
        dispatcher = stuck.dispatcher_status(session)
        described = _describe_status(dispatcher)
    _print_status(described, as_json)
    if dispatcher.active_calls:
        raise SystemExit(1)


def _count_active_calls() -> int:
    with reading() as (session, _caller):
        return stuck.count_active(session)


def _resolve_by_carrier(call_id: UUID) -> dict[str, Any]:
    with reading() as (session, _caller):
        unresolved = resolve.carrier_inquiry(session, call_id)
    if unresolved is None:
        with changing() as (session, caller):
            return _describe_call(resolve.queue_again(session, caller, call_id))
    carrier = carrier_of(unresolved.carrier, unresolved.inquiry.account_id)
    try:
        state = carrier.look_up(unresolved.inquiry)
    except NoCarrierAnswer as silence:
        message = f"The carrier does not answer ({silence}). Nothing was changed."
        raise click.ClickException(message) from None
    with changing() as (session, caller):
        call = resolve.by_carrier(session, caller, unresolved, state, carrier.settle_seconds)
        return _describe_call(call)


def carrier_of(kind: CarrierKind, account_id: UUID | None) -> Carrier:
    """Open the carrier of an account, or the installation's. Raises `click.ClickException`."""
    settings = extensions.settings()
    if account_id is not None:
        with reading() as (session, _caller):
            account = carrier_accounts.credentials(session, settings.secret_keys, account_id)
        if account is None:  # the installation's account knows nothing about its calls
            message = f"The carrier account {account_id} can no longer be used: it can't be asked."
            raise click.ClickException(message)
        return open_account(settings, account)
    carriers = open_carriers(settings, extensions.database().engine)
    if kind not in carriers:
        message = f"The settings name no account of {kind.value}: it can't be asked."
        raise click.ClickException(message)
    return carriers[kind]


def _scope(carrier: str | None, partner: UUID | None) -> pauses.PauseScope:
    if carrier is not None and partner is not None:
        message = "Name a carrier or a partner, not both."
        raise click.UsageError(message)
    return pauses.PauseScope(CarrierKind(carrier) if carrier else None, partner)


def _pause_scope_label(pause: Mapping[str, Any]) -> str:
    if pause["carrier"]:
        return f"the carrier {pause['carrier']}"
    return f"the partner {pause['partnerId']}" if pause["partnerId"] else "every call"


def _describe_pause(pause: DispatchPause) -> dict[str, Any]:
    return {
        "carrier": pause.carrier.value if pause.carrier else None,
        "partnerId": str(pause.partner_id) if pause.partner_id else None,
        "reason": pause.reason,
        "pausedBy": pause.paused_by,
        "pausedAt": write_moment(pause.paused_at),
    }


def _describe_call(call: Call) -> dict[str, Any]:
    return {
        "callId": str(call.id),
        "organizationId": str(call.organization_id),
        "phoneNumber": call.phone_number,
        "status": call.status.value,
        "endedReason": call.ended_reason.value if call.ended_reason else None,
    }


def _describe_stuck_call(stuck_call: stuck.StuckCall) -> dict[str, Any]:
    return {
        **_describe_call(stuck_call.call),
        "organization": stuck_call.organization,
        "carrier": stuck_call.call.carrier.value,
        "reason": stuck_call.reason.value,
        "since": write_moment(stuck_call.since),
    }


def _describe_status(dispatcher: stuck.DispatcherStatus) -> dict[str, Any]:
    return {
        "pauses": [_describe_pause(each) for each in dispatcher.pauses],
        "waiting": dispatcher.waiting,
        "held": dispatcher.held,
        "carrierRetry": dispatcher.carrier_retry,
        "underWay": {status.value: count for status, count in dispatcher.under_way.items()},
        "unknown": dispatcher.unknown,
        "stuck": dispatcher.stuck,
        "overdue": dispatcher.overdue,
    }


def _print_status(described: Mapping[str, Any], as_json: bool) -> None:
    pauses_in_words = [
        f"Paused for {_pause_scope_label(pause)} since {pause['pausedAt']} by {pause['pausedBy']}: "
        f"{pause['reason']}"
        for pause in described["pauses"]
    ]
    if any(pause["reason"] in pauses.CALLS_MAY_BE_MISSING for pause in described["pauses"]):
        pauses_in_words.append("Compare with the carrier and resume: calls reconcile")
    under_way = ", ".join(f"{count} {word}" for word, count in described["underWay"].items())
    counts = (f"{described[name]} {name}" for name in ("unknown", "stuck", "overdue"))
    print_result(
        described,
        as_json,
        *(pauses_in_words or ["No pause."]),
        f"Waiting: {described['waiting']}, of them held by a pause: {described['held']}",
        f"Under way: {under_way}; delayed by the carrier: {described['carrierRetry']}",
        f"Needs attention: {', '.join(counts)}",
    )
