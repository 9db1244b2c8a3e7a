"""One attempt to send a mail, as a durable workflow.

The mail server's answer is stored as the result of its own step, so a worker that dies after it
does not send again. A further attempt is a separate workflow with a delay: waiting takes no slot of
the queue.
"""

import logging
from dataclasses import replace
from typing import Literal, TypedDict
from uuid import UUID

from dbos import DBOS

from app.gateways.mailers import MailDeferred, MailRefused, OutgoingMail
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import mails_gate, retry_on_database_outage
from app.services import mails
from app.services.mails.attaching import MailPdf

log = logging.getLogger(__name__)


class SendResult(TypedDict):
    """How an attempt ended, with the reason if the mail was not accepted."""

    end: Literal["sent", "later", "refused", "nothing"]
    reason: str


@DBOS.workflow(name="send_mail")
@observe_job
def send_mail(mail_id: str, attempt: int) -> None:
    """Send the mail, or queue the next attempt."""
    with mails_gate:
        try:
            answer = send_to_server(mail_id, attempt)
        except Exception as error:
            log.exception("a mail could not be written")
            answer = SendResult(end="later", reason=type(error).__name__)
        store_answer(mail_id, attempt, answer)


@DBOS.step(name="ask_server")
def send_to_server(mail_id: str, attempt: int) -> SendResult:
    """Render the mail and hand it to the mail server, once."""
    mail = _write_mail(mail_id, attempt)
    if mail is None:
        return SendResult(end="nothing", reason="")
    try:
        pdf = _read_pdf(mail_id)
        context().mailer.send(replace(mail, attachments=pdf.attached() if pdf else ()))
    except MailDeferred as error:
        log.warning("a mail was not accepted: %s", error)
        return SendResult(end="later", reason=str(error))
    except MailRefused as error:
        return SendResult(end="refused", reason=str(error))
    return SendResult(end="sent", reason="")


@retry_on_database_outage
def _write_mail(mail_id: str, attempt: int) -> OutgoingMail | None:
    with context().database.transaction() as session:
        return mails.begin(session, UUID(mail_id), attempt, context().settings)


@retry_on_database_outage
def _read_pdf(mail_id: str) -> MailPdf | None:
    with context().database.transaction(read_only=True) as session:
        return mails.pdf_of(session, UUID(mail_id))


@DBOS.step(name="keep_answer")
@retry_on_database_outage
def store_answer(mail_id: str, attempt: int, answer: SendResult) -> None:
    with context().database.transaction() as session:
        match answer["end"]:
            case "sent":
                mails.record_sent(session, UUID(mail_id))
            case "later":
                mails.schedule_retry(session, UUID(mail_id), attempt, answer["reason"])
            case "refused":
                mails.record_refused(session, UUID(mail_id), answer["reason"])
