"""Erasing users, contacts and other called people: the preview with its confirmation, and the
progress."""

from typing import Any
from uuid import UUID

from flask import abort, g, redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ErasureStatus
from app.errors import Conflict, Forbidden
from app.extensions import caller, transaction
from app.languages import gettext, labelled, pgettext
from app.models import Erasure
from app.portal.personal_data import blueprint, labels, subject_pages
from app.portal.personal_data.forms import EraseForm
from app.portal.web.blueprint import Page
from app.portal.web.formats import medium_datetime, number
from app.portal.web.list_messages import ALL_LABELS
from app.portal.web.messages import changing
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import zone
from app.services import organizations
from app.services.exports.labels import SUBJECT_TITLES
from app.services.personal_data import copies, erasing, mentions, preview
from app.services.personal_data.erasing import ENDED
from app.services.personal_data.mentions import TextMention
from app.services.personal_data.subjects import DataSubject

EXPORTS_SHOWN = 20


@blueprint.get("/users/<uuid:user_id>/erase")
def confirm_erase_user(user_id: UUID) -> str:
    return _page(subject_pages.user(user_id), EraseForm.from_object())


@blueprint.post("/users/<uuid:user_id>/erase")
def erase_user(user_id: UUID) -> Page:
    return _submit(subject_pages.user(user_id))


@blueprint.get("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/erase")
def confirm_erase_contact(campaign_id: UUID, contact_id: UUID) -> str:
    return _page(subject_pages.contact(campaign_id, contact_id), EraseForm.from_object())


@blueprint.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/erase")
def erase_contact(campaign_id: UUID, contact_id: UUID) -> Page:
    return _submit(subject_pages.contact(campaign_id, contact_id))


@blueprint.get("/calls/<uuid:call_id>/erase")
def confirm_erase_call(call_id: UUID) -> str:
    return _page(subject_pages.called(call_id), EraseForm.from_object())


@blueprint.post("/calls/<uuid:call_id>/erase")
def erase_call(call_id: UUID) -> Page:
    return _submit(subject_pages.called(call_id))


def _submit(load: subject_pages.Loader) -> Page:
    form = EraseForm()
    with transaction(read_only=True) as session:
        about = load(session)
    if not (form.validate() and form.confirms(about.confirmation_text)):
        return _page(load, form), 422
    with changing(about.url, Conflict, Forbidden) as session:
        erasure_id = erasing.request(session, caller(), load(session).subject).id
    return redirect(url_for("portal.personal_data.show_erasure", erasure_id=erasure_id), 303)


@blueprint.get("/erasures/<uuid:erasure_id>")
def show_erasure(erasure_id: UUID) -> str:
    return _progress_page("portal/personal_data/erasure.html", erasure_id)


@blueprint.get("/erasures/<uuid:erasure_id>/live")
def show_erasure_progress(erasure_id: UUID) -> str:
    """Return the part of the page that changes while the worker erases."""
    return _progress_page("portal/personal_data/_progress.html", erasure_id)


@blueprint.get("/erasures/<uuid:erasure_id>/proof.txt")
def download_proof(erasure_id: UUID) -> Response:
    """Return the page of a finished erasure as a file, for the person who requested it."""
    erasure, organization = _load_erasure(erasure_id)
    if erasure.status is not ErasureStatus.DONE:
        abort(404)
    headers = {"Content-Disposition": f'attachment; filename="{erasure.pseudonym}.txt"'}
    return Response(
        "\n".join(_proof_lines(erasure, organization)), mimetype="text/plain", headers=headers
    )


def _proof_lines(erasure: Erasure, organization: str | None) -> list[str]:
    details = (
        (gettext("Organization"), organization),
        (gettext("Pseudonym"), erasure.pseudonym),
        (gettext("Requested by"), erasure.requested_by),
        (gettext("Requested"), medium_datetime(erasure.created_at, zone())),
        (pgettext("erasure", "Finished"), medium_datetime(erasure.finished_at, zone())),
    )
    return [
        f"{labels.ERASURES[erasure.kind]} · {g.brand.spoken_name}",
        "",
        *(labelled(label, value) for label, value in details if value),
        "",
        *(
            f"{labelled(str(name), number(count))} ({fate})"
            for name, count, fate, _ in labels.rows_of(preview.of_erasure(erasure))
        ),
        "",
        str(labels.OF_CONTACTS[-1]),
        "",
    ]


@blueprint.post("/erasures/<uuid:erasure_id>/retry")
def retry_erasure(erasure_id: UUID) -> Page:
    with transaction() as session:
        erasing.retry(session, caller(), erasure_id)
    return redirect(url_for("portal.personal_data.show_erasure", erasure_id=erasure_id), 303)


def _load_erasure(erasure_id: UUID) -> tuple[Erasure, str | None]:
    """Return the erasure with the name of its organization."""
    with transaction(read_only=True) as session:
        erasure = erasing.get(session, caller(), erasure_id)
        ids = [erasure.organization_id] if erasure.organization_id else []
        names = organizations.names_of(session, caller(), ids)
    return erasure, next(iter(names.values()), None)


def _progress_page(template: str, erasure_id: UUID) -> str:
    erasure, organization = _load_erasure(erasure_id)
    return render_template(
        template,
        erasure=erasure,
        title=labels.ERASURES[erasure.kind],
        organization=organization,
        status=labels.STATUSES[erasure.status],
        is_running=erasure.status not in ENDED,
        lines=labels.rows_of(preview.of_erasure(erasure)),
        has_failed=erasure.status is ErasureStatus.FAILED,
        trail=subject_pages.settings_trail(),
    )


def _page(load: subject_pages.Loader, form: EraseForm) -> str:
    with transaction(read_only=True) as session:
        about = load(session)
        return render_template(
            "portal/personal_data/erase.html",
            about=about,
            form=form,
            trail=subject_pages.subject_trail(about, gettext("Erase this person")),
            lines=labels.rows_of(preview.erasure_lines(session, about.subject)),
            exports=[
                (str({**ALL_LABELS, **SUBJECT_TITLES}.get(each.list_name, each.list_name)), each)
                for each in copies.newest_exports(session, about.subject, EXPORTS_SHOWN)
            ],
            max_exports=EXPORTS_SHOWN,
            **_mention_context(session, about.subject),
        )


def _mention_context(session: Session, subject: DataSubject) -> dict[str, Any]:
    """Return the texts about others that name the person, which the erasure doesn't change."""
    searched = mentions.find_mentions(session, caller(), subject, seconds=mentions.PATIENCE)
    texts = searched.mentions
    return {
        "mentions": [(labels.MENTIONS[each.table], each, _url_of(each)) for each in texts],
        "names": sorted({each.name.casefold(): each.name for each in texts}.values()),
        "max_mentions": mentions.MAX_MENTIONS,
        "is_complete": searched.is_complete,
    }


def _url_of(mention: TextMention) -> str | None:
    """Return the page of a text, if the user may open it."""
    endpoint, needed = labels.MENTION_PAGES[mention.table]
    if not may_open(caller(), endpoint):
        return None
    ids: dict[str, Any] = {parameter: mention.ids[name] for parameter, name in needed.items()}
    return url_for(endpoint, **ids)
