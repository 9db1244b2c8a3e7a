"""Company accounts of the partner: listed, added, changed, removed."""

from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.models import IdentityProvider, Partner
from app.portal.auth.company_accounts import redirect_uri_of
from app.portal.identity_providers import blueprint
from app.portal.identity_providers.forms import EditProviderForm, ProviderForm
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import refuse_operators
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.messages import redirect_with
from app.services import partners
from app.services.identity_providers import providers
from app.services.identity_providers.providers import ProviderFields


@blueprint.get("/settings/company-accounts")
def list_providers() -> str:
    with transaction(read_only=True) as session:
        _get_partner(session)
        rows = providers.listing(session, caller())
        users = {provider.id: providers.linked_users(session, provider) for provider in rows}
    return render_template(
        "portal/identity_providers/list.html",
        providers=rows,
        users=users,
        max_providers=providers.MAX_PROVIDERS,
    )


@blueprint.get("/settings/company-accounts/new")
def new_provider() -> str:
    return _new_page(ProviderForm())


@blueprint.post("/settings/company-accounts/new")
def create_provider() -> Page:
    form = ProviderForm()
    fields = form.to_fields()
    if not form.passes(lambda: _check_provider(fields)):
        return _new_page(form), 422
    with saving(form, lambda: _new_page(form), validate=False) as session:
        submission = FormSubmission(session)
        provider = providers.add(session, caller(), settings().secret_keys, fields)
        url = submission.finish(_provider_url(provider.id))
    message = gettext("%(name)s was added.", name=provider.name)
    return redirect_with(message, url)


def _check_provider(fields: ProviderFields) -> None:
    """Check the fields, and the provider itself. Raises `ValidationFailed`."""
    with transaction(read_only=True) as session:
        _get_partner(session)
        problems = providers.problems_of(session, caller(), fields)
    private = settings().webhook_allow_private
    providers.check_discovery(fields.issuer, allow_private=private, besides=problems)


@blueprint.get("/settings/company-accounts/<uuid:provider_id>")
def edit_provider(provider_id: UUID) -> str:
    return stored_page(provider_id, _edit_page, _stored)


@blueprint.post("/settings/company-accounts/<uuid:provider_id>")
def save_provider(provider_id: UUID) -> Page:
    form = EditProviderForm()
    with saving_edit(
        form, "identity_provider", provider_id, _edit_page, _stored, validate=False
    ) as session:
        provider = _save(session, provider_id, form)
    message = gettext("%(name)s was saved.", name=provider.name)
    return redirect_with(message, url_for("portal.identity_providers.list_providers"))


def _save(session: Session, provider_id: UUID, form: EditProviderForm) -> IdentityProvider:
    form.issuer.data = issuer = providers.get(session, caller(), provider_id).issuer
    return providers.update(
        session,
        caller(),
        settings().secret_keys,
        provider_id,
        form.to_fields(issuer),
        expected_version=form.version.data,
    )


@blueprint.get("/settings/company-accounts/<uuid:provider_id>/remove")
def confirm_remove_provider(provider_id: UUID) -> str:
    with transaction(read_only=True) as session:
        provider = providers.get(session, caller(), provider_id)
        return _removal_confirmation(provider, providers.linked_users(session, provider)).page()


@blueprint.post("/settings/company-accounts/<uuid:provider_id>/remove")
def remove_provider(provider_id: UUID) -> Response:
    with transaction() as session:
        name = providers.remove(session, caller(), provider_id).name
    message = gettext("%(name)s was removed.", name=name)
    return redirect_with(message, url_for("portal.identity_providers.list_providers"))


def _removal_confirmation(provider: IdentityProvider, users: int) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.identity_providers.remove_provider", provider_id=provider.id),
        title=gettext("Remove %(name)s?", name=provider.name),
        consequences=[
            ngettext(
                "%(num)s user can no longer sign in with it.",
                "%(num)s users can no longer sign in with it.",
                users,
            ),
            gettext("Sessions that began with it end now."),
            gettext("Users without a password need a password reset link."),
        ],
        action_label=gettext("Remove company account"),
        keep_label=gettext("Keep company account"),
        keep_url=_provider_url(provider.id),
    )


def _get_partner(session: Session) -> Partner:
    refuse_operators()
    return partners.get_own(session, caller())


def _stored(session: Session, provider_id: UUID) -> EditProviderForm:
    return EditProviderForm.showing(providers.get(session, caller(), provider_id))


def _provider_url(provider_id: UUID) -> str:
    return url_for("portal.identity_providers.edit_provider", provider_id=provider_id)


def _new_page(form: ProviderForm) -> str:
    with transaction(read_only=True) as session:
        partner = _get_partner(session)
        domains = providers.provable_domains(partner)
        redirect_uris = _redirect_uris(partner, providers.next_id(session, partner))
    return render_template(
        "portal/identity_providers/new.html",
        form=form,
        domains=domains,
        redirect_uris=redirect_uris,
    )


def _redirect_uris(partner: Partner, provider_id: UUID) -> list[str]:
    """Return the redirect addresses at this host and at the partner's own."""
    hosts = [request.host]
    if partner.domain_verified_at is not None and partner.domain_key:
        hosts.append(partner.domain_key)
    return list(dict.fromkeys(redirect_uri_of(partner, provider_id, host) for host in hosts))


def _edit_page(provider_id: UUID, form: EditProviderForm) -> str:
    with transaction(read_only=True) as session:
        partner = _get_partner(session)
        provider = providers.get(session, caller(), provider_id)
        domains = providers.provable_domains(partner)
    public = settings().public_url.rstrip("/")
    return render_template(
        "portal/identity_providers/edit.html",
        form=form,
        provider=provider,
        domains=domains,
        redirect_uris=_redirect_uris(partner, provider.id),
        sign_out_uri=public + url_for("identity_providers.end_sessions", provider_id=provider.id),
    )
