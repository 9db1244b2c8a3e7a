"""A new upload: choosing its campaign and its file."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from app.enums import ContactAction
from app.errors import NotFound, TooLarge, ValidationFailed
from app.extensions import caller, deleted_on_error, files, settings, transaction
from app.gateways.files import StoredFile, size_words
from app.languages import gettext, ngettext
from app.models import Campaign, ContactImport
from app.policy import Permission
from app.portal.uploads.campaign_words import campaign_words, organizations_of
from app.portal.uploads.check_page import parts_of_upload
from app.portal.uploads.forms import ACTION_HINTS, UploadForm
from app.portal.web import lists
from app.portal.web.blueprint import Page, portal
from app.portal.web.campaign_states import is_new, steps_of_planned
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import day, number
from app.portal.web.user_timezone import zone
from app.services import campaigns, organizations, storage
from app.services.imports import corrected_files, uploads
from app.services.imports.uploads import UploadChoices

CAMPAIGNS_SHOWN = 25
Choice = tuple[str, str, str]
"""Name, text below it, and URL."""


@portal.get("/uploads/new")
def upload_choose_campaign() -> str:
    """Ask for the campaign of a new upload."""
    query = lists.text_filter("q")
    with transaction(read_only=True) as session:
        wanted = campaigns.CampaignFilter(query=query, takes_contacts=True)
        found = campaigns.search(session, caller(), wanted, sort="name", limit=CAMPAIGNS_SHOWN)
        rows = _choices(session, found.items)
    return _campaign_choice(rows, query, more=found.next_cursor is not None)


def _campaign_choice(rows: Sequence[Choice], query: str | None, *, more: bool) -> str:
    create = (gettext("Create campaign"), url_for("portal.campaign_new"))
    return render_template(
        "portal/choose.html",
        rows=rows,
        more=more,
        query=query,
        create=create if caller().may(Permission.CAMPAIGNS_WRITE) else None,
        title=gettext("Upload contacts"),
        sentence=gettext("Choose the campaign that gets the contacts."),
        back=(gettext("Uploads"), url_for("portal.uploads")),
        action=url_for("portal.upload_choose_campaign"),
        search_label=gettext("Name or organization"),
        symbol="speakerphone",
        no_match=gettext("No campaign matches."),
        empty_title=gettext("No campaigns yet"),
        empty_text=gettext("A campaign holds the contacts to call. Create one first."),
    )


def _choices(session: Session, found: Sequence[Campaign]) -> list[Choice]:
    """Return the campaigns with what tells them apart, and their URLs: those with the same name
    with their organization, others with it below."""
    names = organizations_of(session, found)
    same = Counter(row.name for row in found)
    rows = []
    for row in found:
        owner = names.get(row.organization_id)
        below = ngettext(
            "%(num)s contact, created %(day)s",
            "%(num)s contacts, created %(day)s",
            row.contact_count,
            num=number(row.contact_count),
            day=day(row.created_at, zone()),
        )
        name, text = campaign_words(row.name, owner), below
        if owner and same[row.name] == 1:
            name, text = row.name, f"{owner}, {below}"
        rows.append((name, text, url_for("portal.upload_new", campaign_id=row.id)))
    return rows


@portal.get("/campaigns/<uuid:campaign_id>/upload")
def upload_new(campaign_id: UUID) -> str:
    """Ask for the file; with ``corrects`` in the URL, one for the failed rows of that upload."""
    return _choose_page(campaign_id, UploadForm())


@portal.post("/campaigns/<uuid:campaign_id>/upload")
def upload_create(campaign_id: UUID) -> Page:
    """Store the file and start its check."""
    form = UploadForm()
    with transaction(read_only=True) as session:
        campaigns.get(session, caller(), campaign_id)
        corrects = _to_correct(session, campaign_id)
    if not form.validate():
        return _choose_page(campaign_id, form), 422
    try:
        return redirect(_stored(campaign_id, form, corrects), 303)
    except (ValidationFailed, TooLarge) as error:
        form.file.errors = (error.message,)
        return _choose_page(campaign_id, form), 413 if isinstance(error, TooLarge) else 422


def _stored(campaign_id: UUID, form: UploadForm, corrects: ContactImport | None) -> str:
    """Store the file that was sent; return the URL of its upload. Raises `ValidationFailed` and
    `TooLarge`."""
    sent: FileStorage | None = form.file.data
    if sent is None or sent.filename is None:
        raise ValidationFailed.on("file", "missing", gettext("Choose a contact file."))
    kept = files().save(sent.stream, max_bytes=settings().max_upload_bytes)
    name, action = sent.filename, form.chosen_action
    return created(campaign_id, kept, kept.sha256, file_name=name, action=action, corrects=corrects)


def created(
    campaign_id: UUID,
    kept: StoredFile,
    *sent: str,
    file_name: str,
    action: ContactAction,
    chosen: UploadChoices | None = None,
    corrects: ContactImport | None = None,
) -> str:
    """Create an upload of the stored file, once for a form that is sent twice with the same
    ``sent``; return its URL. Raises as `uploads.create`, without the file."""
    with deleted_on_error(kept.key), transaction() as session:
        submission = FormSubmission(session, *sent)
        made = uploads.create(
            session,
            caller(),
            campaign_id,
            action=action,
            file=kept,
            file_name=file_name,
            storage_defaults=settings().storage_defaults,
            chosen=chosen,
            corrects=corrects,
        )
        return submission.led_to(url_for("portal.upload", upload_id=made.id))


def _choose_page(campaign_id: UUID, form: UploadForm) -> str:
    defaults = settings().storage_defaults
    with transaction(read_only=True) as session:
        campaign = campaigns.get_for_new_contacts(session, caller(), campaign_id)
        owner = organizations.get(session, caller(), campaign.organization_id)
        return render_template(
            "portal/uploads/choose.html",
            campaign=campaign,
            corrects=_to_correct(session, campaign_id),
            campaign_words=campaign_words(campaign.name, owner.name),
            usage=storage.of_organization(session, owner, defaults),
            form=form,
            hints=ACTION_HINTS,
            most=size_words(settings().max_upload_bytes),
            is_new=is_new(),
            places=parts_of_upload(),
            steps_of_new=steps_of_planned(session, campaign),
        )


def _to_correct(session: Session, campaign_id: UUID) -> ContactImport | None:
    """Return the upload that the URL names. Raises `NotFound`."""
    named = request.args.get("corrects")
    if named is None:
        return None
    try:
        upload_id = UUID(named)
    except ValueError:
        raise NotFound from None
    return corrected_files.to_correct(session, caller(), campaign_id, upload_id)
