"""The text of each kind of mail. One text serves both forms, HTML and plain."""

from collections.abc import Callable

from app.models import MailKind
from app.services.mails import (
    account_texts,
    credential_texts,
    portal_texts,
    report_texts,
    work_texts,
)
from app.services.mails.facts import MailContext, MailTexts

TEXTS_BY_KIND: dict[MailKind, Callable[[MailContext], MailTexts]] = {
    MailKind.INVITATION: account_texts.invitation,
    MailKind.SET_PASSWORD: account_texts.set_password,
    MailKind.RESET_PASSWORD: account_texts.reset_password,
    MailKind.PASSWORD_CHANGED: account_texts.password_changed,
    MailKind.FACTORS_CHANGED: account_texts.factors_changed,
    MailKind.NEW_BROWSER: account_texts.new_browser,
    MailKind.EMAIL_CHANGED: account_texts.email_changed,
    MailKind.CONFIRM_EMAIL: account_texts.confirm_email,
    MailKind.ACCESS_ENDED: account_texts.access_ended,
    MailKind.IMPORT_FINISHED: work_texts.import_finished,
    MailKind.CHAT_MESSAGE: work_texts.chat_message,
    MailKind.WEBHOOK_PAUSED: portal_texts.webhook_paused,
    MailKind.CALLING_PAUSED: work_texts.calling_paused,
    MailKind.NUMBERS_UNCONFIRMED: work_texts.numbers_unconfirmed,
    MailKind.BUDGET_REACHED: work_texts.budget_reached,
    MailKind.ALERTS_OPENED: work_texts.alerts_opened,
    MailKind.PORTAL_VIEWED: portal_texts.portal_viewed,
    MailKind.IDENTITY_LINKED: account_texts.identity_linked,
    MailKind.MONTHLY_REPORT: report_texts.monthly_report,
    MailKind.DOMAIN_RECORDS: portal_texts.domain_records,
    MailKind.EXPORT_FINISHED: work_texts.export_finished,
    MailKind.CREDENTIAL_CREATED: credential_texts.credential_created,
    MailKind.CREDENTIAL_ENDS: credential_texts.credential_ends,
    MailKind.ADMINISTRATOR_ADDED: credential_texts.administrator_added,
}
