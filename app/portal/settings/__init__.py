"""The settings of the partner's portal."""

from app.portal.settings import views

__all__ = ["views"]
