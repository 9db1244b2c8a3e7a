"""The history: who changed what, in words."""

from app.portal.audit import views

__all__ = ["views"]
