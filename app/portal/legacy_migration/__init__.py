"""The way from the legacy API to the current one, client by client."""

from app.portal.legacy_migration import views

__all__ = ["views"]
