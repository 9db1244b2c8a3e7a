"""Usage: conversations and their cost over a range of days."""

from app.portal.usage import views

__all__ = ["views"]
