"""Prove a password without sending it: digest authentication (RFC 8760) as trunks use it."""

import hashlib
import re
import secrets
from collections.abc import Iterable

_PART = re.compile(r'(\w+)=(?:"([^"]*)"|([^\s,]+))')
_HASHES = {"md5": "md5", "sha-256": "sha256"}


def proof(
    challenges: Iterable[str], method: str, target: str, user: str, password: str
) -> str | None:
    """Return the value of ``Authorization`` for the first supported challenge; None if there is
    none."""
    for challenge in challenges:
        asked = {name.lower(): quoted or plain for name, quoted, plain in _PART.findall(challenge)}
        algorithm = _HASHES.get(asked.get("algorithm", "MD5").lower())
        offered = {each.strip() for each in asked.get("qop", "").split(",")} - {""}
        is_met = challenge.lower().startswith("digest ") and "nonce" in asked
        if is_met and algorithm and (not offered or "auth" in offered):
            return _digest(asked, algorithm, bool(offered), (method, target, user, password))
    return None


def _digest(
    asked: dict[str, str], algorithm: str, protects: bool, of: tuple[str, str, str, str]
) -> str:
    method, target, user, password = of
    realm, nonce = asked.get("realm", ""), asked["nonce"]
    own = _hashed(algorithm, user, realm, password)
    what = _hashed(algorithm, method, target)
    parts = [f'username="{user}"', f'realm="{realm}"', f'nonce="{nonce}"', f'uri="{target}"']
    if protects:
        count, chance = "00000001", secrets.token_hex(8)
        response = _hashed(algorithm, own, nonce, count, chance, "auth", what)
        parts += ["qop=auth", f"nc={count}", f'cnonce="{chance}"']
    else:
        response = _hashed(algorithm, own, nonce, what)
    parts.append(f'response="{response}"')
    parts += [f'opaque="{asked["opaque"]}"'] if "opaque" in asked else []
    parts += [f"algorithm={asked['algorithm']}"] if "algorithm" in asked else []
    return "Digest " + ", ".join(parts)


def _hashed(algorithm: str, *parts: str) -> str:
    return hashlib.new(algorithm, ":".join(parts).encode(), usedforsecurity=False).hexdigest()
