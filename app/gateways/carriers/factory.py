"""The carriers that the settings configure: the simulated carrier, Twilio and a SIP trunk."""

from dataclasses import replace

from sqlalchemy import Engine

from app.config import Settings
from app.enums import CarrierKind
from app.gateways.carriers.base import Carrier
from app.gateways.carriers.partner_accounts import AccountCredentials
from app.gateways.carriers.simulator import SimulatedCarrier
from app.gateways.carriers.sip.account import SipAccount, Trunk
from app.gateways.carriers.sip.carrier import SipCarrier
from app.gateways.carriers.sip.ledger import AttemptLedger
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.carrier import TwilioCarrier


def open_carriers(settings: Settings, ledger: Engine) -> dict[CarrierKind, Carrier]:
    """Return every carrier that this installation can use. ``ledger`` is the connection of the
    simulated carrier's ledger.

    Twilio is included if its credentials are set, the SIP trunk if its address is: active calls are
    followed to their end after the installation has moved to another carrier.
    """
    AttemptLedger(
        trunk_of(settings).folder
    ).began_at()  # before a partner's trunk has its first call
    carriers: dict[CarrierKind, Carrier] = {
        CarrierKind.SIMULATOR: SimulatedCarrier(ledger, settings.simulator_pace)
    }
    if settings.twilio_account_sid and settings.twilio_auth_token:
        carriers[CarrierKind.TWILIO] = TwilioCarrier(account_of(settings))
    if settings.sip_trunk:
        carriers[CarrierKind.SIP] = SipCarrier(trunk_of(settings))
    return carriers


def open_account(settings: Settings, opened: AccountCredentials) -> Carrier:
    """Return the carrier of a partner's account."""
    if opened.trunk is not None:
        name = str(opened.account_id)
        return SipCarrier(partner_trunk(settings, opened.trunk, opened.secret, name))
    return TwilioCarrier(account_with(settings, opened.sid, opened.secret))


def account_with(settings: Settings, sid: str, token: str) -> TwilioAccount:
    return replace(account_of(settings), sid=sid, auth_token=token)


def partner_trunk(
    settings: Settings, trunk: Trunk, password: str = "", name: str = ""
) -> SipAccount:
    """Return the SIP account of a partner's trunk, which must not lead into a private network."""
    return replace(
        trunk_of(settings),
        trunk=trunk.address,
        user=trunk.user,
        password=password,
        domain=trunk.domain,
        proxy=trunk.proxy,
        transport=trunk.transport,
        registers=trunk.registers,
        shows_number=trunk.shows_number,
        name=name,
        is_pinned=True,
        may_be_private=settings.sip_allow_private,
    )


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
        longest_call_seconds=settings.longest_call_minutes * 60,
        records=settings.twilio_record,
    )


def trunk_of(settings: Settings) -> SipAccount:
    return SipAccount(
        trunk=settings.sip_trunk,
        folder=settings.instance_dir.resolve() / "sip",
        user=settings.sip_user,
        password=settings.sip_password,
        domain=settings.sip_domain,
        proxy=settings.sip_proxy,
        transport=settings.sip_transport,
        registers=settings.sip_register,
        probes=settings.sip_probe,
        shows_number=settings.sip_caller_id == "number",
        rtp_ports=settings.sip_rtp_ports,
        voice=settings.sip_voice,
        sounds=settings.sip_sounds.resolve() if settings.sip_sounds else None,
        baresip=settings.sip_baresip,
        espeak=settings.sip_espeak,
        ring_seconds=settings.sip_ring_seconds,
        request_seconds=settings.carrier_request_seconds,
        poll_seconds=settings.carrier_poll_seconds,
        longest_call_seconds=settings.longest_call_minutes * 60,
    )
