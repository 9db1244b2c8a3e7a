"""Campaigns: their list, page and call plan."""

from app.portal.campaigns import plan_views, views

__all__ = ["plan_views", "views"]
