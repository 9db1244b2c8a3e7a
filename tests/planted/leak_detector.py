"""Whether anything that a request caused contains a marker of the partner who didn't send it."""

import io
import logging
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.config import Settings
from app.gateways.mailers import OutgoingMail
from app.models import Mail
from app.services import mails
from tests.fixtures.databases import RolledBackDatabase
from tests.planted.crawl import Crawl, CrawlRequest, Visitor, is_public
from tests.planted.planting import PlantedPartner


class Lines(logging.Handler):
    """The lines of the log while a request is served."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@dataclass
class LeakDetector:
    """``found`` gets a line for each request that shows forbidden data, ``own`` what the requesting
    partner has seen of its own."""

    app: Flask
    database: RolledBackDatabase
    settings: Settings
    found: list[str] = field(default_factory=list)
    served: int = 0
    letters: int = 0
    own: set[str] = field(default_factory=set)

    def run(self, crawl: Crawl, count: int) -> None:
        """Send this many requests. The changes by each of them are undone before the next."""
        requests = crawl.requests()
        while self.served < count:
            visitor, asked = next(requests)
            if asked.method == "GET":
                answers = self.serve(crawl, visitor, asked)
                crawl.learn(asked, answers[-1])
            else:
                with self.database.undone():
                    self.serve(crawl, visitor, asked)
                    self._send_mails(crawl, visitor, asked)

    def serve(self, crawl: Crawl, visitor: Visitor, asked: CrawlRequest) -> list[TestResponse]:
        with _logged() as lines:
            answers = visitor.ask(asked)
        self.served += len(answers)
        for answer in answers:
            for place, text in texts_of(answer).items():
                self.own |= crawl.own.found_in(text)
                self._look(crawl.other, visitor, asked, f"{answer.status_code} {place}", text)
        self._look(crawl.other, visitor, asked, "log", "\n".join(lines))
        return answers

    def _look(
        self, other: PlantedPartner, visitor: Visitor, asked: CrawlRequest, place: str, text: str
    ) -> None:
        shown = other.found_in(text)
        if shown:
            shown -= other.found_in(asked.text)
        if shown and is_public(self.app, asked):
            shown -= other.published
        if shown:
            markers = " ".join(sorted(shown)[:3])
            self.found.append(f"{visitor.name}: {asked.method} {asked.path}: {place}: {markers}")

    def _send_mails(self, crawl: Crawl, visitor: Visitor, asked: CrawlRequest) -> None:
        """Render each mail that the request has queued, like the worker."""
        with self.database.transaction() as session:
            letters = _letters(session, self.settings)
        self.letters += len(letters)
        for letter in letters:
            is_theirs = letter.partner_id == crawl.other.partner_id
            text = f"{letter.sender_name} {letter.reply_to} {letter.subject} {letter.text}"
            hidden = crawl.own if is_theirs else crawl.other
            self._look(hidden, visitor, asked, "mail", f"{text} {letter.html}")


def _letters(session: Session, settings: Settings) -> Sequence[OutgoingMail]:
    query = select(Mail).where(Mail.sent_at.is_(None), Mail.failed_at.is_(None)).order_by(Mail.id)
    letters = []
    while waiting := session.scalars(query).all():
        for mail in waiting:
            letter = mails.begin(session, mail.id, mail.attempts + 1, settings)
            if letter is not None:
                mails.record_sent(session, mail.id)
                letters.append(letter)
    return letters


def texts_of(answer: TestResponse) -> dict[str, str]:
    """Return the texts of a response: its headers, its body, and the contents of a workbook."""
    body = answer.get_data()
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as packed:
            body = b"\n".join(packed.read(name) for name in packed.namelist())
    return {"headers": str(answer.headers), "body": body.decode(errors="replace")}


@contextmanager
def _logged() -> Iterator[list[str]]:
    handler, root = Lines(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield handler.lines
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
