"""A setting that can't be used ends the program with a sentence about it, and no other word."""

import pytest

from app.config import read_settings


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"PORTAL_CARRIER": "twilio", "TWILIO_ACCOUNT_SID": "AC1"},
            "TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN must be set where PORTAL_CARRIER is twilio.",
        ),
        (
            {"PORTAL_CARRIER": "pigeon"},
            "PORTAL_CARRIER can't be used: Input should be 'simulator', 'sip' or 'twilio'.",
        ),
        (
            {"TWILIO_AUTH_TOKEN": "a secret", "TWILIO_API_URL": "127.0.0.1:9999"},
            "TWILIO_API_URL is written https://host or http://host:port.",
        ),
        (
            {"PORTAL_CARRIER": "sip"},
            "PORTAL_SIP_TRUNK must be set where PORTAL_CARRIER is sip.",
        ),
        (
            {"PORTAL_CARRIER": "sip", "PORTAL_SIP_TRUNK": "sip:trunk.example.com"},
            "PORTAL_SIP_TRUNK is written host or host:port.",
        ),
        (
            {"PORTAL_SIP_TRUNK": "trunk.example.com", "PORTAL_SIP_USER": "portal"},
            "PORTAL_SIP_USER and PORTAL_SIP_PASSWORD must be set together, or neither.",
        ),
        (
            {"PORTAL_SIP_TRUNK": "trunk.example.com", "PORTAL_SIP_REGISTER": "1"},
            "PORTAL_SIP_USER must be set where PORTAL_SIP_REGISTER is on.",
        ),
        (
            {"PORTAL_SIP_USER": "portal", "PORTAL_SIP_PASSWORD": "a;secret"},
            (
                "PORTAL_SIP_PASSWORD can't hold spaces, semicolons, angle brackets or letters "
                "beyond ASCII: baresip has no way to write them."
            ),
        ),
        (
            {
                "PORTAL_CARRIER": "sip",
                "PORTAL_SIP_TRUNK": "trunk.example.com",
                "PORTAL_SIP_BARESIP": "/absent/baresip",
            },
            (
                "Calls over SIP need baresip, which is not installed: install the package "
                "baresip-core (Debian, Ubuntu), or name the program in PORTAL_SIP_BARESIP."
            ),
        ),
        (
            {
                "PORTAL_CARRIER": "sip",
                "PORTAL_SIP_TRUNK": "trunk.example.com:5080",
                "PORTAL_SIP_BARESIP": "/bin/sh",
                "PORTAL_SIP_ESPEAK": "/absent/espeak-ng",
            },
            (
                "Calls over SIP need espeak-ng, which is not installed: install the package "
                "espeak-ng (Debian, Ubuntu), or name the program in PORTAL_SIP_ESPEAK."
            ),
        ),
        (
            {
                "PORTAL_ENV": "production",
                "PORTAL_SECRET_KEY": "k" * 32,
                "PORTAL_PUBLIC_URL": "https://portal.example",
                "PORTAL_SIP_ALLOW_PRIVATE": "1",
            },
            "PORTAL_SIP_ALLOW_PRIVATE is for tests; it can't be set in production.",
        ),
        (
            {"PORTAL_WRITER": "openai", "PORTAL_WRITER_URL": "https://models.example/v1"},
            (
                "PORTAL_WRITER=openai needs PORTAL_WRITER_URL, written https://host/v1, and "
                "PORTAL_WRITER_MODEL."
            ),
        ),
        (
            {
                "PORTAL_WRITER": "openai",
                "PORTAL_WRITER_URL": "https://models.example/v1",
                "PORTAL_WRITER_MODEL": "small-1",
                "PORTAL_WRITER_KEY": "sk-1\nX-Other: 1",
            },
            "PORTAL_WRITER_KEY holds characters that no key has.",
        ),
        (
            {
                "PORTAL_ENV": "production",
                "PORTAL_SECRET_KEY": "k" * 32,
                "PORTAL_PUBLIC_URL": "https://portal.example",
                "PORTAL_WRITER": "openai",
                "PORTAL_WRITER_URL": "http://models.example/v1",
                "PORTAL_WRITER_MODEL": "small-1",
            },
            "PORTAL_WRITER_URL must start with https:// in production.",
        ),
    ],
)
def test_the_sentence_names_what_is_wrong_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as refusal:
        read_settings()
    assert refusal.value.code == sentence
