"""``flask spending …``: call rates, and the limits of what calls may cost."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.transactions import changing, reading
from app.services import spending
from app.services.spending import LimitSubject, LimitUsage, SpendingLimits, SpendingState, rates

spending_commands = AppGroup("spending", help="Call rates and spending limits.")


class AmountParameter(click.ParamType[int]):
    """An amount in the currency of the rates, or none."""

    name = "amount"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        micros = spending.micros_of(value)
        if micros is None:
            self.fail(f"{value} is not an amount like 12.50.", param, ctx)
        return micros


@spending_commands.command("import-rates")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_rates(file: Path) -> None:
    """Replace all call rates by those of a CSV file."""
    with changing() as (session, caller):
        count = rates.replace(session, caller, file.read_bytes())
    click.echo(f"{count} call rates imported.")


@spending_commands.command("export-rates")
def export_rates() -> None:
    """Print the call rates as a CSV file."""
    with reading() as (session, _caller):
        text = rates.to_csv(rates.listing(session))
    click.echo(text, nl=False)


@spending_commands.command("reset-rates")
def reset_rates() -> None:
    """Go back to the default call rates."""
    with changing() as (session, caller):
        rates.reset(session, caller)
    click.echo("The default call rates apply.")


@spending_commands.command("show")
@click.argument("kind", type=click.Choice(["partner", "organization", "key"]))
@click.argument("id_", metavar="ID", type=click.UUID)
def show(kind: str, id_: UUID) -> None:
    """Print the spending limits of a partner, an organization or an API key, and what is used."""
    with reading() as (session, caller):
        state = spending.spending_of(session, caller, _subject(kind, id_))
    _print(state)


@spending_commands.command("limit")
@click.argument("kind", type=click.Choice(["partner", "organization", "key"]))
@click.argument("id_", metavar="ID", type=click.UUID)
@click.option("--day", type=AmountParameter(), help="Money a day.")
@click.option("--month", type=AmountParameter(), help="Money a month.")
@click.option("--day-minutes", type=click.IntRange(0), help="Minutes a day.")
@click.option("--month-minutes", type=click.IntRange(0), help="Minutes a month.")
@click.option("--wait/--refuse", "waits", help="What an organization's direct calls do then.")
def limit(
    kind: str,
    id_: UUID,
    day: int | None,
    month: int | None,
    day_minutes: int | None,
    month_minutes: int | None,
    waits: bool,
) -> None:
    """Replace the spending limits; an option that is left out means no limit. Days and months are
    UTC."""
    subject = _subject(kind, id_)
    limits = SpendingLimits(day, month, day_minutes, month_minutes)
    with changing() as (session, caller):
        before = spending.spending_of(session, caller, subject).limits
        waits = waits and subject.organization_id is not None
        limits = replace(limits, waits=waits, is_watched=before.is_watched)
        spending.change(session, caller, subject, limits)
        state = spending.spending_of(session, caller, subject)
    _print(state)


def _subject(kind: str, id_: UUID) -> LimitSubject:
    match kind:
        case "partner":
            return LimitSubject(partner_id=id_)
        case "organization":
            return LimitSubject(organization_id=id_)
        case _:
            return LimitSubject(api_key_id=id_)


def _print(state: SpendingState) -> None:
    for label, money, time in (
        ("Today", state.day_money, state.day_time),
        ("This month", state.month_money, state.month_time),
    ):
        click.echo(f"{label}: {_money(money, state.currency)}, {_minutes(time)}")


def _money(use: LimitUsage, currency: str) -> str:
    maximum = "no limit" if use.limit is None else f"{spending.format_amount(use.limit)} {currency}"
    used = f"{spending.format_amount(use.spent)} {currency}"
    reserved = f" (and {spending.format_amount(use.reserved)} reserved)" if use.reserved else ""
    return f"{used}{reserved} of {maximum}"


def _minutes(use: LimitUsage) -> str:
    maximum = "no limit" if use.limit is None else f"{use.limit // 60:,}"
    return f"{use.spent // 60:,} minutes of {maximum}"
