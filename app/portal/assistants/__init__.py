"""Assistants: their list, settings and external ID keys."""

from app.portal.assistants import views

__all__ = ["views"]
