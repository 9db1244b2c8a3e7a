"""The worker's periodic task after a change of the application's secret."""

from collections.abc import Sequence
from typing import Any

from app.jobs.context import context
from app.models import (
    AuthenticatorApp,
    CarrierAccount,
    IdentityProvider,
    PartnerDomain,
    ProcessorAccount,
    Webhook,
)
from app.services.carrier_accounts import secret_retention as carrier_accounts
from app.services.credentials.reencryption import StoredSecret, reencrypt_batch
from app.services.domains import sender
from app.services.factors import authenticator_apps
from app.services.identity_providers import providers
from app.services.pricing import accounts as processor_accounts
from app.services.webhooks import signing

STORED_SECRETS = (
    StoredSecret(AuthenticatorApp.secret, authenticator_apps.PURPOSE),
    StoredSecret(CarrierAccount.secret, carrier_accounts.PURPOSE),
    StoredSecret(IdentityProvider.secret, providers.PURPOSE),
    StoredSecret(PartnerDomain.dkim_key, sender.PURPOSE),
    StoredSecret(ProcessorAccount.secret, processor_accounts.PURPOSE),
    StoredSecret(ProcessorAccount.webhook_secret, processor_accounts.WEBHOOK_PURPOSE),
    StoredSecret(Webhook.secret, signing.PURPOSE),
    StoredSecret(Webhook.previous_secret, signing.PURPOSE),
)


def reencrypt_secrets() -> None:
    """Encrypt with the current key what the previous key encrypted, some rows per transaction.
    Nothing is read while no previous key is configured."""
    keys = context().settings.secret_keys
    if len(keys) > 1:
        for stored in STORED_SECRETS:
            _reencrypt(stored, keys)


def _reencrypt(stored: StoredSecret, keys: Sequence[str]) -> None:
    last: Sequence[Any] = ()
    has_more = True
    while has_more:
        with context().database.transaction() as session:
            last = reencrypt_batch(session, stored, keys, last)
        has_more = bool(last)
