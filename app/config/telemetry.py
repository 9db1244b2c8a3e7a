"""Settings of logs, metrics, traces and error reports."""

from typing import Literal

from pydantic import Field

from app.config.base import CommonSettings


class TelemetrySettings(CommonSettings):
    log_format: Literal["", "json", "lines"] = ""
    """``json``: one JSON object for each line of the log; ``lines``: for people. Without it: JSON
    in production."""
    metrics_port: int = Field(0, ge=0, le=65535)
    """Port on which the web processes together answer ``GET /metrics``. 0 means none."""
    metrics_host: str = "127.0.0.1"
    """Address for the ports of metrics, such as ``0.0.0.0`` for a scraper on another machine."""
    metrics_worker_port: int = Field(0, ge=0, le=65535)
    """Port on which a worker answers ``GET /metrics``; each worker of a machine needs its own. 0
    means none."""
    otlp_url: str = ""
    """Where traces are sent, such as ``http://collector:4318/v1/traces``. Needs
    the extra ``tracing``. Without it: no traces."""
    otlp_share: float = Field(1.0, ge=0, le=1)
    """Share of the traces that is kept, of those that begin here."""
    sentry_dsn: str = Field("", repr=False)
    """Where errors are reported. Needs the extra ``sentry``. Without it: nowhere."""

    @property
    def logs_json(self) -> bool:
        return self.log_format == "json" or (not self.log_format and self.env == "production")
