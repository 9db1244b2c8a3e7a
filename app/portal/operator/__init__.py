"""Screens of the installation's operator: the mails that were kept instead of sent."""

from app.portal.operator import views

__all__ = ["views"]
