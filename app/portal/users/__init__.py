"""Users: their list, page, invitations, roles and status."""

from app.portal.users import bulk_views, edit_views, status_views, views

__all__ = ["bulk_views", "edit_views", "status_views", "views"]
