"""The first page: what needs a decision, and the figures of the month."""

from flask import render_template

from app.portal.blueprint import portal


@portal.get("/")
def overview() -> str:
    return render_template("portal/overview/page.html")
