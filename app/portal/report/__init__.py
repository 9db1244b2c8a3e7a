"""The admin report."""

from app.portal.report import views

__all__ = ["views"]
