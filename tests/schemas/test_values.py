"""Email addresses, web addresses and colours: what is accepted is safe where it is used."""

import re
from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import urlsplit

import pytest
from coloraide import Color
from coloraide.css import color_names
from hypothesis import given, settings
from hypothesis import strategies as st

from app.schemas.fields import write_moment
from app.validation import colours, emails, urls

some = settings(max_examples=60, deadline=None)
"""Making up an example of a pattern takes long, and so does compiling the rule for the first."""


@pytest.mark.parametrize(
    "value",
    ["a@b.example", "first.last+tag@sub.example.co", "ünal@münchen.example", "a'b@x-y.example"],
)
def test_a_valid_email_is_accepted(value: str) -> None:
    assert emails.is_email(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a",
        "a@b",
        "@b.example",
        "a@",
        "a@@b.example",
        "a b@c.example",
        ".a@b.example",
        "a..b@c.example",
        "a@-b.example",
        "a@b.1",
        "a@[127.0.0.1]",
        '"a b"@c.example',
        "a@b.example\n",
        "a@b.example\r\nBcc: c@d.example",
        "a\u2028@b.example",
        f"a@{'b' * 63}.{'c' * 63}.{'d' * 63}.{'e' * 63}.example",
        "Ada <a@b.example>",
    ],
)
def test_an_invalid_email_is_refused(value: str) -> None:
    assert not emails.is_email(value)


@some
@given(st.emails())
def test_every_ordinary_email_is_accepted(value: str) -> None:
    assert emails.is_email(value)


@some
@given(st.from_regex(re.compile(emails.PATTERN.removesuffix("$")), fullmatch=True))
def test_an_email_that_the_published_pattern_allows_is_accepted_up_to_the_limit(value: str) -> None:
    fits = len(value) <= emails.MAX_LENGTH and value.isprintable()
    assert emails.is_email(value) == fits


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com",
        "HTTP://EXAMPLE.COM:8080/a/b?c=d&e=%20#f",
        "http://localhost:8000/files/logo.png",
        "https://münchen.example/straße",
        "https://example.com:65535",
        "https://example.com?x=javascript:1",
    ],
)
def test_a_valid_url_is_accepted(value: str) -> None:
    assert urls.is_web_url(value)
    assert urls.is_link(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "example.com",
        "//example.com",
        "/path",
        "javascript:alert(1)",
        "JaVaScRiPt://example.com/%0aalert(1)",
        "data:text/html,x",
        "ftp://example.com",
        "https://",
        "https:///path",
        "https://user@example.com",
        "https://user:pass@example.com",
        "https://example.com\\@evil.example",
        "https:\\\\example.com",
        "https://example.com:65536",
        "https://example.com:0",
        "https://example.com\uff0fevil.example",
        "https://exa\u2100mple.com",
        "https://exa mple.com",
        " https://example.com",
        "https://example.com\n",
        "https://example.com/\x00",
        "https://example.com/\t",
        'https://example.com/"onload="x',
        "https://example.com/<script>",
        "https://example.com/" + "a" * 2000,
    ],
)
def test_an_invalid_url_is_refused(value: str) -> None:
    assert not urls.is_web_url(value)
    assert not urls.is_link(value)


@pytest.mark.parametrize("value", ["mailto:help@example.com", "tel:+12025550123", "tel:020-7946"])
def test_only_header_links_may_be_mail_and_telephone_links(value: str) -> None:
    assert urls.is_link(value)
    assert not urls.is_web_url(value)


@pytest.mark.parametrize("value", ["mailto:", "mailto:a", "mailto:a@b.example?bcc=c@d.e", "tel:x"])
def test_an_invalid_mail_or_telephone_link_is_refused(value: str) -> None:
    assert not urls.is_link(value)


@some
@given(st.from_regex(re.compile(urls.WEB_PATTERN.removesuffix("$")), fullmatch=True))
def test_a_url_that_the_published_pattern_allows_is_http_without_user_or_blank(value: str) -> None:
    assert urls.is_web_url(value) == (len(value) <= urls.MAX_LENGTH)
    parts = urlsplit(value)
    assert parts.scheme in {"http", "https"}
    assert (parts.username, parts.password) == (None, None)
    assert not set(value) & set('"<>\\ \t\r\n\x00')


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("#abc", "#aabbcc"),
        ("#7A2E6B", "#7a2e6b"),
        ("rgb(122, 46, 107)", "#7a2e6b"),
        ("rgb(122 46 107)", "#7a2e6b"),
        ("RGB(100%,0%,50%)", "#ff0080"),
        ("rgb(300, 0, 0)", "#ff0000"),
        ("hsl(120, 100%, 25%)", "#008000"),
        ("hsl(120deg 100% 25%)", "#008000"),
        ("RebeccaPurple", "#663399"),
    ],
)
def test_a_colour_is_stored_as_six_digits(value: str, written: str) -> None:
    assert colours.is_colour(value)
    assert colours.to_hex(value) == written


@pytest.mark.parametrize(
    "value",
    [
        "",
        "#ab",
        "#abcd",
        "#aabbccdd",
        "abc",
        "transparent",
        "currentcolor",
        "inherit",
        "rgb(1,2)",
        "rgb(1,2,3,0.5)",
        "rgb(1 2 3 / 50%)",
        "rgba(1,2,3,1)",
        "rgb(1,2%,3)",
        "hsl(1,2,3)",
        "red;}",
        "red\n",
        "#abc\n",
        "url(x)",
        "var(--x)",
        "rgb(1, 2, 3",
        "color(srgb 1 0 0)",
    ],
)
def test_an_invalid_colour_is_refused(value: str) -> None:
    assert not colours.is_colour(value)
    with pytest.raises(ValueError, match="not a colour"):
        colours.to_hex(value)


def test_all_colour_names_of_css_are_accepted() -> None:
    assert set(colours.NAMES) == color_names.name2val_map.keys() - {"transparent"}


@some
@given(st.from_regex(re.compile(colours.PATTERN.removesuffix("$")), fullmatch=True))
def test_a_colour_that_the_published_pattern_allows_becomes_six_digits(value: str) -> None:
    assert colours.is_colour(value)
    assert re.fullmatch(r"#[0-9a-f]{6}", colours.to_hex(value))
    assert Color(value).alpha() == 1


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 5, 4, 9, 30, tzinfo=UTC), "2026-05-04T09:30:00.000Z"),
        (datetime(2026, 5, 4, 9, 30, 1, 999, tzinfo=UTC), "2026-05-04T09:30:01.000Z"),
        (datetime(2026, 5, 4, 9, 30, 1, 999_999, tzinfo=UTC), "2026-05-04T09:30:01.999Z"),
        (
            datetime(2026, 5, 4, 1, tzinfo=timezone(timedelta(hours=2))),
            "2026-05-03T23:00:00.000Z",
        ),
    ],
)
def test_a_time_is_written_in_utc_with_three_decimals(moment: datetime, written: str) -> None:
    assert write_moment(moment) == written
