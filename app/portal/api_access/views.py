"""API access: the keys of organizations, shown once, with their last requests."""

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import CampaignStatus
from app.errors import Conflict
from app.extensions import api_urls, caller, transaction
from app.languages import gettext, ngettext
from app.models import ApiKey, Assistant, Campaign, Organization
from app.phone import PhoneError, check_dialable
from app.portal.api_access import blueprint, curl_examples
from app.portal.api_access.credential_pages import (
    ALREADY_SHOWN,
    IN_USE,
    STATUSES,
    Crumbs,
    last_requests,
    rotate_page,
)
from app.portal.api_access.forms import (
    KIND_HINTS,
    KINDS,
    LIVE_KINDS,
    SCOPE_HINTS,
    SCOPE_LABELS,
    SCOPES_IN_LIST,
    ApiKeyForm,
    RotateForm,
)
from app.portal.api_access.labels import ago, end_of, key_status, last_use, replaced_message
from app.portal.spending.limit_bars import bars_of
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import long_datetime
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.portal.web.organization_choice import new_page
from app.portal.web.user_timezone import zone
from app.services import assistants, campaigns, destinations, organizations, spending, users
from app.services.credentials import api_keys
from app.services.credentials.api_keys import ApiKeyFilter


@blueprint.get("/api-access")
def list_keys() -> str:
    with transaction(read_only=True) as session:
        context = _list_context(session)
    return render_template(
        "portal/api_access/keys.html",
        **context,
        statuses=STATUSES,
        kinds=KINDS,
        every=ngettext("All %(num)s permission", "All %(num)s permissions", len(SCOPE_LABELS)),
        asks_organization=caller().organization_id is None,
    )


def _list_context(session: Session) -> dict[str, Any]:
    """Return a page of the keys that the URL's filters find, with their organizations."""
    position, organization_filter = lists.current_position(), lists.id_or_text("organization")
    is_named = isinstance(organization_filter, str)
    organization = None if is_named else organization_picker.organization_of_url(session)
    filters = ApiKeyFilter(
        organization=organization.id if organization else organization_filter,
        query=lists.text_filter("q"),
        live=LIVE_KINDS.get(request.args.get("kind", "")),
        in_use=IN_USE.get(request.args.get("state", "")),
    )
    page = api_keys.search(session, caller(), filters, **position.query_args)
    ids = {row.organization_id for row in page.items}
    owners = organizations.by_ids(session, caller(), ids)
    return {
        "organization": organization,
        "rows": [_key_row(row, owners[row.organization_id]) for row in page.items],
        **position.pager(page.next_cursor, "q", "state", "kind", "organization"),
    }


@blueprint.get("/api-access/keys/new")
def new_key() -> Page:
    back_link = (gettext("API access"), url_for("portal.api_access.list_keys"))
    return new_page(ApiKeyForm(), _form_page, gettext("Create key"), back_link)


@blueprint.post("/api-access/keys/new")
def create_key() -> Page:
    """Show the key's page, with the secret this once: no URL holds it."""
    form = ApiKeyForm()
    organization = form.organization_or_page(_form_page, besides=form.validate)
    with saving(form, lambda: _form_page(organization, form), validate=False) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        new = api_keys.create(
            session, caller(), organization_id=organization.id, **form.to_fields()
        )
        submission.finish(url_for("portal.api_access.show_key", key_id=new.key.id))
    return _key_page(new.key.id, new.secret, gettext("“%(name)s” was created", name=new.key.name))


@blueprint.get("/api-access/keys/<uuid:key_id>")
def show_key(key_id: UUID) -> str:
    return _key_page(key_id)


@blueprint.get("/api-access/keys/<uuid:key_id>/rotate")
def confirm_rotate_key(key_id: UUID) -> str:
    return _rotate_page(key_id, RotateForm())


@blueprint.post("/api-access/keys/<uuid:key_id>/rotate")
def rotate_key(key_id: UUID) -> Page:
    form = RotateForm()
    with saving(form, lambda: _rotate_page(key_id, form), shows=(Conflict,)) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        new = api_keys.rotate(session, caller(), key_id, **form.to_period())
        submission.finish(url_for("portal.api_access.show_key", key_id=new.key.id))
    return _key_page(new.key.id, new.secret, gettext("“%(name)s” was rotated", name=new.key.name))


@blueprint.get("/api-access/keys/<uuid:key_id>/revoke")
def confirm_revoke_key(key_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        key = api_keys.get(session, caller(), key_id)
    if key.revoked_at is not None:
        return redirect(url_for("portal.api_access.show_key", key_id=key_id), 303)
    return _revoke_confirmation(key).page()


@blueprint.post("/api-access/keys/<uuid:key_id>/revoke")
def revoke_key(key_id: UUID) -> Page:
    with transaction() as session:
        key = api_keys.revoke(session, caller(), key_id)
    message = gettext("“%(name)s” was revoked. It no longer works.", name=key.name)
    return redirect_with(message, url_for("portal.api_access.show_key", key_id=key_id))


def _form_page(organization: Organization | None, form: ApiKeyForm) -> str:
    return render_template(
        "portal/api_access/key_new.html",
        organization=organization,
        form=form,
        kind_hints=KIND_HINTS,
        scope_hints=SCOPE_HINTS,
    )


def _rotate_page(key_id: UUID, form: RotateForm) -> str:
    with transaction(read_only=True) as session:
        key = api_keys.get(session, caller(), key_id)
    return rotate_page(
        form,
        gettext("Rotate “%(name)s”", name=key.name),
        gettext(
            "A new key with the same name and permissions replaces it. Give your scripts time to "
            "switch if needed."
        ),
        gettext("Rotate key"),
        [*_parent_crumbs(), (key.name, url_for("portal.api_access.show_key", key_id=key.id))],
    )


def _key_page(key_id: UUID, secret: str | None = None, success_title: str = "") -> str:
    with transaction(read_only=True) as session:
        key = api_keys.get(session, caller(), key_id)
        organization = organizations.get(session, caller(), key.organization_id)
        requests = last_requests(session, key.id)
        used = spending.spending_of(session, caller(), spending.LimitSubject(api_key_id=key.id))
        campaign, assistant = _find_examples(session, organization)
        replaced, replacement = api_keys.neighbours(session, caller(), key)
        names = users.names_by_email(session, caller(), [key.created_by])
    days_in = zone()
    works = not key.is_over
    lines = curl_examples.for_key(key, api_urls(), campaign, assistant) if works else []
    first = next(iter(lines[1:] or lines), None)  # the first needs no permission
    return render_template(
        "portal/api_access/key.html",
        key=key,
        organization=organization,
        secret=secret,
        done=success_title,
        crumbs=[*_parent_crumbs(), (key.name, None)],
        status=key_status(key, organization.status, days_in),
        end=end_of(key, days_in),
        replaced=replaced,
        replaced_message=replaced_message(replaced, days_in) if replaced else None,
        replacement=replacement,
        names=names,
        may_do=[str(SCOPE_LABELS[scope]) for scope in key.scopes],
        lines=lines,
        first=first,
        try_code=curl_examples.in_shell(first, curl_examples.KEY_VARIABLE),
        works=works,
        spending=bars_of(used)[0][1],
        can_rotate=works and key.replaced_by is None,
        **requests,
        revoking=_revoke_confirmation(key),
    )


def _find_examples(
    session: Session, organization: Organization
) -> tuple[Campaign | None, Assistant | None]:
    filters = campaigns.CampaignFilter(organization_id=organization.id)
    newest = campaigns.search(session, caller(), filters, limit=20).items
    current = [row for row in newest if row.status is not CampaignStatus.ARCHIVED]
    ready = [
        assistant
        for assistant in assistants.of_organization(session, caller(), organization.id)
        if assistant.active and assistant.phone_ready
    ]
    try:
        allowed = destinations.destinations_of(session, organization).regions
        check_dialable(curl_examples.FICTIONAL_NUMBER, allowed)
    except PhoneError:
        ready = []
    return next(iter(current), None), next(iter(ready), None)


def _revoke_confirmation(key: ApiKey) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.api_access.revoke_key", key_id=key.id),
        title=gettext("Revoke “%(name)s”?", name=key.name),
        consequences=[
            last_use(key, long_datetime(key.last_used_at, zone())),
            gettext("This can’t be undone. You can create a new key at any time."),
        ],
        action_label=gettext("Revoke key"),
        keep_label=gettext("Keep key"),
        keep_url=url_for("portal.api_access.show_key", key_id=key.id),
    )


def _key_row(key: ApiKey, organization: Organization) -> dict[str, Any]:
    days_in = zone()
    return {
        "key": key,
        "organization": organization.name,
        "may": _scopes_label(key),
        "has_all": len(key.scopes) == len(SCOPE_LABELS),
        "status": key_status(key, organization.status, days_in),
        "end": end_of(key, days_in),
        "used": ago(key.last_used_at, days_in),
    }


def _scopes_label(key: ApiKey) -> str:
    label = ", ".join(str(SCOPES_IN_LIST[scope]) for scope in key.scopes)
    return label[:1].upper() + label[1:]


def _parent_crumbs() -> Crumbs:
    return [(gettext("API access"), url_for("portal.api_access.list_keys"))]
