"""Webhooks: endpoints and their deliveries."""

from app.portal.webhooks import action_views, views

__all__ = ["action_views", "views"]
