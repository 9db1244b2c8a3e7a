"""A user who uploads contact files in a browser, and the worker's part."""

import io
import re
from html import unescape
from typing import TYPE_CHECKING
from uuid import UUID

from flask import Flask
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database
from app.enums import ImportStatus, Role
from app.extensions import files
from app.models import Campaign, ContactImport
from app.services import campaigns
from app.services.imports.pipeline import apply_rows, check_file, undo_rows
from tests.fixtures.tenants import Tenant

if TYPE_CHECKING:
    from tests.portal.conftest import Browser

NO_BREAK = "\u00a0"


def make_campaign(session: Session, tenant: Tenant) -> Campaign:
    made = campaigns.create(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, name="Winter recall"
    )
    session.commit()
    return made


class Uploader:
    """A user in a browser, and the worker, which does the queued work."""

    def __init__(self, app: Flask, database: Database, browser: "Browser", campaign: Campaign):
        self.app, self.database, self.browser = app, database, browser
        self.campaign_id = campaign.id
        self.page = f"/campaigns/{campaign.id}/upload"

    def send(
        self, data: bytes | str, name: str = "people.csv", action: str = "upsert"
    ) -> TestResponse:
        content = data.encode() if isinstance(data, str) else data
        form = {"file": (io.BytesIO(content), name), "action": action}
        return self.browser.post(self.page, form, page=self.page)

    def upload(self, data: bytes | str, name: str = "people.csv", action: str = "upsert") -> str:
        """Send the file and have it checked; return the upload's URL."""
        answer = self.send(data, name, action)
        assert answer.status_code == 303
        self.work(answer.location)
        return str(answer.location)

    def now(self, address: str) -> ContactImport:
        with self.database.transaction(read_only=True) as session:
            return session.get_one(ContactImport, UUID(address.rsplit("/", 1)[1]))

    def work(self, address: str) -> None:
        upload = self.now(address)
        if upload.undo_status == "undoing":
            undo_rows(self.database, upload.id, upload.undo_number)
        elif upload.status is ImportStatus.APPLYING:
            apply_rows(self.database, upload.id, upload.apply_number)
        else:
            with self.app.app_context():
                check_file(self.database, files(), upload.id, upload.check_number)

    def applied(self, data: bytes | str, name: str = "people.csv", action: str = "upsert") -> str:
        """Have a file checked and applied; return the upload's URL."""
        address = self.upload(data, name, action)
        self.press(address, "apply")
        self.work(address)
        return address

    def shows(self, address: str) -> str:
        answer = self.browser.get(address)
        assert answer.status_code == 200
        return words(answer)

    def press(self, address: str, act: str) -> TestResponse:
        return self.browser.post(f"{address}/{act}", page=address)


def words(answer: TestResponse) -> str:
    """Return the visible text, in one line."""
    text = re.sub(r"<script.*?</script>", " ", answer.text.replace("<wbr>", ""), flags=re.DOTALL)
    text = unescape(re.sub(r"<[^>]+>", " ", text))
    return re.sub(r"\s+", " ", text.replace(NO_BREAK, " "))


def heading(answer: TestResponse) -> str:
    found = re.search(r"<h1>(.*?)</h1>", answer.text)
    assert found
    return unescape(found.group(1))
