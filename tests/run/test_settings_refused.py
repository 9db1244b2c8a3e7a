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
            "PORTAL_CARRIER can't be used: Input should be 'simulator' or 'twilio'.",
        ),
        (
            {"TWILIO_AUTH_TOKEN": "a secret", "TWILIO_API_URL": "127.0.0.1:9999"},
            "TWILIO_API_URL is written https://host or http://host:port.",
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
