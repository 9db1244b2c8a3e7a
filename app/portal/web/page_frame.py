"""The frame of the current page, read by one query before the page's content."""

from uuid import UUID

from flask import g
from flask_login import current_user
from sqlalchemy.orm import Session

from app.extensions import caller
from app.services import page_frame, partners
from app.services.page_frame import PageFrame


def read_frame(
    session: Session,
    list_name: str | None = None,
    *,
    with_plans: bool = True,
    partner_id: UUID | None = None,
) -> PageFrame:
    """Read the frame in the transaction of the page, for `known_frame`; see `page_frame.load`. The
    partner, which came with the user, isn't read again. ``partner_id`` is the partner that an
    operator's page is about; see `page_frame.load_for_operator`."""
    if current_user.partner is not None:
        partners.remember(session, caller(), current_user.partner)
    if caller().is_operator and partner_id is not None:
        frame = page_frame.load_for_operator(session, caller(), partner_id)
    else:
        frame = page_frame.load(session, caller(), list_name, with_plans=with_plans)
    g.page_frame = frame
    return frame


def known_frame() -> PageFrame | None:
    """Return the frame if this page has read it; other pages count notifications themselves."""
    frame: PageFrame | None = g.get("page_frame")
    return frame
