"""Writing mails in the partner's brand, sending them, and repeating invitations.

Whatever causes a mail asks for it through `app.services.mail_queue`.
"""

from app.services.mails.inviting import send_invitation
from app.services.mails.rendering import Rendered, render, sample
from app.services.mails.sending import begin, later, refused, sent
from app.services.mails.words import Words
