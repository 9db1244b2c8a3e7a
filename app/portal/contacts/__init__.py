"""The contacts of a campaign: list, page, form, export."""

from app.portal.contacts import action_views, export_views, views

__all__ = ["action_views", "export_views", "views"]
