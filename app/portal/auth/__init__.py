"""Signing in and out, invitations, forgotten passwords, and the guard of every screen."""

from app.portal.auth import password_views, sign_in_again_views, views

__all__ = ["password_views", "sign_in_again_views", "views"]
