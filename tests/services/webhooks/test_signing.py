"""Signatures and stored secrets."""

import base64

import pytest

from app.services.credentials.encryption import SealBroken, seal, unseal
from app.services.webhooks.signing import headers, new_secret, signature


def test_the_signature_is_that_of_the_specifications_own_example() -> None:
    made = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        '{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_is_signed_with_every_secret_that_is_given() -> None:
    old, new = new_secret(), new_secret()
    made = headers([new, old], "msg_1", 17, "{}")
    assert made == {
        "webhook-id": "msg_1",
        "webhook-timestamp": "17",
        "webhook-signature": f"{signature(new, 'msg_1', 17, '{}')} "
        f"{signature(old, 'msg_1', 17, '{}')}",
    }


def test_a_secret_has_256_bits_and_is_never_the_same() -> None:
    secrets = {new_secret() for _ in range(50)}
    assert len(secrets) == 50
    lengths = {len(base64.b64decode(each.removeprefix("whsec_"))) for each in secrets}
    assert lengths == {32}


def test_a_secret_sealed_with_the_previous_key_opens_and_says_so() -> None:
    sealed = seal("a secret", "tests", ["old"])
    assert "secret" not in sealed
    opened = unseal(sealed, "tests", ["new", "old"])
    assert (opened.text, opened.is_current) == ("a secret", False)
    assert unseal(seal("a secret", "tests", ["new", "old"]), "tests", ["new"]).is_current


@pytest.mark.parametrize(("purpose", "keys"), [("tests", ["other"]), ("others", ["old"])])
def test_a_sealed_secret_opens_with_no_other_key(purpose: str, keys: list[str]) -> None:
    with pytest.raises(SealBroken):
        unseal(seal("a secret", "tests", ["old"]), purpose, keys)
    with pytest.raises(SealBroken):
        unseal("a secret in plain text", purpose, keys)
