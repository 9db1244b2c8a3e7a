"""The do-not-call lists of organizations."""

from app.portal.do_not_call import views

__all__ = ["views"]
