"""Telephone carriers: the simulated line, and Twilio where the settings name it."""

from sqlalchemy import Engine

from app.config import Settings
from app.enums import CarrierKind
from app.gateways.carriers.base import Carrier
from app.gateways.carriers.simulator import Simulator
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.line import Twilio


def open_carriers(settings: Settings, ledger: Engine) -> dict[CarrierKind, Carrier]:
    """Every line that this installation can use. ``ledger`` is the simulated line's own
    connection to the database.

    Twilio is there wherever its credentials are: calls that it has on the line are followed to
    their end after the installation has moved to another carrier.
    """
    carriers: dict[CarrierKind, Carrier] = {
        CarrierKind.SIMULATOR: Simulator(ledger, settings.simulator_pace)
    }
    if settings.twilio_account_sid and settings.twilio_auth_token:
        carriers[CarrierKind.TWILIO] = Twilio(account_of(settings))
    return carriers


def account_of(settings: Settings) -> TwilioAccount:
    return TwilioAccount(
        sid=settings.twilio_account_sid,
        auth_token=settings.twilio_auth_token,
        public_url=settings.public_url.rstrip("/"),
        api_url=settings.twilio_api_url,
        request_seconds=settings.carrier_request_seconds,
        settle_seconds=settings.carrier_settle_seconds,
        poll_seconds=settings.carrier_poll_seconds,
        silence_seconds=settings.carrier_silence_seconds,
    )


__all__ = ["account_of", "open_carriers"]
