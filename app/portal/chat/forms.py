"""A message from the chat bubble."""

from typing import Any

from wtforms import EmailField, StringField, TextAreaField

from app.languages import lazy_gettext
from app.portal.web.forms import PortalForm
from app.services.chat import MAX_CHARACTERS


class ChatForm(PortalForm):
    """A message to support; visitors also give their name and address.

    The chat window is on pages with other forms, so its ids have a prefix.
    """

    message = TextAreaField(
        lazy_gettext("Your message"),
        id="chat-message",
        render_kw={"maxlength": MAX_CHARACTERS, "required": True},
    )
    name = StringField(
        lazy_gettext("Your name"),
        id="chat-name",
        render_kw={"maxlength": 200, "autocomplete": "name"},
    )
    email = EmailField(
        lazy_gettext("Your email address"),
        id="chat-email",
        render_kw={"maxlength": 254, "autocomplete": "email", "required": True},
    )

    def __init__(self, *args: Any, signed_in: bool = False, **more: Any):
        super().__init__(*args, **more)
        if signed_in:
            del self.name
            del self.email
