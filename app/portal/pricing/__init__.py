"""Plans: their prices and their limits."""

from app.portal.pricing import limit_views, views

__all__ = ["limit_views", "views"]
