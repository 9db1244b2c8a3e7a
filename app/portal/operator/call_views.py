"""The calls of all partners, for operators."""

from uuid import UUID

from flask import render_template

from app.extensions import caller, transaction
from app.portal.operator.call_listing import PARTNER_CALLS, chosen, outcome
from app.portal.web.blueprint import Page, portal
from app.portal.web.list_pages import list_page, without_empty
from app.services import partners


@portal.get("/operator/calls")
def operator_calls() -> Page:
    wanted, problems = chosen()
    with transaction(read_only=True) as session:
        page = without_empty(list_page(session, PARTNER_CALLS), "cost")
        partner = None
        if isinstance(wanted.partner, UUID):
            partner = partners.get(session, caller(), wanted.partner)
    answer = render_template(
        "portal/operator/calls.html",
        list=page,
        partner=partner,
        problems=problems,
        outcome=outcome,
    )
    return (answer, 422) if problems else answer
