"""Access for scripts: API keys, API clients and their requests."""

from app.portal.api_access import client_views, views

__all__ = ["client_views", "views"]
