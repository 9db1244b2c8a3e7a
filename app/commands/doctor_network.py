"""Checks of external services: names, mail, carrier, the public URL and callbacks."""

import ssl
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from app.commands.doctor_findings import Check, DoctorFinding, fail, ok, warn
from app.config import Settings, database_urls
from app.database import Database
from app.gateways import certificates, outside_http
from app.gateways.carriers.factory import account_of, trunk_of
from app.gateways.carriers.sip.checking import check_trunk
from app.gateways.carriers.twilio.checking import fault_of
from app.gateways.mailers import MailDeferred
from app.gateways.mailers.smtp import SmtpMailer
from app.gateways.outside_http import HttpAnswer, NoAnswer
from app.gateways.public_addresses import HostRefused, resolve_addresses
from app.models import utcnow

LOOKUP_SECONDS = 5.0
SLOW_LOOKUP_SECONDS = 1.0
MAIL_SECONDS = 10.0
CERTIFICATE_DAYS = 14


def names(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether the names that the portal looks up are found quickly."""
    slowest, hosts = 0.0, sorted(set(_hosts(settings)))
    for host in hosts:
        began = time.monotonic()
        try:
            resolve_addresses(host, 443, seconds=LOOKUP_SECONDS, allow_private=True)
        except HostRefused as reason:
            return fail(f"{host}: {reason}. Check the name, and /etc/resolv.conf of this machine.")
        slowest = max(slowest, time.monotonic() - began)
    summary = f"{', '.join(hosts)} found, the slowest in {slowest * 1000:.0f} ms"
    if slowest > SLOW_LOOKUP_SECONDS:
        return warn(f"{summary}. Use a nearer name server.")
    return ok(summary)


def _hosts(settings: Settings) -> Iterator[str]:
    addresses = [settings.public_url, settings.smtp_url, settings.writer_url]
    if settings.sip_trunk:
        addresses.append(f"//{settings.sip_trunk}")
    if settings.twilio_account_sid:
        addresses.append(settings.twilio_api_url or "https://api.twilio.com")
    yield from (host for address in addresses if (host := urlsplit(address).hostname))
    yield from (host for host, _port in database_urls.servers(settings.effective_database_url))


def mail(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether the mail server accepts a connection and the password; no mail is sent."""
    if not settings.smtp_url:
        return warn("Mails stay in the outbox folder. Set PORTAL_SMTP_URL to send them.")
    sender = settings.effective_mail_from
    try:
        SmtpMailer(settings.smtp_url, sender, timeout_seconds=MAIL_SECONDS).check()
    except MailDeferred as reason:
        return fail(f"No mail can be sent ({reason}). Check PORTAL_SMTP_URL and the server.")
    return ok(f"the server accepts mail from {sender}")


def carrier(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether the carrier of live calls accepts the account; no one is called."""
    if settings.carrier == "simulator":
        return warn("Calls are simulated and no phone rings. Set PORTAL_CARRIER for live calls.")
    if settings.carrier == "twilio":
        fault = fault_of(account_of(settings), [])
    else:
        finding = check_trunk(trunk_of(settings), [])
        fault = None if finding.works else finding.message
    if fault:
        return fail(f"{fault} Compare the settings of the carrier.")
    return ok(f"{settings.carrier} accepts the account")


def public_address(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether browsers and scripts reach the portal, as seen from this machine."""
    try:
        answer = _send_request("GET", settings, "/healthz")
    except NoAnswer as reason:
        what_to_do = "Start the web process and the proxy, and check DNS and the certificate."
        return fail(f"{settings.public_url} doesn't answer: {reason}. {what_to_do}")
    if answer.status != 200 or b'"status"' not in (answer.body or b""):
        where = f"{settings.public_url}/healthz"
        return fail(f"{where} answers {answer.status}. Another program answers there.")
    return ok(f"{settings.public_url} answers")


def certificate(settings: Settings, _database: Database) -> DoctorFinding:
    parts = urlsplit(settings.public_url)
    if parts.scheme != "https" or not parts.hostname:
        return warn("The public address uses http. Serve it over https.")
    try:
        ends_at = certificates.valid_until(parts.hostname, parts.port or 443)
    except ssl.SSLCertVerificationError as error:
        return fail(f"It can't be trusted: {error.verify_message}. Renew or replace it.")
    except OSError as error:
        reason = error.strerror or error  # one of Python itself, such as "timed out", has none
        return fail(f"No TLS connection to {parts.netloc}: {reason}. Check the proxy.")
    days = (ends_at - utcnow()).days
    if days < CERTIFICATE_DAYS:
        return warn(f"It ends on {ends_at:%Y-%m-%d}. Renew it, and check the automatic renewal.")
    return ok(f"valid until {ends_at:%Y-%m-%d}")


def callbacks(settings: Settings, _database: Database) -> DoctorFinding:
    """Whether the proxy forwards callbacks: one without a signature must be refused."""
    if not settings.twilio_account_sid:
        return ok("the carrier sends none")
    try:
        answer = _send_request("POST", settings, "/carrier/twilio/status")
    except NoAnswer as reason:
        return fail(f"No answer at {settings.public_url}/carrier/: {reason}. Check the proxy.")
    if answer.status != 403:
        return fail(f"/carrier/ answers {answer.status}, not 403. Pass it on to the portal.")
    return ok("/carrier/ reaches the portal and refuses callbacks without a signature")


def _send_request(method: str, settings: Settings, path: str) -> HttpAnswer:
    url = f"{settings.public_url.rstrip('/')}{path}"
    body = b"" if method == "POST" else None
    return outside_http.send_request(method, url, {}, body, max_bytes=1000, allow_private=True)


NETWORK_CHECKS: dict[str, Check] = {
    "names": names,
    "mail": mail,
    "carrier": carrier,
    "address": public_address,
    "certificate": certificate,
    "callbacks": callbacks,
}
