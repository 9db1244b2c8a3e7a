"""Whether the stored figures agree with the rows that they count."""

from flask import render_template

from app.extensions import caller, transaction
from app.portal.web.blueprint import portal
from app.services import figure_check


@portal.get("/operator/figures")
def operator_figures() -> str:
    with transaction(read_only=True) as session:
        rows = figure_check.latest(session, caller())
    wrong = sum(row.counted != row.total for row in rows)
    return render_template("portal/operator/figures.html", rows=rows, wrong=wrong)
