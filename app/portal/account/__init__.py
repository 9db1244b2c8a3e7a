"""The signed-in user's own account: details, password, mails, sessions."""

from app.portal.account import views

__all__ = ["views"]
