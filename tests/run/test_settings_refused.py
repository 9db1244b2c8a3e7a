"""A setting that can't be used ends the program with a sentence about it, and no other word."""

import secrets

import pytest

from app.config import read_settings
from app.config.production import MIN_SECRET_BITS, secret_bits
from tests.fixtures.settings import SECRET_KEY

PRODUCTION = {
    "PORTAL_ENV": "production",
    "PORTAL_SECRET_KEY": SECRET_KEY,
    "PORTAL_PUBLIC_URL": "https://portal.example",
}
GUESSED = (
    "PORTAL_SECRET_KEY is easy to guess: it repeats characters or parts. Make one with: "
    "python -c 'import secrets; print(secrets.token_urlsafe(48))'"
)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"PORTAL_CARRIER": "twilio", "TWILIO_ACCOUNT_SID": "AC1"},
            "TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN must be set where PORTAL_CARRIER is twilio.",
        ),
        (
            {"PORTAL_FILES_URL": "https://bucket.example.com"},
            "PORTAL_FILES_URL is written s3://bucket/prefix or file:///a/folder.",
        ),
        (
            {"PORTAL_FILES_URL": "s3://key:secret@bucket"},
            "PORTAL_FILES_URL is written s3://bucket/prefix or file:///a/folder.",
        ),
        (
            {"PORTAL_FILES_URL": "s3://bucket", "PORTAL_FILES_KEY_ID": "AK"},
            "Set PORTAL_FILES_KEY_ID and PORTAL_FILES_KEY_SECRET, or none of them.",
        ),
        (
            {"PORTAL_FILES_URL": "s3://bucket", "PORTAL_FILES_DOWNLOADS": "bucket"},
            (
                "PORTAL_FILES_DOWNLOADS=bucket needs an s3:// address in PORTAL_FILES_URL, and "
                "PORTAL_FILES_KEY_ID."
            ),
        ),
        (
            {"PORTAL_BACKUP_BUCKET": "file:///backups", "PORTAL_BACKUP_PUBLIC_KEY": "age1x"},
            "PORTAL_BACKUP_BUCKET is written s3://bucket/prefix.",
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
                **PRODUCTION,
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
                "PORTAL_TRANSCRIBER": "deepgram",
                "PORTAL_TRANSCRIBER_URL": "https://api.deepgram.com/v1",
            },
            (
                "PORTAL_TRANSCRIBER=deepgram needs PORTAL_TRANSCRIBER_URL, written "
                "https://host/v1, and PORTAL_TRANSCRIBER_MODEL."
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
                **PRODUCTION,
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


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({"PORTAL_SECRET_KEY": "a" * 36}, [GUESSED]),
        ({"PORTAL_SECRET_KEY": "only-for-tests-" * 3}, [GUESSED]),
        ({"PORTAL_SECRET_KEY": "abcdefghijklmnopqrstuvwxyz0123456789"}, [GUESSED]),
        (
            {"PORTAL_SECRET_KEY": "short"},
            ["PORTAL_SECRET_KEY must be set to at least 32 characters in production."],
        ),
        (
            {"FLASK_DEBUG": "1"},
            ["FLASK_DEBUG must not be set in production: its pages show code and settings."],
        ),
        (
            {"PORTAL_TOKEN_SECONDS": "86401"},
            ["PORTAL_TOKEN_SECONDS must be at most 86400 (a day) in production."],
        ),
        *(
            ({name: "http://other.example"}, [f"{name} must start with https:// in production."])
            for name in (
                "PORTAL_PUBLIC_URL",
                "PORTAL_BASE_URL",
                "PORTAL_AUTH_URL",
                "PORTAL_PHONE_URL",
                "PORTAL_PUBLIC_API_URL",
                "PORTAL_STRIPE_API_URL",
                "TWILIO_API_URL",
            )
        ),
        (
            {
                "PORTAL_SECRET_KEY": "",
                "TWILIO_API_URL": "http://other.example",
                "FLASK_DEBUG": "true",
                "PORTAL_WEBHOOK_ALLOW_PRIVATE": "1",
            },
            [
                "PORTAL_SECRET_KEY must be set to at least 32 characters in production.",
                "TWILIO_API_URL must start with https:// in production.",
                "FLASK_DEBUG must not be set in production: its pages show code and settings.",
                "PORTAL_WEBHOOK_ALLOW_PRIVATE is for tests; it can't be set in production.",
            ],
        ),
    ],
)
def test_production_names_everything_that_is_not_safe(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], sentences: list[str]
) -> None:
    for name, value in (PRODUCTION | changes).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as refusal:
        read_settings()
    assert str(refusal.value.code).split("\n") == sentences


def test_random_secrets_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [secrets.token_hex(16) for _ in range(200)]
    made += [secrets.token_urlsafe(24) for _ in range(200)]
    assert min(map(secret_bits, made)) >= MIN_SECRET_BITS
    for name, value in {**PRODUCTION, "FLASK_DEBUG": "0"}.items():
        monkeypatch.setenv(name, value)
    assert read_settings().env == "production"
