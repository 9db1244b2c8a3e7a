"""How pages write addresses."""

import pytest

from app.portal.web.formats import breakable


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("ada@mail.example.com", "ada@|mail.|example.|com"),
        ("https://hooks.example.com/in/2", "https://|hooks.|example.|com/|in/|2"),
        ("https://hooks.example.com/", "https://|hooks.|example.|com/"),
        ("a<b@mail.example", "a&lt;b@|mail.|example"),
    ],
)
def test_a_long_address_breaks_after_its_at_sign_dots_and_slashes(address: str, shown: str) -> None:
    assert breakable(address) == shown.replace("|", "<wbr>")
