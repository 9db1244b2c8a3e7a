"""The chat bubble on the sign-in page and in the portal."""

from app.portal.chat import views

__all__ = ["views"]
