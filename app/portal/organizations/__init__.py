"""Organizations: their list, page, settings, and being suspended or archived."""

from app.portal.organizations import edit_views, settings_views, status_views, views

__all__ = ["edit_views", "settings_views", "status_views", "views"]
