"""Signed links to objects of a bucket (AWS Signature Version 4 in the query).

obstore signs links too, but none that name the file and its content type.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class LinkSigner:
    """``endpoint`` is the URL of the server, ``key`` the ID of the key."""

    endpoint: str
    region: str
    key: str
    secret: str = field(repr=False)

    def link(self, path: str, answer: Mapping[str, str], seconds: int) -> str:
        """Return a URL that answers GET for this many seconds. ``answer`` are headers of the
        response, as S3 names them in a query."""
        parts, now = urlsplit(self.endpoint), datetime.now(UTC)
        scope = f"{now:%Y%m%d}/{self.region}/s3/aws4_request"
        query = _encode_query(
            {
                "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
                "X-Amz-Credential": f"{self.key}/{scope}",
                "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
                "X-Amz-Expires": str(seconds),
                "X-Amz-SignedHeaders": "host",
                **answer,
            }
        )
        path = parts.path.rstrip("/") + quote(path, safe="/~")
        request = f"GET\n{path}\n{query}\nhost:{parts.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
        hashed = hashlib.sha256(request.encode()).hexdigest()
        signed = f"AWS4-HMAC-SHA256\n{now:%Y%m%dT%H%M%SZ}\n{scope}\n{hashed}"
        key = f"AWS4{self.secret}".encode()
        for step in scope.split("/"):
            key = _hmac(key, step)
        signature = _hmac(key, signed).hex()
        return f"{parts.scheme}://{parts.netloc}{path}?{query}&X-Amz-Signature={signature}"


def _encode_query(query: Mapping[str, str]) -> str:
    return "&".join(f"{name}={quote(query[name], safe='~')}" for name in sorted(query))


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
