"""The calls of all partners, for operators."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.portal.calls.labels import outcome_beyond_status
from app.portal.operator import blueprint
from app.portal.operator.call_listing import (
    PARTNER_CALLS,
    chosen_filters,
    names_reference,
)
from app.portal.operator.labels import calls_message
from app.portal.web import organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.fragments import render_checked
from app.portal.web.list_pages import list_page, without_empty
from app.services import partners
from app.services.calls.operator_search import PartnerCall, PartnerCallFilter
from app.services.money_format import shared_digits


@blueprint.get("/operator/calls")
def list_calls() -> Page:
    filters, problems = chosen_filters()
    with transaction(read_only=True) as session:
        context = {**_list_context(session), **_filter_names(session, filters)}
    context["summary"] = calls_message(counted=filters.counted)
    return render_checked("portal/operator/calls.html", problems, call_filters=filters, **context)


def _list_context(session: Session) -> dict[str, Any]:
    """Return the page of calls and the words of its cells."""
    page = without_empty(list_page(session, PARTNER_CALLS), "cost")
    return {
        "list": page,
        "outcome_beyond_status": outcome_beyond_status,
        "names_reference": names_reference,
        "cost_digits": _cost_digits(page.rows),
    }


def _filter_names(session: Session, filters: PartnerCallFilter) -> dict[str, Any]:
    """Return the partner and the organization of the filters' ids."""
    partner_filter = filters.partner
    return {
        "partner": partners.get(session, caller(), partner_filter)
        if isinstance(partner_filter, UUID)
        else None,
        "filter_labels": organization_picker.named_in_filter(session),
    }


def _cost_digits(rows: Sequence[PartnerCall]) -> int:
    charged = [row.charged for row in rows if row.charged]
    return shared_digits((Decimal(micros).scaleb(-6), currency) for micros, currency in charged)
