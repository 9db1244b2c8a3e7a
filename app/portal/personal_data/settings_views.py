"""Settings of personal data: how long each kind is kept, when it was last deleted, erasures."""

from dataclasses import dataclass
from datetime import datetime

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.enums import RetentionKind
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.personal_data import blueprint
from app.portal.personal_data.forms import RetentionForm
from app.portal.personal_data.labels import STATUSES, SUBJECTS
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving, stored_page_of_own
from app.portal.web.messages import redirect_with
from app.services import exports, idempotency, partners, retention
from app.services.partners import retention_policy as policies
from app.services.personal_data import erasing

SHOWN = 20


@dataclass(frozen=True, slots=True)
class RetentionRow:
    """A kind of data, with the installation's days, and the amount and time of its last
    deletion."""

    kind: RetentionKind
    days: int
    ran_at: datetime | None
    removed: int


def retention_rows(session: Session) -> list[RetentionRow]:
    """Return every kind with a retention period."""
    runs = retention.runs(session)
    return [
        RetentionRow(
            kind, days, *((run.ran_at, run.removed) if (run := runs.get(kind)) else (None, 0))
        )
        for kind, days in policies.of_installation(settings()).items()
    ]


@blueprint.get("/settings/personal-data")
def edit_settings() -> str:
    return stored_page_of_own(_page, _stored)


@blueprint.post("/settings/personal-data")
def save_settings() -> Page:
    form = RetentionForm()
    partner_id, version = partners.own_partner_id(caller()), form.version.data
    target = ("partner", partner_id)
    with saving(form, lambda: _page(form), stored=_stored, target=target) as session:
        policies.save(
            session, caller(), partner_id, form.days(), settings(), expected_version=version
        )
    message = gettext("Saved. Older data is deleted within an hour.")
    return redirect_with(message, url_for("portal.personal_data.edit_settings"))


def _stored(session: Session) -> RetentionForm:
    partner = partners.get_own(session, caller())
    days = policies.of_partner(partner)
    form_values = {kind.value: "" if count is None else str(count) for kind, count in days.items()}
    return RetentionForm.from_object(version=partner.version, **form_values)


def _page(form: RetentionForm) -> str:
    with transaction(read_only=True) as session:
        return render_template(
            "portal/personal_data/settings.html",
            form=form,
            retention_rows=retention_rows(session),
            export_days=exports.RETENTION.days,
            answer_hours=int(idempotency.RETENTION.total_seconds() // 3600),
            erasures=erasing.latest(session, caller(), SHOWN),
            statuses=STATUSES,
            kinds=SUBJECTS,
        )
