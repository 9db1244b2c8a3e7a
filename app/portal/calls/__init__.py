"""Calls: their list and page, and the test call."""

from app.portal.calls import test_call_views, views

__all__ = ["test_call_views", "views"]
