"""Templates of organizations: the list, one template, creating and deleting."""

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Campaign
from app.portal.organization_templates import blueprint
from app.portal.organization_templates.forms import (
    FIRST_ROLE_HINTS,
    MAX_NAME_LENGTH,
    NewTemplateForm,
    SavedTemplateForm,
)
from app.portal.organization_templates.labels import (
    campaign_facts,
    content_label,
    limit_facts,
    limits_used,
    message_lines,
    rule_facts,
)
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import refuse_operators
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.services import assistants, campaigns, organization_templates, organizations
from app.services.organization_templates import InstallationBounds, OpenedTemplate, TemplateContent
from app.validation.uuids import as_uuid

MAX_CAMPAIGNS = 50


FORMS = {
    "one": "portal.organization_templates.new_organization_from_template",
    "file": "portal.organization_templates.new_organizations_from_template",
}
"""What a template is chosen for, and the form that uses it."""


def bounds() -> InstallationBounds:
    return InstallationBounds(settings().calls_per_organization, settings().sip_allow_private)


def opened(template_id: UUID) -> OpenedTemplate:
    with transaction(read_only=True) as session:
        return organization_templates.get_with_content(session, caller(), template_id)


@blueprint.get("/organization-templates")
def list_templates() -> Page:
    """List the templates, or let the user choose one for a new organization or for those of a file;
    a single template needs no choice."""
    use = request.args.get("use", "")
    with transaction(read_only=True) as session:
        rows = organization_templates.listing(session, caller())
    if use in FORMS and len(rows) == 1:
        return redirect(url_for(FORMS[use], template_id=rows[0].template.id), 303)
    return render_template(
        "portal/organization_templates/list.html",
        rows=rows,
        use=use,
        content_label=content_label,
    )


@blueprint.get("/organization-templates/new")
def new_template() -> str:
    refuse_operators()
    return _new_page(NewTemplateForm())


@blueprint.post("/organization-templates/new")
def create_template() -> Page:
    form = NewTemplateForm()
    with saving(form, lambda: _new_page(form), validate=False) as session:
        submission = FormSubmission(session)
        template = organization_templates.create(session, caller(), form.name.data or "")
        url = submission.finish(
            url_for("portal.organization_templates.show_template", template_id=template.id)
        )
    message = gettext(
        "Template %(name)s added. Set its plan, limits and rules below.", name=template.name
    )
    return redirect_with(message, url)


@blueprint.get("/organizations/<uuid:organization_id>/save-as-template")
def new_template_from_organization(organization_id: UUID) -> str:
    refuse_operators()
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        own_assistants = assistants.of_organization(session, caller(), organization.id)
        service = next((each.service for each in own_assistants if each.service), "")
    return _save_page(organization_id, SavedTemplateForm(data={"name": service[:MAX_NAME_LENGTH]}))


@blueprint.post("/organizations/<uuid:organization_id>/save-as-template")
def create_template_from_organization(organization_id: UUID) -> Page:
    form = SavedTemplateForm()
    with saving(form, lambda: _save_page(organization_id, form)) as session:
        submission = FormSubmission(session)
        name, campaign_id = form.name.data or "", as_uuid(form.campaign.data or "")
        template = organization_templates.save_organization(
            session, caller(), organization_id, name, campaign_id=campaign_id, first_role=form.role
        )
        url = submission.finish(
            url_for("portal.organization_templates.show_template", template_id=template.id)
        )
    return redirect_with(gettext("Template %(name)s added.", name=template.name), url)


@blueprint.get("/organization-templates/<uuid:template_id>")
def show_template(template_id: UUID) -> str:
    opened_template = opened(template_id)
    return render_template(
        "portal/organization_templates/detail.html",
        template=opened_template.template,
        message_lines=message_lines,
        **_content_context(opened_template.content),
    )


def _content_context(content: TemplateContent) -> dict[str, Any]:
    """Return the content that a new organization gets from the template."""
    return {
        "content": content,
        "placeholder_count": organization_templates.texts_with_placeholder(content),
        "limits": limit_facts(content),
        "limits_used": limits_used(content),
        "rules": rule_facts(content.rules, settings().calls_per_organization),
        "plan": campaign_facts(content, content.campaign) if content.campaign else [],
    }


@blueprint.get("/organization-templates/<uuid:template_id>/delete")
def confirm_delete_template(template_id: UUID) -> str:
    opened_template = opened(template_id)
    return ConfirmationPage(
        title=gettext("Delete the template %(name)s?", name=opened_template.template.name),
        consequences=[gettext("Organizations that were created from it stay as they are.")],
        action_label=gettext("Delete template"),
        keep_label=gettext("Keep template"),
        keep_url=url_for("portal.organization_templates.show_template", template_id=template_id),
    ).page()


@blueprint.post("/organization-templates/<uuid:template_id>/delete")
def delete_template(template_id: UUID) -> Response:
    with transaction() as session:
        deleted = organization_templates.delete(session, caller(), template_id)
        name = deleted.name
    message = gettext("Template %(name)s deleted.", name=name)
    return redirect_with(message, url_for("portal.organization_templates.list_templates"))


def _new_page(form: NewTemplateForm) -> str:
    return render_template("portal/organization_templates/new.html", form=form)


def _save_page(organization_id: UUID, form: SavedTemplateForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        form.set_choices(_campaigns_of(session, organization_id))
        return render_template(
            "portal/organization_templates/save_as.html",
            organization=organization,
            form=form,
            hints=FIRST_ROLE_HINTS,
        )


def _campaigns_of(session: Session, organization_id: UUID) -> list[Campaign]:
    filters = campaigns.CampaignFilter(organization_id=organization_id)
    return list(campaigns.search(session, caller(), filters, limit=MAX_CAMPAIGNS).items)
