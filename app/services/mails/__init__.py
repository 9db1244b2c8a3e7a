"""Render mails in the partner's brand, send them, and repeat invitations.

Services that cause mails queue them through `app.services.mail_queue`.
"""

from app.services.mails.attaching import pdf_of
from app.services.mails.invitations import send_invitation
from app.services.mails.rendering import RenderedMail, preview, sample
from app.services.mails.sending import begin, origin_of, record_refused, record_sent, schedule_retry
