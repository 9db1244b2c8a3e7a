"""Versions of the brand: their authors and times, a comparison of two, and rolling back."""

from typing import Any

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from app.errors import CHANGED_MEANWHILE, Conflict
from app.extensions import caller, transaction
from app.portal.branding import blueprint
from app.portal.branding.labels import FIELD_LABELS, version_message
from app.portal.branding.studio import BrandingStudio
from app.portal.web.blueprint import Page
from app.portal.web.forms import seen_version
from app.portal.web.user_timezone import zone
from app.services import partners
from app.services.branding import drafts, versions
from app.services.branding.brand import of_content

MAX_VERSIONS = 100


@blueprint.get("/branding/history")
def list_versions() -> str:
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        context = _version_context(session, studio) | studio.head()
        return render_template("portal/branding/history.html", **context)


def _version_context(session: Session, studio: BrandingStudio) -> dict[str, Any]:
    """Return the published versions, each with its colour and the number of fields that differ from
    the current brand."""
    rows = versions.published(session, studio.partner, MAX_VERSIONS)
    current = drafts.published_content(session, caller(), studio.partner)
    colours = [of_content(studio.partner, row.version.content).colour for row in rows]
    differing = [len(versions.differences(row.version.content, current)) for row in rows]
    return {
        "versions": list(zip(rows, differing, colours, strict=True)),
        "labels": FIELD_LABELS,
        "outside": next(iter(differing), 0),
        "max_versions": MAX_VERSIONS,
    }


@blueprint.get("/branding/history/<int(max=2147483647):number>")
def show_version(number: int) -> str:
    """Show a version next to the previous one, or next to the current one."""
    against: versions.Against = "now" if request.args.get("with") == "now" else "before"
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        from_now = versions.compare(session, caller(), studio.partner, number, "now")
        compared = versions.compare(session, caller(), studio.partner, number, against)
        return render_template(
            "portal/branding/version.html",
            against=against,
            is_live=not from_now.changes,
            compared=compared,
            rows=studio.rows(compared.changes),
            sentence=version_message(compared.version, zone()),
            **studio.head(),
        )


@blueprint.get("/branding/history/<int(max=2147483647):number>/roll-back")
def confirm_roll_back(number: int) -> Page:
    return _confirmation_page(number)


@blueprint.post("/branding/history/<int(max=2147483647):number>/roll-back")
def roll_back(number: int) -> Page:
    """Publish the version again, as the next one."""
    version = seen_version()
    try:
        with transaction() as session:
            partner = partners.get_own(session, caller())
            published = drafts.roll_back(
                session, caller(), partner, number, expected_version=version
            )
    except Conflict as error:
        return _confirmation_page(
            number, error.message if error.code == CHANGED_MEANWHILE else ""
        ), 409
    if published is None:
        return redirect(url_for("portal.branding.confirm_roll_back", number=number), 303)
    return redirect(url_for("portal.branding.show_branding", rolled_back=number, published=1), 303)


def _confirmation_page(number: int, problem: str = "") -> str:
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        compared = versions.compare(session, caller(), studio.partner, number, "now")
        rows = studio.rows(compared.changes)
        return render_template(
            "portal/branding/roll_back.html",
            problem=problem,
            compared=compared,
            rows=rows,
            rows_back=[(name, new, old) for name, old, new in rows],
            **studio.head(),
        )
