"""Where the history is sent to besides the database."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import model_validator

from app.config.base import CommonSettings


class AuditSettings(CommonSettings):
    """Without a server, the history is only in the database."""

    audit_syslog: str = ""
    """Syslog server that receives the history: ``udp://host:514``, ``tcp://host:514`` or
    ``unix:///dev/log``."""

    @model_validator(mode="after")
    def _refuse_unusable_syslog(self) -> Self:
        if not self.audit_syslog:
            return self
        try:
            parts = urlsplit(self.audit_syslog)
            usable = (parts.scheme in ("udp", "tcp") and parts.hostname and parts.port) or (
                parts.scheme == "unix" and parts.path
            )
        except ValueError:  # the port isn't a number
            usable = False
        if not usable:
            message = (
                "PORTAL_AUDIT_SYSLOG is written udp://host:514, tcp://host:514 or unix:///dev/log."
            )
            raise ValueError(message)
        return self
