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
from app.gateways.files import StoredFile, size_label
from app.languages import gettext, ngettext
from app.models import Campaign, ContactImport
from app.policy import Permission
from app.portal.uploads import blueprint
from app.portal.uploads.campaign_labels import campaign_label, organizations_of
from app.portal.uploads.forms import ACTION_HINTS, UploadForm
from app.portal.uploads.upload_pages import parts_of_upload
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.campaign_statuses import is_new, steps_of_planned
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import day, number
from app.portal.web.user_timezone import zone
from app.services import campaigns, organizations, storage
from app.services.imports import corrected_files, uploads
from app.services.imports.uploads import UploadChoices

CAMPAIGNS_SHOWN = 25
Choice = tuple[str, str, str]
"""Name, text below it, and URL."""


@blueprint.get("/uploads/new")
def choose_campaign() -> str:
    """Let the user choose the campaign of a new upload."""
    query = lists.text_filter("q")
    with transaction(read_only=True) as session:
        filters = campaigns.CampaignFilter(query=query, takes_contacts=True)
        page = campaigns.search(session, caller(), filters, sort="name", limit=CAMPAIGNS_SHOWN)
        rows = _choices(session, page.items)
    return _campaign_choice(rows, query, more=page.next_cursor is not None)


def _campaign_choice(rows: Sequence[Choice], query: str | None, *, more: bool) -> str:
    create = (gettext("Create campaign"), url_for("portal.campaigns.new_campaign"))
    return render_template(
        "portal/choose.html",
        rows=rows,
        more=more,
        query=query,
        create=create if caller().may(Permission.CAMPAIGNS_WRITE) else None,
        title=gettext("Upload contacts"),
        sentence=gettext("Choose the campaign that gets the contacts."),
        back=(gettext("Uploads"), url_for("portal.uploads.list_uploads")),
        action=url_for("portal.uploads.choose_campaign"),
        search_label=gettext("Name or organization"),
        symbol="speakerphone",
        no_match=gettext("No campaign matches."),
        empty_title=gettext("No campaigns yet"),
        empty_text=gettext("A campaign holds the contacts to call. Create one first."),
    )


def _choices(session: Session, matches: Sequence[Campaign]) -> list[Choice]:
    """Return the campaigns, labelled so that they can be distinguished, and their URLs: those with
    the same name include their organization, others show it below."""
    names = organizations_of(session, matches)
    name_counts = Counter(row.name for row in matches)
    rows = []
    for row in matches:
        owner = names.get(row.organization_id)
        details = ngettext(
            "%(num)s contact, created %(day)s",
            "%(num)s contacts, created %(day)s",
            row.contact_count,
            num=number(row.contact_count),
            day=day(row.created_at, zone()),
        )
        name, text = campaign_label(row.name, owner), details
        if owner and name_counts[row.name] == 1:
            name, text = row.name, f"{owner}, {details}"
        rows.append((name, text, url_for("portal.uploads.new_upload", campaign_id=row.id)))
    return rows


@blueprint.get("/campaigns/<uuid:campaign_id>/upload")
def new_upload(campaign_id: UUID) -> str:
    """Show the form for the file; with ``corrects`` in the URL, for one with the failed rows of
    that upload."""
    return _choose_page(campaign_id, UploadForm())


@blueprint.post("/campaigns/<uuid:campaign_id>/upload")
def create_upload(campaign_id: UUID) -> Page:
    """Store the file and start its check."""
    form = UploadForm()
    with transaction(read_only=True) as session:
        campaigns.get(session, caller(), campaign_id)
        corrects = _get_corrected(session, campaign_id)
    if not form.validate():
        return _choose_page(campaign_id, form), 422
    try:
        return redirect(_save(campaign_id, form, corrects), 303)
    except (ValidationFailed, TooLarge) as error:
        return _refused_page(campaign_id, form, error)


def _refused_page(campaign_id: UUID, form: UploadForm, error: ValidationFailed | TooLarge) -> Page:
    form.file.errors = (error.message,)
    return _choose_page(campaign_id, form), 413 if isinstance(error, TooLarge) else 422


def _save(campaign_id: UUID, form: UploadForm, corrects: ContactImport | None) -> str:
    """Store the submitted file; return the URL of its upload. Raises `ValidationFailed` and
    `TooLarge`."""
    submitted: FileStorage | None = form.file.data
    if submitted is None or submitted.filename is None:
        raise ValidationFailed.on("file", "missing", gettext("Choose a contact file."))
    stored_file = files().save(submitted.stream, max_bytes=settings().max_upload_bytes)
    name, action = submitted.filename, form.selected_action()
    return store_upload(
        campaign_id,
        stored_file,
        file_name=name,
        action=action,
        corrects=corrects,
        submission_values=(stored_file.sha256,),
    )


def store_upload(
    campaign_id: UUID,
    stored_file: StoredFile,
    *,
    file_name: str,
    action: ContactAction,
    choices: UploadChoices | None = None,
    corrects: ContactImport | None = None,
    submission_values: Sequence[str] = (),
) -> str:
    """Create an upload of the stored file, once if a form is sent twice with the same
    ``submission_values``; return its URL. Raises as `uploads.create`, without the file."""
    with deleted_on_error(stored_file.key), transaction() as session:
        submission = FormSubmission(session, *submission_values)
        upload = uploads.create(
            session,
            caller(),
            campaign_id,
            action=action,
            file=stored_file,
            file_name=file_name,
            storage_defaults=settings().storage_defaults,
            chosen=choices,
            corrects=corrects,
        )
        return submission.finish(url_for("portal.uploads.show_upload", upload_id=upload.id))


def _choose_page(campaign_id: UUID, form: UploadForm) -> str:
    defaults = settings().storage_defaults
    with transaction(read_only=True) as session:
        campaign = campaigns.get_for_new_contacts(session, caller(), campaign_id)
        owner = organizations.get(session, caller(), campaign.organization_id)
        return render_template(
            "portal/uploads/choose.html",
            campaign=campaign,
            corrects=_get_corrected(session, campaign_id),
            campaign_label=campaign_label(campaign.name, owner.name),
            usage=storage.of_organization(session, owner, defaults),
            form=form,
            hints=ACTION_HINTS,
            max_size=size_label(settings().max_upload_bytes),
            is_new=is_new(),
            step_names=parts_of_upload(),
            steps_of_new=steps_of_planned(session, campaign),
        )


def _get_corrected(session: Session, campaign_id: UUID) -> ContactImport | None:
    """Return the upload that the URL corrects; None without one. Raises `NotFound`."""
    raw_id = request.args.get("corrects")
    if raw_id is None:
        return None
    try:
        upload_id = UUID(raw_id)
    except ValueError:
        raise NotFound from None
    return corrected_files.to_correct(session, caller(), campaign_id, upload_id)
