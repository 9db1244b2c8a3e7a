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
        params = {name.lower(): quoted or plain for name, quoted, plain in _PART.findall(challenge)}
        algorithm = _HASHES.get(params.get("algorithm", "MD5").lower())
        qops = {each.strip() for each in params.get("qop", "").split(",")} - {""}
        is_met = challenge.lower().startswith("digest ") and "nonce" in params
        if is_met and algorithm and (not qops or "auth" in qops):
            return _digest(params, algorithm, bool(qops), (method, target, user, password))
    return None


def _digest(
    params: dict[str, str], algorithm: str, protects: bool, inputs: tuple[str, str, str, str]
) -> str:
    method, target, user, password = inputs
    realm, nonce = params.get("realm", ""), params["nonce"]
    ha1 = _hash(algorithm, user, realm, password)
    ha2 = _hash(algorithm, method, target)
    fields = [f'username="{user}"', f'realm="{realm}"', f'nonce="{nonce}"', f'uri="{target}"']
    if protects:
        count, chance = "00000001", secrets.token_hex(8)
        response = _hash(algorithm, ha1, nonce, count, chance, "auth", ha2)
        fields += ["qop=auth", f"nc={count}", f'cnonce="{chance}"']
    else:
        response = _hash(algorithm, ha1, nonce, ha2)
    fields.append(f'response="{response}"')
    fields += [f'opaque="{params["opaque"]}"'] if "opaque" in params else []
    fields += [f"algorithm={params['algorithm']}"] if "algorithm" in params else []
    return "Digest " + ", ".join(fields)


def _hash(algorithm: str, *values: str) -> str:
    return hashlib.new(algorithm, ":".join(values).encode(), usedforsecurity=False).hexdigest()
