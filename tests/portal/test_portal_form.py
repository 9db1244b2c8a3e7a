"""The base of the portal's forms: hidden fields besides the fields that a user fills in."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from flask import Flask
from wtforms import SelectField, StringField

from app.errors import Problem, ValidationFailed
from app.portal.web.fields import OnceField, VersionField, blank_is_none
from app.portal.web.forms import ButtonForm, PortalForm
from app.schemas.organizations import UpdateOrganizationInput


class RecordForm(PortalForm):
    wire_fields: ClassVar = {"paymentTier": "tier"}

    once = OnceField()
    version = VersionField()  # type: ignore[no-untyped-call]  # WTForms is untyped
    referral_code = StringField("Code", filters=[blank_is_none])
    tier = SelectField("Plan", choices=["customerFreePlan", "PLUS"])


read_form: Callable[[], Any] = RecordForm
"""The form as the request of the test fills it."""


class Record:
    version = 7
    referral_code = "STORED"
    tier = "PLUS"


def marks(form: PortalForm | ButtonForm) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)"', form.hidden_tag())
    return dict(found)


def test_a_form_that_creates_carries_a_new_token_each_time(app: Flask) -> None:
    with app.test_request_context():
        first, second = marks(read_form()), marks(read_form())
        assert first.keys() == second.keys() == {"csrf_token", "once"}
        assert first["once"] != second["once"]


def test_a_refused_form_keeps_its_token_and_version(app: Flask) -> None:
    sent = {"once": "a1", "referral_code": "X"}
    with app.test_request_context(method="POST", data=sent):
        assert marks(read_form())["once"] == "a1"
    with app.test_request_context(method="POST", data=sent | {"version": "4"}):
        form = marks(read_form())
        assert form == {"csrf_token": form["csrf_token"], "version": "4"}


@pytest.mark.parametrize("text", ["", "-1", "x", "1" * 10, "٣"])
def test_an_invalid_version_counts_as_none(app: Flask, text: str) -> None:
    with app.test_request_context(method="POST", data={"version": text}):
        assert read_form().version.data is None


def test_hidden_fields_are_in_no_input(app: Flask) -> None:
    with app.test_request_context(
        method="POST", data={"referral_code": " X ", "tier": "customerFreePlan"}
    ):
        form = read_form()
        assert form.data == {"referral_code": "X", "tier": "customerFreePlan"}
        assert [field.name for field in form] == ["referral_code", "tier"]
        assert form.to_input(UpdateOrganizationInput).sent() == {
            "referral_code": "X",
            "payment_tier": "customerFreePlan",
        }


def test_an_edit_form_opens_with_the_stored_values(app: Flask) -> None:
    with app.test_request_context(method="POST", data={"referral_code": "SENT", "version": "1"}):
        form = RecordForm.from_object(Record())
        assert form.data == {"referral_code": "STORED", "tier": "PLUS"}
        assert marks(form)["version"] == "7"


def test_a_form_sent_by_get_has_the_version_it_names_or_the_current_one(app: Flask) -> None:
    with app.test_request_context("/?tier=customerFreePlan&version=3"):
        named: Any = RecordForm.from_address(7)
        assert (named.validate(), named.version.data) == (True, 3)
    with app.test_request_context("/?tier=customerFreePlan"):
        assert RecordForm.from_address(7).version.data == 7


def test_each_problem_is_at_its_field_and_others_are_in_the_summary(app: Flask) -> None:
    problems = [
        Problem("paymentTier", "x", "No such plan."),
        Problem("referralCode.0", "x", "Too long."),
        Problem("elsewhere", "x", "Not here."),
    ]
    with app.test_request_context():
        form = read_form()
        form.apply_errors(ValidationFailed.of(*problems))
        assert form.errors == {"tier": ("No such plan.",), "referral_code": ("Too long.",)}
        assert form.problems == [("", "Not here.")]


def test_a_button_carries_the_version_of_what_its_page_shows(app: Flask) -> None:
    with app.test_request_context(method="POST", data={"version": "1"}):
        assert marks(ButtonForm()).keys() == {"csrf_token"}
        assert marks(ButtonForm(2))["version"] == "2"
        assert marks(ButtonForm(once=True)).keys() == {"csrf_token", "once"}
