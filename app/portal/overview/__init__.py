"""The first page after signing in."""

from app.portal.overview import views

__all__ = ["views"]
