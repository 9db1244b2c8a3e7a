"""Change the parts of a template: plan and rules, assistants, the campaign."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import Conflict, NotFound
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.campaigns.plan_forms import MESSAGE_HINTS
from app.portal.organization_templates import blueprint
from app.portal.organization_templates.forms import (
    FIRST_ROLE_HINTS,
    TemplateAssistantForm,
    TemplateCampaignForm,
    TemplateForm,
)
from app.portal.organization_templates.views import bounds, opened
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, seen_version
from app.portal.web.messages import changing, redirect_with
from app.portal.web.placeholders import texts_of, warn_of_placeholders
from app.portal.web.region_choices import offered_first
from app.services import organization_templates
from app.services.assistants.settings import MAX_TEXT, AssistantFields
from app.services.organization_templates import OpenedTemplate, PreparedCampaign
from app.services.organization_templates.checking import openable_for
from app.services.organization_templates.organization_names import NAME
from app.services.outreach import CampaignPlan
from app.services.outreach.plans import MAX_TEXT_LENGTH

TARGET = "organization_template"


@blueprint.get("/organization-templates/<uuid:template_id>/edit")
def edit_template(template_id: UUID) -> str:
    return _edit_page(template_id, TemplateForm.showing_template(opened(template_id)))


@blueprint.post("/organization-templates/<uuid:template_id>/edit")
def save_template(template_id: UUID) -> Page:
    form = TemplateForm()
    check = partial(_check_readable, template_id, form)
    with saving_edit(form, TARGET, template_id, _edit_page, _stored, check=check) as session:
        name, version = form.name.data or "", form.version.data
        organization_templates.change(
            session, caller(), template_id, name, form.changed, bounds(), expected_version=version
        )
    return _to_template(template_id, gettext("Template saved."))


def _check_readable(template_id: UUID, form: TemplateForm) -> None:
    """Check the rest of a form with unreadable values. Raises `ValidationFailed`."""
    with transaction(read_only=True) as session:
        opened_template = _open_template(session, template_id)
        name, content = form.name.data or "", form.readable_part(opened_template.content)
        organization_templates.check_changes(
            session, caller(), opened_template.template, name, content, bounds()
        )


@blueprint.get("/organization-templates/<uuid:template_id>/assistants/new")
def new_template_assistant(template_id: UUID) -> str:
    return _assistant_page(template_id, TemplateAssistantForm())


@blueprint.post("/organization-templates/<uuid:template_id>/assistants/new")
def create_template_assistant(template_id: UUID) -> Page:
    form = TemplateAssistantForm()
    with saving(form, lambda: _assistant_page(template_id, form), validate=False) as session:
        submission = FormSubmission(session)
        fields = AssistantFields(**form.data)
        organization_templates.save_assistant(
            session, caller(), template_id, None, fields, bounds()
        )
        url = submission.finish(_template_url(template_id))
    return _with_warning(form, redirect_with(gettext("%(name)s added.", name=form.name.data), url))


@blueprint.get("/organization-templates/<uuid:template_id>/assistants/<int:position>")
def edit_template_assistant(template_id: UUID, position: int) -> str:
    form = _assistant_form(opened(template_id), position)
    return _assistant_page(template_id, form, position)


@blueprint.post("/organization-templates/<uuid:template_id>/assistants/<int:position>")
def save_template_assistant(template_id: UUID, position: int) -> Page:
    form = TemplateAssistantForm()
    fields, version = AssistantFields(**form.data), form.version.data
    page = partial(_assistant_page, position=position)
    stored = partial(_stored_assistant, position=position)
    with saving_edit(form, TARGET, template_id, page, stored, validate=False) as session:
        organization_templates.save_assistant(
            session, caller(), template_id, position, fields, bounds(), expected_version=version
        )
    message = gettext("%(name)s saved.", name=form.name.data)
    return _with_warning(form, _to_template(template_id, message))


def _with_warning(form: TemplateAssistantForm, response: Response) -> Response:
    """Add a warning about unknown placeholders to the response."""
    warn_of_placeholders(form.messages, lambda: [NAME])
    return response


@blueprint.get("/organization-templates/<uuid:template_id>/assistants/<int:position>/remove")
def confirm_remove_template_assistant(template_id: UUID, position: int) -> str:
    return _removal_confirmation(opened(template_id), position).page()


def _removal_confirmation(opened_template: OpenedTemplate, position: int) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for(
            "portal.organization_templates.remove_template_assistant",
            template_id=opened_template.template.id,
            position=position,
            version=opened_template.template.version,
        ),
        title=gettext(
            "Remove %(name)s from the template?", name=_fields_at(opened_template, position).name
        ),
        consequences=[
            gettext("Organizations that were created from the template keep the assistant.")
        ],
        action_label=gettext("Remove assistant"),
        keep_label=gettext("Keep assistant"),
        keep_url=_template_url(opened_template.template.id),
    )


@blueprint.post("/organization-templates/<uuid:template_id>/assistants/<int:position>/remove")
def remove_template_assistant(template_id: UUID, position: int) -> Response:
    """Remove an assistant. The URL has the version of the template, because a position may later be
    another assistant's."""
    version = request.args.get("version", type=int)
    with changing(_template_url(template_id), Conflict) as session:
        organization_templates.remove_assistant(
            session, caller(), template_id, position, expected_version=version
        )
    return _to_template(template_id, gettext("Assistant removed."))


@blueprint.get("/organization-templates/<uuid:template_id>/campaign")
def edit_template_campaign(template_id: UUID) -> str:
    return _campaign_page(template_id, _campaign_form(opened(template_id)))


@blueprint.post("/organization-templates/<uuid:template_id>/campaign")
def save_template_campaign(template_id: UUID) -> Page:
    form = TemplateCampaignForm()
    stored = partial(_stored_campaign, typed=form)
    check = partial(_check_readable_campaign, template_id, form)
    with saving_edit(form, TARGET, template_id, _campaign_page, stored, check=check) as session:
        campaign, version = form.to_campaign(), form.version.data
        organization_templates.save_campaign(
            session, caller(), template_id, campaign, bounds(), expected_version=version
        )
    response = _to_template(template_id, gettext("Campaign plan saved."))
    warn_of_placeholders(texts_of(campaign.plan), lambda: [NAME])
    return response


def _check_readable_campaign(template_id: UUID, form: TemplateCampaignForm) -> None:
    """Check the rest of a form with unreadable values. Raises `ValidationFailed`."""
    campaign = replace(form.to_campaign(), plan=form.readable)
    organization_templates.check_campaign(opened(template_id).content, campaign, bounds())


@blueprint.post("/organization-templates/<uuid:template_id>/campaign/remove")
def remove_template_campaign(template_id: UUID) -> Response:
    with changing(_template_url(template_id), Conflict) as session:
        organization_templates.save_campaign(
            session, caller(), template_id, None, bounds(), expected_version=seen_version()
        )
    return _to_template(template_id, gettext("Campaign plan removed."))


def _open_template(session: Session, template_id: UUID) -> OpenedTemplate:
    return organization_templates.get_with_content(session, caller(), template_id)


def _stored(session: Session, template_id: UUID) -> TemplateForm:
    return TemplateForm.showing_template(_open_template(session, template_id))


def _template_url(template_id: UUID) -> str:
    return url_for("portal.organization_templates.show_template", template_id=template_id)


def _to_template(template_id: UUID, message: str) -> Response:
    return redirect_with(message, _template_url(template_id))


def _fields_at(opened_template: OpenedTemplate, position: int) -> AssistantFields:
    if position >= len(opened_template.content.assistants):
        raise NotFound
    return opened_template.content.assistants[position]


def _assistant_form(opened_template: OpenedTemplate, position: int) -> TemplateAssistantForm:
    fields = _fields_at(opened_template, position)
    return TemplateAssistantForm.showing_fields(fields, opened_template.template.version)


def _stored_assistant(session: Session, template_id: UUID, position: int) -> TemplateAssistantForm:
    return _assistant_form(_open_template(session, template_id), position)


def _campaign_form(opened_template: OpenedTemplate) -> TemplateCampaignForm:
    campaign = opened_template.content.campaign or PreparedCampaign(
        gettext("Outreach"), CampaignPlan(None)
    )
    form = TemplateCampaignForm.showing_campaign(campaign, opened_template.template.version)
    form.set_assistant_choices(opened_template.content)
    return form


def _stored_campaign(
    session: Session, template_id: UUID, typed: TemplateCampaignForm
) -> TemplateCampaignForm:
    opened_template = _open_template(session, template_id)
    typed.set_assistant_choices(opened_template.content)
    return _campaign_form(opened_template)


def _edit_page(template_id: UUID, form: TemplateForm) -> str:
    with transaction(read_only=True) as session:
        opened_template = _open_template(session, template_id)
        openable = openable_for(session, caller(), opened_template.template.partner_id)
    rules = opened_template.content.rules
    form.limit_choices(openable, rules)
    region_codes = set(form.allowed_regions.data or ())
    return render_template(
        "portal/organization_templates/edit.html",
        template=opened_template.template,
        form=form,
        role_hints=FIRST_ROLE_HINTS,
        suggested=offered_first(form.allowed_regions.choices, region_codes),
        closed={region for region in region_codes if openable.closed_by(region)},
        max_at_once=settings().calls_per_organization,
    )


def _assistant_page(
    template_id: UUID, form: TemplateAssistantForm, position: int | None = None
) -> str:
    opened_template = opened(template_id)
    return render_template(
        "portal/organization_templates/assistant.html",
        template=opened_template.template,
        position=position,
        form=form,
        max_length=MAX_TEXT,
    )


def _campaign_page(template_id: UUID, form: TemplateCampaignForm) -> str:
    opened_template = opened(template_id)
    form.set_assistant_choices(opened_template.content)
    return render_template(
        "portal/organization_templates/campaign.html",
        template=opened_template.template,
        content=opened_template.content,
        form=form,
        hints=MESSAGE_HINTS,
        max_text_length=MAX_TEXT_LENGTH,
        max_at_once=settings().calls_per_organization,
    )
