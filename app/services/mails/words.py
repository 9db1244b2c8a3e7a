"""The text of each kind of mail. One text serves both forms, HTML and plain."""

from collections.abc import Callable

from app.models import MailKind
from app.services.mails import (
    account_words,
    credential_words,
    portal_words,
    report_words,
    work_words,
)
from app.services.mails.facts import MailContext, MailTexts

WORDS: dict[MailKind, Callable[[MailContext], MailTexts]] = {
    MailKind.INVITATION: account_words.invitation,
    MailKind.SET_PASSWORD: account_words.set_password,
    MailKind.RESET_PASSWORD: account_words.reset_password,
    MailKind.PASSWORD_CHANGED: account_words.password_changed,
    MailKind.FACTORS_CHANGED: account_words.factors_changed,
    MailKind.NEW_BROWSER: account_words.new_browser,
    MailKind.EMAIL_CHANGED: account_words.email_changed,
    MailKind.CONFIRM_EMAIL: account_words.confirm_email,
    MailKind.ACCESS_ENDED: account_words.access_ended,
    MailKind.IMPORT_FINISHED: work_words.import_finished,
    MailKind.CHAT_MESSAGE: work_words.chat_message,
    MailKind.WEBHOOK_PAUSED: portal_words.webhook_paused,
    MailKind.CALLING_PAUSED: work_words.calling_paused,
    MailKind.NUMBERS_UNCONFIRMED: work_words.numbers_unconfirmed,
    MailKind.BUDGET_REACHED: work_words.budget_reached,
    MailKind.ALERTS_OPENED: work_words.alerts_opened,
    MailKind.PORTAL_VIEWED: portal_words.portal_viewed,
    MailKind.IDENTITY_LINKED: account_words.identity_linked,
    MailKind.MONTHLY_REPORT: report_words.monthly_report,
    MailKind.DOMAIN_RECORDS: portal_words.domain_records,
    MailKind.EXPORT_FINISHED: work_words.export_finished,
    MailKind.CREDENTIAL_CREATED: credential_words.credential_created,
    MailKind.CREDENTIAL_ENDS: credential_words.credential_ends,
    MailKind.ADMINISTRATOR_ADDED: credential_words.administrator_added,
}
