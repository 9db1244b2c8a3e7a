"""Find: everything by one field."""

from app.portal.search import views

__all__ = ["views"]
