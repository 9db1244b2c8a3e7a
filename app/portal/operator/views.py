"""The mails that an installation without a mail server keeps, for development only.

A mail contains links that sign its user in, so only partner admins and operators see them.
"""

from email.message import EmailMessage
from urllib.parse import urlsplit
from uuid import UUID

from flask import Flask, Response, make_response, render_template, request, url_for

from app.errors import NotFound
from app.extensions import caller, settings
from app.gateways.mailers import KeptMail, open_outbox
from app.portal.operator import blueprint
from app.portal.operator.labels import outbox_message

MAX_SHOWN = 100


def keeps_mails() -> bool:
    """Return whether mails are kept here for users to read, instead of being sent."""
    return settings().env != "production" and not settings().smtp_url


def outbox_url() -> str | None:
    """Return where the mails are kept; None if they are sent."""
    return url_for("portal.operator.list_mails") if keeps_mails() else None


@blueprint.get("/outbox")
def list_mails() -> str:
    mails = _kept_mails()
    newest = mails[:MAX_SHOWN]
    return render_template(
        "portal/operator/mails.html",
        mails=[(mail, mail.read()) for mail in newest],
        summary=outbox_message(len(newest), len(mails)),
    )


@blueprint.get("/outbox/<uuid:mail_id>")
def show_mail(mail_id: UUID) -> str:
    mail = _get_mail(mail_id)
    message = mail.read()
    return render_template(
        "portal/operator/mail.html",
        mail=mail,
        message=message,
        text=_mail_text(message, "plain"),
        files=_attached_files(message),
        form="text" if request.args.get("form") == "text" else "html",
    )


@blueprint.get("/outbox/<uuid:mail_id>/html")
def show_mail_html(mail_id: UUID) -> Response:
    """Return the mail itself, for a frame that our script sizes to its content: no script runs in
    it, and its styles are separate."""
    response = make_response(_mail_text(_get_mail(mail_id).read(), "html"))
    site = urlsplit(settings().public_url)._replace(path="", query="", fragment="").geturl()
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; img-src 'self' {site} data:; style-src 'unsafe-inline';"
        " form-action 'none'; base-uri 'none'; frame-ancestors 'self';"
        " sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox"
    )
    return response


@blueprint.get("/outbox/<uuid:mail_id>/files/<int:index>")
def download_mail_file(mail_id: UUID, index: int) -> Response:
    """Return an attached file, to download."""
    for position, attachment in enumerate(_get_mail(mail_id).read().iter_attachments()):
        if position == index:
            disposition = {
                "Content-Disposition": f'attachment; filename="{attachment.get_filename()}"'
            }
            kind = attachment.get_content_type()
            return make_response(attachment.get_content(), {"Content-Type": kind, **disposition})
    raise NotFound


def _mail_text(message: EmailMessage, form: str) -> str:
    """Return the text of a mail, ``plain`` or ``html``; blank if it has none."""
    body = message.get_body((form,))
    return body.get_content() if body else ""


def _attached_files(message: EmailMessage) -> list[tuple[str | None, int]]:
    """Return the names and sizes of the attached files."""
    attachments = message.iter_attachments()
    return [
        (attachment.get_filename(), len(attachment.get_content())) for attachment in attachments
    ]


def _kept_mails() -> list[KeptMail]:
    if not keeps_mails():
        raise NotFound
    mails = open_outbox(settings()).mails()
    if caller().is_operator:
        return mails
    return [mail for mail in mails if mail.partner_id == caller().partner_id]


def _get_mail(mail_id: UUID) -> KeptMail:
    for mail in _kept_mails():
        if mail.id == mail_id:
            return mail
    raise NotFound


def register(app: Flask) -> None:
    app.context_processor(lambda: {"outbox_url": outbox_url()})
