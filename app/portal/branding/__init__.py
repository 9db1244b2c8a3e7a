"""The branding studio: draft, preview, checks, publish, versions."""

from app.portal.branding import check_views, picture_views, preview_views, version_views, views

__all__ = ["check_views", "picture_views", "preview_views", "version_views", "views"]
