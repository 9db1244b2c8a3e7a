"""Is it Twilio that calls? Its signature over the exact address and the form says so."""

from collections.abc import Mapping

from twilio.request_validator import RequestValidator


def is_genuine(auth_token: str, url: str, form: Mapping[str, str], signature: str) -> bool:
    """``url`` is the address as it was given to Twilio, query included."""
    return bool(RequestValidator(auth_token).validate(url, form, signature))
