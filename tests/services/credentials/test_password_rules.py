"""What a new password is refused for, in words; everything else is the person's own affair."""

import pytest

from app.errors import ValidationFailed
from app.services.auth import password_rules

KNOWN = ("ada.byron@hillside.example", "Ada Byron", "Northwind Voice Desk")


def problems(password: str) -> list[tuple[str, str]]:
    """Field and code of everything that the password is refused for."""
    try:
        password_rules.check(password, known=KNOWN)
    except ValidationFailed as refused:
        return [(problem.field, problem.code) for problem in refused.problems]
    return []


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "zwölf Zeichen?",
        "            x",
        "🐎🔋📎🐎🔋📎🐎🔋📎🐎🔋x",
        "passwordless future",
        "ada.byron and the engine",
        "x" * 6 + "y" * 994,
    ],
)
def test_a_long_password_of_ones_own_is_accepted(password: str) -> None:
    assert problems(password) == []


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("elevenchars", "too_short"),
        ("", "too_short"),
        ("x" * 6 + "y" * 995, "too_long"),
        ("aaaaaaaaaaaa", "too_common"),
        ("abcabcabcabca", "too_common"),
        ("1234123412341234", "too_common"),
        ("123456789012", "too_common"),
        ("abcdefghijklmn", "too_common"),
        ("qwertyuiopqwerty", "too_common"),
        ("zyxwvutsrqponm", "too_common"),
        ("Password1234!", "too_common"),
        ("passwordpassword", "too_common"),
        ("Summer1Summer1", "too_common"),
        ("!!!Welcome2026", "too_common"),
        ("administrator", "too_common"),
        ("Ada.Byron@hillside.example", "too_close"),
        ("adabyron2026!!", "too_close"),
        ("NorthwindVoiceDesk1", "too_close"),
        ("northwind voice desk", "too_close"),
    ],
)
def test_what_is_guessed_first_is_refused(password: str, code: str) -> None:
    assert problems(password) == [("password", code)]


def test_a_short_password_is_refused_with_the_minimum_length() -> None:
    with pytest.raises(ValidationFailed, match=r"Too short: 1 character\. Use at least 12\."):
        password_rules.check("x")
